"""An event as a row of plain values; lineage and schemas that repeat are in the first row only.

Both are packed. The store's own code reads the events, and a row has of datasets what
`headwater.store.ingest.datasets` takes from an event.
"""

from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple
from weakref import WeakKeyDictionary

import orjson

from headwater.archive.events.packed_rows import Lists, packed_rows
from headwater.model import Dataset, DatasetDescription
from headwater.model.names import caseless, key_of
from headwater.openlineage.reading.events import SUCCESSFUL, Event, WrittenDataset
from headwater.openlineage.reading.facets import schema_digest, twins_of
from headwater.openlineage.reading.json_values import names_alone
from headwater.openlineage.reading.lineage_facets import EncodedLineage, Named

Row = dict[str, Any]
_LONGEST_TEXT = 20_000  # of a statement or a description; the whole of it stays in the payload
_MOST_DIGESTS = 20_000  # of one kind that a worker remembers


class PackedLineage(NamedTuple):
    """The digest of lineage, and the columns that it is packed into."""

    digest: str
    columns: Row


_OF_LINEAGE: WeakKeyDictionary[EncodedLineage, PackedLineage] = WeakKeyDictionary()


def packed_lineage(lineage: EncodedLineage) -> PackedLineage:
    """Lineage, packed; remembered as long as the store's reader remembers the lineage."""
    found = _OF_LINEAGE.get(lineage)
    if found is None:
        edges = lineage.named()
        names = [*lineage.fields, *(edge.input.name for edge in edges)]
        fields = [{"name": name, "own": caseless(name)} for name in lineage.fields]
        lists = {"fields": fields, "edges": list(map(_edge, edges))}
        found = _OF_LINEAGE[lineage] = PackedLineage(_digest(lineage), _packed(names, lists))
    return found


def _packed(names: Iterable[str], lists: Lists) -> Row:
    """The columns that lists are packed into, in which these are the names of fields."""
    packed, spelled = packed_rows(lists), any(name != caseless(name) for name in names)
    return {"spelled": spelled, "packed": packed, "whole": lists if packed is None else None}


class SeenDigests:
    """Digests of the lineage and schemas that a worker has put out in its partition.

    They must not outlive the partition: when a worker is lost, another one reads all of it again and starts from none.
    """

    def __init__(self) -> None:
        self.shapes: set[str] = set()
        self.schemas: set[str] = set()

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

    def new_of(self, kind: set[str], key: str, rows: list[Row]) -> list[Row]:
        """The rows whose digests, which are in the column ``key``, come for the first time."""
        return [one for one in rows if self.new(kind, one[key])]


def row_of(event: Event, digests: SeenDigests) -> Row:
    """The row of an event: the columns of `headwater.archive.events.schema.EVENT`."""
    about, parent = event.about, event.about.parent
    lineages = [(output.description.dataset, output.lineage) for output in event.outputs if output.lineage is not None]
    shapes = [(dataset, lineage, _shape(dataset, packed_lineage(lineage).digest)) for dataset, lineage in lineages]
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
        "datasets": [_dataset_row(*one) for one in described],
        "outputs": [{**named(dataset), "shape": shape} for dataset, _, shape in shapes],
        "shapes": [_shape_row(*one) for one in shapes if digests.new(digests.shapes, one[-1])],
        "schemas": [
            _schema_row(one)
            for one, *_ in described
            if one.schema and digests.new(digests.schemas, schema_digest(one).hex())
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


def _dataset_row(description: DatasetDescription, at: int, written: WrittenDataset | None) -> Row:
    replaced = written and written.replacement
    return {
        **named(description.dataset),
        "at": at,
        "written": written is not None,
        "replaces": replaced and replaced.value,
        "schema": schema_digest(description).hex() if description.schema else None,
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
    return {"shape": shape, **named(output), **packed_lineage(lineage).columns}


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


def _schema_row(description: DatasetDescription) -> Row:
    rows = [{"name": one.name, "type": one.type, "own": caseless(one.name)} for one in description.schema]
    names = (one.name for one in description.schema)
    return {"schema": schema_digest(description).hex(), **_packed(names, {"fields": rows})}
