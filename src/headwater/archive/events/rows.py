"""An event as a row of plain values, of which Spark makes the tables; what repeats is told once.

The rules are those of the store, for the events are read by its code; what a row says of datasets is what
`headwater.store.ingest.descriptions` and `headwater.store.ingest.name_changes` take from an event.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

from headwater.model import Dataset, DatasetDescription, SchemaField
from headwater.model.field_names import caseless
from headwater.model.name_keys import key_of
from headwater.openlineage.reading.dataset_facets import twins_of
from headwater.openlineage.reading.encoded_lineage import EncodedLineage, Named
from headwater.openlineage.reading.events import SUCCESSFUL, Event, WrittenDataset
from headwater.openlineage.reading.json_text import canonical, read_json
from headwater.openlineage.reading.json_values import Record, record, records
from headwater.store.ingest.name_changes import moment_of

Row = dict[str, Any]
_LONGEST_TEXT = 20_000  # of a statement or a description; the whole of it stays in the payload
_MOST = 20_000  # digests that are remembered
_MOST_LINEAGES = 500  # that are known again without a look at their edges: they take memory
_TELLS_NAMES = ("headwater_names", "lifecycleStateChange", "symlinks")


@dataclass(slots=True)
class Met:
    """What a worker has told of already in its part of the archive.

    It must not outlive the part: a part that is read again, because its worker was lost, tells everything again.
    """

    shapes: set[str] = field(default_factory=set)
    schemas: set[str] = field(default_factory=set)
    _lineages: dict[int, tuple[EncodedLineage, str]] = field(default_factory=dict)

    def digest(self, lineage: EncodedLineage) -> str:
        """The digest of lineage; equal facets are one object, as long as the store's reader remembers them."""
        known = self._lineages.get(id(lineage))
        if known is None:
            if len(self._lineages) >= _MOST_LINEAGES:
                self._lineages.clear()
            known = self._lineages[id(lineage)] = (lineage, _digest(lineage))
        return known[1]

    def forget(self) -> None:
        """Begins anew: what was taken for told may not have been, because a row came to nothing."""
        self.shapes.clear()
        self.schemas.clear()

    def new(self, kind: set[str], digest: str) -> bool:
        """Whether a digest is met for the first time; after very many it is said of some again."""
        if digest in kind:
            return False
        if len(kind) >= _MOST:
            kind.clear()
        kind.add(digest)
        return True


def row_of(event: Event, met: Met) -> Row:
    """The row of an event: the columns of `headwater.archive.events.schema.EVENT`."""
    about, parent = event.about, event.about.parent
    told = [(output.description.dataset, output.lineage) for output in event.outputs if output.lineage is not None]
    shapes = [(named, lineage, _shape(named, met.digest(lineage))) for named, lineage in told]
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
        "datasets": [_seen(*one) for one in described],
        "told": [{"namespace": named.namespace, "name": named.name, "shape": shape} for named, _, shape in shapes],
        "shapes": [_shape_row(named, lineage, shape) for named, lineage, shape in shapes if met.new(met.shapes, shape)],
        "schemas": [
            {"schema": digest, "fields": list(map(_schema_field, seen.schema))}
            for seen, *_ in described
            if seen.schema and met.new(met.schemas, digest := _schema(seen.schema))
        ],
        "gaps": [{"kind": gap.kind, "what": gap.what, "why": gap.why, "output": gap.output} for gap in about.gaps],
        "links": [] if event.renames else list(_links(event)),
        "twins": list(_twins(event)),
        "renames": names_alone(event.text) if event.renames and event.state in SUCCESSFUL else None,
        "payload": event.text.decode(),
    }


def _described(event: Event) -> Iterator[tuple[DatasetDescription, int, WrittenDataset | None]]:
    """What an event says of datasets, at which moment, and as what it wrote them (`store.describing.describe`)."""
    if event.renames and event.state not in SUCCESSFUL:
        return
    for seen in () if event.renames else event.inputs:
        yield seen, event.at, None
    for output in event.outputs:
        yield output.description, moment_of(output, event.at), output


def _seen(seen: DatasetDescription, at: int, written: WrittenDataset | None) -> Row:
    replaced = written and written.replacement
    return {
        "namespace": seen.dataset.namespace,
        "name": seen.dataset.name,
        "at": at,
        "written": written is not None,
        "replaces": replaced and replaced.value,
        "schema": _schema(seen.schema) if seen.schema else None,
        "source": seen.source,
        "lifecycle": seen.lifecycle,
        "version": seen.version,
        "made_version": written.made_version if written is not None else "",
        "restores": written.restores if written is not None else None,
        "description": seen.description[:_LONGEST_TEXT],
    }


