"""Datasets and their versions (Marquez, DatasetResource)."""

from typing import Annotated

from fastapi import APIRouter, Depends
from sqlalchemy import Connection

from headwater.model import Dataset
from headwater.model.names import place_of
from headwater.model.time import now
from headwater.openlineage.writing.json_events import of_run
from headwater.server.auth.access import Caller, require_namespace
from headwater.server.marquez import documents, event_builders, schemas
from headwater.server.marquez.answers import Json, NamedRoute, missing
from headwater.server.marquez.bodies import DatasetBody
from headwater.server.marquez.namespaces import known_namespace
from headwater.server.marquez.query_params import ThePage, redaction_of, sight, uuid_of
from headwater.server.marquez.runs import known_run
from headwater.server.server import Admin, Reader, TheServer, TheStore, Writer
from headwater.store import Store
from headwater.store.catalog import datasets, name_ids, runs, sources, tags
from headwater.store.catalog.datasets import StoredDataset
from headwater.store.read_model import versions
from headwater.store.read_model.versions import Version, dataset_version

router = APIRouter(
    prefix="/api/v1/namespaces/{namespace}/datasets", tags=["datasets"], responses={404: {}}, route_class=NamedRoute
)


def _named(namespace: str, dataset: str) -> Dataset:
    return Dataset(namespace, dataset)


TheDataset = Annotated[Dataset, Depends(_named)]
"""The dataset in the path."""


@router.get("", response_model=schemas.DatasetList)
def listing(namespace: str, caller: Reader, store: TheStore, page: ThePage) -> Json:
    """List the datasets of a namespace by name, each with its column lineage."""
    with store.read() as connection:
        known_namespace(connection, caller, namespace)
        found = datasets.listing(connection, namespace, page)
        redaction = redaction_of(caller, connection)
        shown = [documents.dataset(one, redaction) for one in found.items]
    return Json({"datasets": shown, "totalCount": found.total})


@router.get("/{dataset}", response_model=schemas.Dataset)
def one(dataset: TheDataset, caller: Reader, store: TheStore) -> Json:
    """Return a dataset with its column lineage, by any of its names."""
    with store.read() as connection:
        return _answer(connection, caller, dataset)


@router.put("/{dataset}", response_model=schemas.Dataset)
def describe(dataset: TheDataset, body: DatasetBody, caller: Writer, server: TheServer, store: TheStore) -> Json:
    """Describe a dataset, as a dataset event; with ``runId`` as an event of the run that writes it."""
    require_namespace(caller, dataset.namespace)
    with store.read() as connection:
        known_namespace(connection, caller, dataset.namespace)
        source = _source(connection, caller, body.source_name)
        event = event_builders.dataset_event(dataset, body, source, now())
        run = None if body.run_id is None else known_run(connection, caller, str(body.run_id))
    if run is None:
        event_builders.ingest(server, caller, event)
    else:
        event_builders.ingest_of_run(server, caller, run, of_run(event, run.uuid, run.job))
    with store.write() as connection:
        _tag_all(connection, known_dataset(connection, caller, dataset), body)
        return _answer(connection, caller, dataset)


@router.delete("/{dataset}", response_model=schemas.Dataset)
def hide(dataset: TheDataset, caller: Admin, store: TheStore) -> Json:
    """Hide a dataset until an event describes it again."""
    with store.write() as connection:
        answer = _answer(connection, caller, dataset)
        datasets.hide(connection, [known_dataset(connection, caller, dataset).id], now())
    return answer


@router.get("/{dataset}/versions", response_model=schemas.DatasetVersionList)
def versions_of(dataset: TheDataset, caller: Reader, store: TheStore, page: ThePage) -> Json:
    """List the versions of a dataset, the newest first: one for each run that wrote it."""
    with store.read() as connection:
        redaction = redaction_of(caller, connection)
        stored = _whole(connection, caller, dataset)
        found = versions.of_dataset(connection, stored.id, stored.dataset, page)
        wrote = runs.whole(connection, [one.run_id for one in found.items if one.run])
        fields = versions.fields_of(connection, found.items)
        past = [(one, datasets.at_version(stored, fields.get(one))) for one in found.items]
        shown = [
            documents.dataset_version(stored_then, one, wrote.get(one.run_id), redaction) for one, stored_then in past
        ]
    return Json({"versions": shown, "totalCount": found.total})


