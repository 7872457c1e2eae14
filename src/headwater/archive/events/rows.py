"""An event as a row of plain values; lineage and schemas that repeat are in the first row only.

The store's own code reads the events, and a row has of datasets what `headwater.store.ingest.datasets` takes from an
event.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, Generic, TypeVar
from weakref import WeakKeyDictionary

import orjson

from headwater.model import Dataset, DatasetDescription, SchemaField
from headwater.model.names import caseless, key_of
from headwater.openlineage.reading.events import SUCCESSFUL, Event, WrittenDataset
from headwater.openlineage.reading.facets import twins_of
from headwater.openlineage.reading.json_values import names_alone
from headwater.openlineage.reading.lineage_facets import EncodedLineage, Named

Row = dict[str, Any]
_LONGEST_TEXT = 20_000  # of a statement or a description; the whole of it stays in the payload
_MOST_DIGESTS = 20_000  # of one kind that a worker remembers
_MOST_SCHEMAS = 500  # whose digests are remembered with all their fields

Content = TypeVar("Content")


class DigestMemory(Generic[Content]):
    """The digests of objects; equal facets are one object, as long as the store's reader remembers them.

    Args:
        digest: makes the digest of an object.
        most: the number of objects whose digests are remembered.
    """

    def __init__(self, digest: Callable[[Content], str], most: int) -> None:
        self._digest, self._most = digest, most
        self._digests: dict[int, tuple[Content, str]] = {}

    def __call__(self, content: Content) -> str:
        """The digest of an object."""
        found = self._digests.get(id(content))
        if found is None:
            if len(self._digests) >= self._most:
                self._digests.clear()
            # The object is held too: the id of one that is gone may become that of another one.
            found = self._digests[id(content)] = (content, self._digest(content))
        return found[1]


class SeenDigests:
    """Digests of the lineage and schemas that a worker has put out in its partition.

    They must not outlive the partition: when a worker is lost, another one reads all of it again and starts from none.
    """

    def __init__(self) -> None:
        self.shapes: set[str] = set()
        self.schemas: set[str] = set()
        self.of_schema = DigestMemory(_schema, _MOST_SCHEMAS)
        self._of_lineage: WeakKeyDictionary[EncodedLineage, str] = WeakKeyDictionary()

    def of_lineage(self, lineage: EncodedLineage) -> str:
        """The digest of lineage, which is remembered as long as the store's reader remembers the lineage."""
        if lineage not in self._of_lineage:
            self._of_lineage[lineage] = _digest(lineage)
        return self._of_lineage[lineage]

    def forget(self) -> None:
        """Begin anew, because the row that had lineage or a schema for the first time was not put out."""
        self.shapes.clear()
        self.schemas.clear()

    def new(self, kind: set[str], digest: str) -> bool:
        """Whether a digest comes for the first time; after very many of them some count as new again."""
        if digest in kind:
            return False
        if len(kind) >= _MOST_DIGESTS:
            kind.clear()
        kind.add(digest)
        return True


def row_of(event: Event, digests: SeenDigests) -> Row:
    """The row of an event: the columns of `headwater.archive.events.schema.EVENT`."""
    about, parent = event.about, event.about.parent
    lineages = [(output.description.dataset, output.lineage) for output in event.outputs if output.lineage is not None]
    shapes = [(dataset, lineage, _shape(dataset, digests.of_lineage(lineage))) for dataset, lineage in lineages]
    described = list(_described(event))
    return {
        "digest": event.digest.hex(),
        "at": event.at,
        "state": event.state,
        "run": event.run,
        "job_namespace": event.job.namespace,
        "job_name": event.job.name,
        "streaming": about.streaming,
        "engine": about.engine,
        "error": about.error[:_LONGEST_TEXT],
        "job_type": about.job_type,
        "sql": about.sql[:_LONGEST_TEXT],
        "description": about.description[:_LONGEST_TEXT],
        "location": about.location,
        "parent": parent and {"run": parent.run, "namespace": parent.job.namespace, "name": parent.job.name},
        "datasets": [_dataset_row(*one, digests) for one in described],
        "outputs": [{**named(dataset), "shape": shape} for dataset, _, shape in shapes],
        "shapes": [_shape_row(*one) for one in shapes if digests.new(digests.shapes, one[-1])],
        "schemas": [
            {"schema": digest, "fields": list(map(_schema_field, one.schema))}
            for one, *_ in described
            if one.schema and digests.new(digests.schemas, digest := digests.of_schema(one.schema))
        ],
        "gaps": [{"kind": gap.kind, "what": gap.what, "why": gap.why, "output": gap.output} for gap in about.gaps],
        "links": [] if event.renames else list(_links(event)),
        "twins": list(_twins(event)),
        "renames": names_alone(event.text) if event.renames and event.state in SUCCESSFUL else None,
        "payload": event.text.decode(),
    }