def _links(event: Event) -> Iterator[Row]:
    for seen in (*event.inputs, *(output.description for output in event.outputs)):
        links = sorted({(link.dataset, link.type) for link in seen.symlinks if link.dataset != seen.dataset})
        if links:
            named = seen.dataset
            others = [{"namespace": one.namespace, "name": one.name, "type": kind} for one, kind in links]
            yield {"namespace": named.namespace, "name": named.name, "links": others}


def _twins(event: Event) -> Iterator[Row]:
    """The fields of datasets that differ in case only (`headwater.store.ingest.name_changes.joined_twins`)."""
    if not event.twins or (event.renames and event.state not in SUCCESSFUL):
        return
    for seen in () if event.renames else event.inputs:
        yield from _twins_of(seen.dataset, event.at, twins_of(seen), [one.name for one in seen.schema])
    for output in event.outputs:
        seen, lineage = output.description, output.lineage
        names = [*(one.name for one in seen.schema), *(lineage.fields if lineage is not None else ())]
        yield from _twins_of(seen.dataset, moment_of(output, event.at), output.twins, names)


def _twins_of(named: Dataset, at: int, twins: frozenset[str], names: Iterable[str]) -> Iterator[Row]:
    if twins:
        spelled = sorted({name for name in names if caseless(name) in twins})
        yield {"namespace": named.namespace, "name": named.name, "at": at, "names": spelled}


def names_alone(text: bytes) -> str:
    """The JSON of an event without all that says nothing of names.

    >>> names_alone(b'{"eventTime": "t", "producer": "p", "dataset": {"namespace": "n", "name": "d", "facets": {}}}')
    '{"dataset":{"facets":{},"name":"d","namespace":"n"},"eventTime":"t"}'
    """
    value = read_json(text)
    kept = {key: value[key] for key in ("eventTime", "eventType") if key in value}
    if "run" in value:
        kept["run"] = {"runId": value["run"]["runId"]}
    if "job" in value:
        kept["job"] = {key: value["job"][key] for key in ("namespace", "name")}
    if "outputs" in value:
        kept["outputs"] = [_name_facets(one) for one in records(value, "outputs")]
    if "dataset" in value:
        kept["dataset"] = _name_facets(record(value, "dataset"))
    return canonical(kept).decode()


def _name_facets(named: Record) -> Record:
    facets = {key: one for key, one in record(named, "facets").items() if key in _TELLS_NAMES}
    return {"namespace": named["namespace"], "name": named["name"], "facets": facets}


def _shape(output: Dataset, lineage: str) -> str:
    return key_of(output.namespace, output.name, lineage).hex()


def _digest(lineage: EncodedLineage) -> str:
    edges = sorted(map(_key, lineage.named()))
    fields = sorted(lineage.fields)
    return key_of(str(len(fields)), *fields, *(part for edge in edges for part in edge)).hex()


def _key(edge: Named) -> tuple[str, ...]:
    name, source, way = edge
    of_input = (source.dataset.namespace, source.dataset.name, source.name)
    shown = (way.subtype.value, str(way.masking), str(way.opaque), way.description)
    return ("" if name is None else f"={name}", *of_input, *shown)


def _shape_row(output: Dataset, lineage: EncodedLineage, shape: str) -> Row:
    return {
        "shape": shape,
        "namespace": output.namespace,
        "name": output.name,
        "fields": [{"name": name, "own": caseless(name)} for name in lineage.fields],
        "edges": list(map(_edge, lineage.named())),
    }


def _edge(edge: Named) -> Row:
    name, source, way = edge
    return {
        "field": name,
        "own": None if name is None else caseless(name),
        "input_namespace": source.dataset.namespace,
        "input_name": source.dataset.name,
        "input_field": source.name,
        "input_own": caseless(source.name),
        "subtype": way.subtype.value,
        "masking": way.masking,
        "opaque": way.opaque,
        "description": way.description,
    }


def _schema_field(one: SchemaField) -> Row:
    return {"name": one.name, "type": one.type, "own": caseless(one.name)}


def _schema(fields: Iterable[SchemaField]) -> str:
    return key_of(*(part for one in fields for part in (one.name, one.type))).hex()
