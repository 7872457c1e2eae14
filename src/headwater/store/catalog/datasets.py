"""Datasets with their fields, tags, versions, facets and column lineage; and the schemas of all under each name."""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from sqlalchemy import Connection, select, update

from headwater.model import Dataset
from headwater.model.time import FOREVER
from headwater.openlineage.reading.json_values import records, text
from headwater.openlineage.reading.merged_facets import Facets
from headwater.store import schema
from headwater.store.catalog import events, field_lineage, moments, tags
from headwater.store.catalog.field_lineage import InputColumn
from headwater.store.questions import names
from headwater.store.questions.answers import KnownDataset
from headwater.store.read_model import fields
from headwater.store.read_model.pages import Listing, Page, among, paged
from headwater.store.read_model.versions import Fields, Version, latest
from headwater.store.sql.databases import rows_for

_DATASET = schema.dataset


@dataclass(frozen=True, slots=True)
class DatasetField:
    """A field of a dataset; ``type`` and ``description`` are empty where no event has them."""

    id: int
    name: str
    type: str
    tags: tuple[str, ...]
    description: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredDataset(KnownDataset):
    """A dataset of the store with its contents; ``facets`` and ``lineage`` only where they are read from events.

    Fields are in the order of the schema, then those that only lineage or tags know.
    """

    created_at: int
    updated_at: int
    source: str = ""
    lifecycle: str = ""
    description: str = ""
    fields: tuple[DatasetField, ...] = ()
    tags: tuple[str, ...] = ()
    version: Version | None = None
    facets: Facets = field(default_factory=dict)
    lineage: Mapping[str, tuple[InputColumn, ...]] = field(default_factory=dict)


def listing(connection: Connection, namespace: str, page: Page) -> Listing[StoredDataset]:
    """The datasets of a namespace by name, whole; not those that are hidden, or were dropped and replaced."""
    mine = select(_DATASET.c.id).where(_DATASET.c.namespace == namespace).order_by(_DATASET.c.name, _DATASET.c.id)
    found = paged(connection, names.listed(connection, mine), page)
    ids = [row.id for row in found.items]
    return Listing(among(ids, whole(connection, ids)), found.total)


def whole(connection: Connection, ids: Collection[int]) -> dict[int, StoredDataset]:
    """Datasets by id with all their parts."""
    of_events, lineage = events.of_datasets(connection, ids), field_lineage.of_datasets(connection, ids)
    return {
        one: replace(
            dataset,
            facets=of_events[one],
            lineage=lineage.get(one, {}),
            fields=_described(dataset.fields, of_events[one].get("schema")),
        )
        for one, dataset in outlines(connection, ids).items()
    }


def outlines(connection: Connection, ids: Collection[int]) -> dict[int, StoredDataset]:
    """Datasets by id without what has to be read from events."""
    rows = list(rows_for(connection, ids, lambda some: select(_DATASET).where(_DATASET.c.id.in_(some))))
    known = names.datasets(connection, [row.id for row in rows])
    put, current = tags.of_datasets(connection, known), latest(connection, {one: known[one].dataset for one in known})
    placed, spans = _fields(connection, known, put), moments.of_datasets(connection, rows)
    return {
        row.id: StoredDataset(
            known[row.id].dataset,
            known[row.id].aliases,
            row.id,
            created_at=spans[row.id][0],
            updated_at=spans[row.id][1],
            source=row.source or "",
            lifecycle=row.lifecycle or "",
            description=row.description or "",
            fields=placed.get(row.id, ()),
            tags=put[row.id].own,
            version=current.get(row.id),
        )
        for row in rows
    }


def at_version(dataset: StoredDataset, fields: Fields | None) -> StoredDataset:
    """A dataset with the fields of a version, where its schema is known: in its facet, too."""
    if fields is None:
        return dataset
    put = {one.name: one.tags for one in dataset.fields}
    ids = {one.name: one.id for one in dataset.fields}
    shown = [
        DatasetField(ids.get(one.name, 0), one.name, one.type, put.get(one.name, ()), one.description) for one in fields
    ]
    facet = {**dataset.facets.get("schema", {}), "fields": [one.document() for one in fields]}
    return replace(dataset, fields=tuple(shown), facets=dataset.facets | {"schema": facet})


def hide(connection: Connection, ids: Collection[int], at: int) -> None:
    """Hides datasets until an event names them that is later than a moment."""
    connection.execute(update(_DATASET).where(_DATASET.c.id.in_(ids)).values(hidden_at=at))


def _fields(
    connection: Connection, ids: Collection[int], put: Mapping[int, tags.Tags]
) -> dict[int, tuple[DatasetField, ...]]:
    of_dataset: dict[int, list[DatasetField]] = {}
    for row in fields.lasting(connection, ids):
        tagged = put[row.dataset_id].fields.get(row.id, ())
        of_dataset.setdefault(row.dataset_id, []).append(DatasetField(row.id, row.name, row.type, tagged))
    return {dataset: tuple(some) for dataset, some in of_dataset.items()}


def _described(fields: Iterable[DatasetField], facet: Any) -> tuple[DatasetField, ...]:
    descriptions = {text(one, "name"): text(one, "description") for one in records(facet, "fields")}
    return tuple(replace(one, description=descriptions.get(one.name, "")) for one in fields)


_NAME = schema.dataset_name


@dataclass(frozen=True, slots=True)
class NamedSchema:
    """The types of a dataset's columns by their names, and the dataset's names: its own, and those of symlinks."""

    names: tuple[Dataset, ...]
    columns: Mapping[str, str]


def schemas(connection: Connection) -> list[NamedSchema]:
    """The schemas of all datasets; columns without a type are left out, and so are datasets without columns."""
    names: dict[int, list[Dataset]] = {}
    for row in connection.execute(select(_NAME).where(_NAME.c.until == FOREVER).order_by(_NAME.c.id)):
        names.setdefault(row.dataset_id, []).append(Dataset(row.namespace, row.name))
    columns: dict[int, dict[str, str]] = {}
    for row in fields.lasting(connection, list(names)):
        if row.type:
            columns.setdefault(row.dataset_id, {})[row.name] = row.type
    return [NamedSchema(tuple(names[one]), found) for one, found in columns.items()]