def _described(event: Event) -> Iterator[tuple[DatasetDescription, int, WrittenDataset | None]]:
    """The descriptions of datasets in an event, with their moments; those of outputs with these."""
    if event.renames and event.state not in SUCCESSFUL:
        return
    for description in () if event.renames else event.inputs:
        yield description, event.at, None
    for output in event.outputs:
        yield output.description, output.named_at(event.at), output


def _dataset_row(description: DatasetDescription, at: int, written: WrittenDataset | None, digests: SeenDigests) -> Row:
    replaced = written and written.replacement
    return {
        **named(description.dataset),
        "at": at,
        "written": written is not None,
        "replaces": replaced and replaced.value,
        "schema": digests.of_schema(description.schema) if description.schema else None,
        "source": description.source,
        "lifecycle": description.lifecycle,
        "version": description.version,
        "made_version": written.made_version if written is not None else "",
        "restores": written.restores if written is not None else None,
        "description": description.description[:_LONGEST_TEXT],
    }


def _links(event: Event) -> Iterator[Row]:
    for one in (*event.inputs, *(output.description for output in event.outputs)):
        links = sorted({(link.dataset, link.type) for link in one.symlinks if link.dataset != one.dataset})
        if links:
            yield {**named(one.dataset), "links": [{**named(other), "type": kind} for other, kind in links]}


def _twins(event: Event) -> Iterator[Row]:
    """The fields of datasets that differ in case only (`headwater.store.ingest.datasets.joined_twins`)."""
    if not event.twins or (event.renames and event.state not in SUCCESSFUL):
        return
    for read in () if event.renames else event.inputs:
        yield from _twins_of(read.dataset, event.at, twins_of(read), [one.name for one in read.schema])
    for output in event.outputs:
        written, lineage = output.description, output.lineage
        names = [*(one.name for one in written.schema), *(lineage.fields if lineage is not None else ())]
        yield from _twins_of(written.dataset, output.named_at(event.at), output.twins, names)


def _twins_of(dataset: Dataset, at: int, twins: frozenset[str], names: Iterable[str]) -> Iterator[Row]:
    if twins:
        spelled = sorted({name for name in names if caseless(name) in twins})
        yield {**named(dataset), "at": at, "names": spelled}


def named(dataset: Dataset) -> Row:
    """The namespace and name of a dataset, as JSON has them."""
    return {"namespace": dataset.namespace, "name": dataset.name}


def _shape(output: Dataset, lineage: str) -> str:
    return key_of(output.namespace, output.name, lineage).hex()


def _digest(lineage: EncodedLineage) -> str:
    """A digest that is equal for equal fields and edges, in any order."""
    datasets = [(one.namespace, one.name) for one in lineage.sources]
    inputs = [(datasets[place], name) for place, name in lineage.inputs]
    steps = [(one.subtype.value, one.masking, one.opaque, one.description) for one in lineage.transformations]
    of_fields = {(lineage.fields[field], inputs[source], steps[step]) for field, source, step in lineage.edges}
    of_all = {(inputs[source], steps[step]) for source, step in lineage.dataset}
    return key_of(orjson.dumps([sorted(lineage.fields), sorted(of_fields), sorted(of_all)]).decode()).hex()


def _shape_row(output: Dataset, lineage: EncodedLineage, shape: str) -> Row:
    return {
        "shape": shape,
        **named(output),
        "fields": [{"name": name, "own": caseless(name)} for name in lineage.fields],
        "edges": list(map(_edge, lineage.named())),
    }


def _edge(edge: Named) -> Row:
    name, source, transformation = edge
    return {
        "field": name,
        "own": None if name is None else caseless(name),
        "input_namespace": source.dataset.namespace,
        "input_name": source.dataset.name,
        "input_field": source.name,
        "input_own": caseless(source.name),
        "subtype": transformation.subtype.value,
        "masking": transformation.masking,
        "opaque": transformation.opaque,
        "description": transformation.description,
    }


def _schema_field(field: SchemaField) -> Row:
    return {"name": field.name, "type": field.type, "own": caseless(field.name)}


def _schema(fields: Sequence[SchemaField]) -> str:
    return key_of(*(part for one in fields for part in (one.name, one.type))).hex()