@router.get("/{dataset}/versions/{version}", response_model=schemas.DatasetVersion)
def version_of(dataset: TheDataset, version: str, caller: Reader, store: TheStore) -> Json:
    """Return a version of a dataset."""
    with store.read() as connection:
        stored = _whole(connection, caller, dataset)
        found = _version(connection, stored, version)
        wrote = runs.whole(connection, [found.run_id] if found.run else [])
        then = datasets.at_version(stored, versions.fields_of(connection, [found]).get(found))
        redaction = redaction_of(caller, connection)
        return Json(documents.dataset_version(then, found, wrote.get(found.run_id), redaction))


@router.post("/{dataset}/tags/{tag}", response_model=schemas.Dataset)
def tag(dataset: TheDataset, tag: str, caller: Writer, store: TheStore) -> Json:
    """Add a tag to a dataset."""
    return _change_tag(store, caller, dataset, tag, put=True)


@router.delete("/{dataset}/tags/{tag}", response_model=schemas.Dataset)
def untag(dataset: TheDataset, tag: str, caller: Writer, store: TheStore) -> Json:
    """Remove a tag from a dataset."""
    return _change_tag(store, caller, dataset, tag, put=False)


@router.post("/{dataset}/fields/{field}/tags/{tag}", response_model=schemas.Dataset)
def tag_field(dataset: TheDataset, field: str, tag: str, caller: Writer, store: TheStore) -> Json:
    """Add a tag to a field."""
    return _change_tag(store, caller, dataset, (field, tag), put=True)


@router.delete("/{dataset}/fields/{field}/tags/{tag}", response_model=schemas.Dataset)
def untag_field(dataset: TheDataset, field: str, tag: str, caller: Writer, store: TheStore) -> Json:
    """Remove a tag from a field."""
    return _change_tag(store, caller, dataset, (field, tag), put=False)


def known_dataset(connection: Connection, caller: Caller, dataset: Dataset) -> StoredDataset:
    """Return the dataset with a name, without facets and lineage.

    Raises:
        HTTPException: 404, when none has it, or the caller may not see it.
    """
    found = name_ids.dataset_id(connection, dataset) if caller.sees(dataset.namespace) else None
    stored = None if found is None else datasets.outlines(connection, [found]).get(found)
    if stored is None or redaction_of(caller, connection).hides(stored.dataset):
        known_namespace(connection, caller, dataset.namespace)
        missing("Dataset", dataset.name)
    return stored


def _whole(connection: Connection, caller: Caller, dataset: Dataset) -> StoredDataset:
    found = known_dataset(connection, caller, dataset).id
    return datasets.whole(connection, [found])[found]


def _answer(connection: Connection, caller: Caller, dataset: Dataset) -> Json:
    return Json(documents.dataset(_whole(connection, caller, dataset), redaction_of(caller, connection)))


def _change_tag(store: Store, caller: Caller, dataset: Dataset, place: str | tuple[str, str], *, put: bool) -> Json:
    field, tag = ("", place) if isinstance(place, str) else place
    with store.write() as connection:
        stored = known_dataset(connection, caller, dataset)
        field_id = _field(stored, field) if field else 0
        if put:
            tags.add(connection, (stored.id, 0), [tag], now(), field_id)
        else:
            tags.remove(connection, (stored.id, 0), tag, field_id)
        return _answer(connection, caller, dataset)


def _source(connection: Connection, caller: Caller, name: str) -> str:
    """Return the address of a source. A caller with limits may name a hidden source, and gets nothing of it."""
    found = sources.find(connection, name, sight(caller))
    if found is None and caller.sees_all:
        missing("Source", name)
    return "" if found is None else found.url


def _field(stored: StoredDataset, name: str) -> int:
    place = place_of([one.name for one in stored.fields], name)
    return missing("Field", name) if place is None else stored.fields[place].id


def _tag_all(connection: Connection, stored: StoredDataset, body: DatasetBody) -> None:
    tags.add(connection, (stored.id, 0), body.tags or (), now())
    for one in body.fields or ():
        tags.add(connection, (stored.id, 0), one.tags, now(), _field(stored, one.name))


def _version(connection: Connection, stored: StoredDataset, text: str) -> Version:
    """Return the version with a UUID; also the one that runs read and no known run wrote."""
    uuid = uuid_of(text) or missing("Dataset version", text)
    if uuid == dataset_version(stored.dataset, ""):
        return Version(stored.id, uuid, stored.created_at, 0)
    return versions.find(connection, stored.id, stored.dataset, uuid) or missing("Dataset version", text)
