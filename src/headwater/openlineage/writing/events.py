"""OpenLineage run events, 2-0-2, from the moments of a run; and back from their JSON."""

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import UTC
from enum import Enum
from functools import cache, cached_property, lru_cache
from operator import attrgetter
from types import MappingProxyType
from typing import Any
from uuid import UUID

import attr
import orjson
from openlineage.client.event_v2 import InputDataset, Job, JobEvent, OutputDataset, Run, RunEvent, RunState
from openlineage.client.generated.base import JobFacet
from openlineage.client.generated.column_lineage_dataset import ColumnLineageDatasetFacet
from openlineage.client.generated.schema_dataset import SchemaDatasetFacetFields

from headwater import model
from headwater.errors import EventError
from headwater.model import (
    ColumnLineage,
    Dataset,
    DatasetDescription,
    Gap,
    Output,
    ReplacedRows,
    RunMoment,
    Statement,
)
from headwater.model.names import dropped_name
from headwater.openlineage.identifiers import NESTED
from headwater.openlineage.writing.column_lineage import (
    column_lineage_facet,
    explicit_lineage_facet,
    nested_lineage_facet,
)
from headwater.openlineage.writing.extension_facets import facet_gaps, with_extension_facets
from headwater.openlineage.writing.facets import FacetSettings, dataset_facets, end_facets, job_facets, run_facets
from headwater.openlineage.writing.input_fields import FacetOfEdges, quoted
from headwater.openlineage.writing.run_facets import input_facets, output_facets

_DEFAULT = FacetSettings()


def run_event(moment: RunMoment, settings: FacetSettings = _DEFAULT) -> RunEvent:
    """The event of a moment; the same moment always gives the same event.

    Every dataset that an edge starts from is among the inputs or outputs. Raises EventError when a run's id is
    no UUID (OpenLineage 2-0-2, Run).
    """
    statement = _with_dropped_named(each_dataset_once(moment.statement or Statement()), moment.run)
    if moment.statement:
        moment = replace(moment, statement=statement)
    outputs = [(output, *_lineage(output, settings)) for output in statement.outputs]
    described = (*statement.inputs, *(output.description for output in statement.outputs))
    gaps = (*statement.gaps, *(gap for _, _, gaps in outputs for gap in gaps), *facet_gaps(described))
    return RunEvent(
        eventType=RunState(moment.state.value),
        eventTime=_time(moment),
        run=Run(_uuid(moment.run.id), facets=run_facets(moment, gaps, settings)),
        job=Job(moment.run.job.namespace, moment.run.job.name, facets=_job_facets(moment, outputs, settings)),
        inputs=[_input(seen, settings) for seen in statement.inputs],
        outputs=[_output(output, lineage, settings) for output, lineage, _ in outputs],
        producer=settings.producer,
    )


def _with_dropped_named(statement: Statement, run: model.Run) -> Statement:
    """The statement of a run with a name for each field that it drops."""
    if not any(change.present == "" for output in statement.outputs for change in output.description.fields):
        return statement
    return replace(statement, outputs=tuple(_dropped_named(output, run) for output in statement.outputs))


def _dropped_named(output: Output, run: model.Run) -> Output:
    changes = output.description.fields
    fields = tuple(replace(one, present=one.present or dropped_name(one.former, run.id)) for one in changes)
    return replace(output, description=replace(output.description, fields=fields))


def end_event(begun: RunEvent, moment: RunMoment, settings: FacetSettings = _DEFAULT) -> RunEvent:
    """The event of the end of a run, as `run_event` makes it, from that of its start: the datasets are the same ones.

    Only then the version is known that was written, and how much was read and written.
    """
    facets = (begun.run.facets or {}) | end_facets(moment, settings)
    statement = moment.statement or Statement()
    read = _described_once(statement.inputs)
    written = {one.description.dataset: one for one in each_dataset_once(statement).outputs}
    return attr.evolve(
        begun,
        eventType=RunState(moment.state.value),
        eventTime=_time(moment),
        run=Run(begun.run.runId, facets=facets),
        inputs=[_as_read(one, read.get(Dataset(one.namespace, one.name)), settings) for one in begun.inputs or ()],
        outputs=[
            _as_written(one, written.get(Dataset(one.namespace, one.name)), settings) for one in begun.outputs or ()
        ],
    )


def _as_read(begun: InputDataset, seen: DatasetDescription | None, settings: FacetSettings) -> InputDataset:
    if seen is None or seen.statistics is None:
        return begun
    return _Input(begun.namespace, begun.name, facets=begun.facets, inputFacets=_of_input(seen, settings))


def _as_written(begun: OutputDataset, output: Output | None, settings: FacetSettings) -> OutputDataset:
    seen = output.description if output else None
    if output is None or seen is None or not (seen.version or seen.statistics or output.earlier):
        return begun
    known = dataset_facets(DatasetDescription(seen.dataset, version=seen.version), settings)
    version = {name: facet for name, facet in known.items() if name == "version"}
    facets = begun.facets.with_facets(version) if isinstance(begun.facets, _Facets) else version
    if output.earlier:  # which says nothing of fields within columns
        facets.pop(NESTED, None)
    return _Output(begun.namespace, begun.name, facets=facets, outputFacets=_of_output(output, settings))


def job_event(runs: Sequence[RunEvent]) -> JobEvent:
    """The declaration of a job by runs of it, the last one last: what it reads and writes, without counts of rows.

    OpenLineage 2-0-2, JobEvent: lineage that holds before anything has run. The last run has the lineage of the others,
    but one that drops or empties a dataset: it counts as the last one left it that has lineage.
    """
    last = runs[-1]
    every = ((_name(one), one) for run in runs for one in run.outputs or ())
    written = {name: one for name, one in every if "columnLineage" in (one.facets or {})}
    inputs = {_name(one): one for run in runs for one in run.inputs or ()}
    return JobEvent(
        eventTime=last.eventTime,
        job=last.job,
        inputs=[InputDataset(one.namespace, one.name, facets=one.facets) for one in inputs.values()],
        outputs=[_declared(written.get(_name(one), one)) for one in last.outputs or ()],
        producer=last.producer,
    )


def _name(dataset: InputDataset | OutputDataset) -> tuple[str, str]:
    return dataset.namespace, dataset.name


def _declared(output: OutputDataset) -> OutputDataset:
    facets = {name: facet for name, facet in (output.outputFacets or {}).items() if name != "outputStatistics"}
    return OutputDataset(output.namespace, output.name, facets=output.facets, outputFacets=facets or None)


def to_json(event: RunEvent | JobEvent) -> str:
    """The event as one line of JSON: what the client's ``Serde.to_json`` gives, several times faster."""
    return _joined(event)


def _joined(value: object) -> str:
    return "{" + ",".join(f'"{name}":{_text(part)}' for name, part in sorted(_plain(value).items())) + "}"


class _Facets(dict[str, Any]):
    """Facets of a dataset, each of which is made a text once for all events that have it."""

    def __init__(self, facets: Mapping[str, Any], texts: Mapping[str, str] = MappingProxyType({})) -> None:
        super().__init__(facets)
        self._texts = dict(texts)

    @property
    def text(self) -> str:
        return "{" + ",".join(f"{json.dumps(name)}:{self._text_of(name)}" for name in sorted(self)) + "}"

    def with_facets(self, more: Mapping[str, Any]) -> "_Facets":
        return _Facets({**self, **more}, {name: text for name, text in self._texts.items() if name not in more})

    def _text_of(self, name: str) -> str:
        return self._texts.get(name) or self._texts.setdefault(name, _dumped(self[name]))


class _WrittenOnce:
    """A dataset whose text is made once for all events that name it."""

    @cached_property
    def text(self) -> str:
        return _joined(self)


@attr.define(slots=False)
class _Input(_WrittenOnce, InputDataset):
    pass


@attr.define(slots=False)
class _Output(_WrittenOnce, OutputDataset):
    pass


def _text(value: object) -> str:
    if isinstance(value, list):
        return f"[{','.join(map(_text, value))}]"
    return value.text if isinstance(value, _WrittenOnce | _Facets) else _dumped(value)


def _dumped(value: object) -> str:
    try:
        return orjson.dumps(value, default=_part, option=orjson.OPT_SORT_KEYS).decode()
    except TypeError:  # of a number above 64 bits, or half a character
        return json.dumps(value, default=_plain, sort_keys=True, separators=(",", ":"))


def read_event(text: str) -> RunEvent:
    """The event of a line of JSON, its facets left as plain values, so that it can be sent again.

    Raises EventError when the text is not JSON or not a run event.
    """
    try:
        return _run_event(json.loads(text))
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise EventError(
            f"Not an OpenLineage run event ({type(error).__name__}: {error}): {text[:80]!r}; "
            "expected one JSON object a line, with eventTime, run and job."
        ) from error


def _run_event(event: Mapping[str, Any]) -> RunEvent:
    state = event.get("eventType")
    return RunEvent(
        eventType=RunState(state) if state else None,
        eventTime=event["eventTime"],
        run=Run(event["run"]["runId"], facets=event["run"].get("facets")),
        job=Job(event["job"]["namespace"], event["job"]["name"], facets=event["job"].get("facets")),
        inputs=[InputDataset(**_known(one, "inputFacets")) for one in event.get("inputs") or ()],
        outputs=[OutputDataset(**_known(one, "outputFacets")) for one in event.get("outputs") or ()],
        producer=event.get("producer", ""),
    )


def _known(dataset: Mapping[str, Any], own_facets: str) -> dict[str, Any]:
    return {name: dataset.get(name) for name in ("namespace", "name", "facets", own_facets)}


def _time(moment: RunMoment) -> str:
    time = moment.time if moment.time.tzinfo else moment.time.replace(tzinfo=UTC)
    return time.astimezone(UTC).isoformat(timespec="microseconds").replace("+00:00", "Z")


def _uuid(run_id: str) -> str:
    try:
        return str(UUID(run_id))
    except ValueError as error:
        raise EventError(f"The run id {run_id!r} is no UUID, as OpenLineage expects; make one with uuid7().") from error


def each_dataset_once(statement: Statement) -> Statement:
    """The statement with each dataset once: inputs in the order of their names, with those that only an edge names."""
    by_dataset: dict[Dataset, Output] = {}
    for output in statement.outputs:
        dataset = output.description.dataset
        by_dataset[dataset] = _one_output(by_dataset[dataset], output) if dataset in by_dataset else output
    outputs = tuple(by_dataset.values())
    named = frozenset[Dataset]().union(*(output.lineage.inputs for output in outputs))
    bare = (DatasetDescription(dataset) for dataset in sorted(named - by_dataset.keys()))
    inputs = _described_once((*statement.inputs, *bare))
    return Statement(tuple(inputs[dataset] for dataset in sorted(inputs)), outputs, statement.gaps)


def _described_once(seen: Iterable[DatasetDescription]) -> dict[Dataset, DatasetDescription]:
    """Each dataset with all that the descriptions say of it."""
    found: dict[Dataset, DatasetDescription] = {}
    for one in seen:
        found[one.dataset] = _one_description(found[one.dataset], one) if one.dataset in found else one
    return found


def _one_output(first: Output, second: Output) -> Output:
    fields = dict(first.lineage.fields)
    for name, edges in second.lineage.fields.items():
        fields[name] = fields.get(name, frozenset()) | edges
    lineage = ColumnLineage(fields, first.lineage.dataset | second.lineage.dataset)
    described = _one_description(first.description, second.description)
    restores = second.restores if first.restores is None else first.restores
    return Output(described, lineage, earlier=first.earlier or second.earlier, restores=restores)


def _one_description(first: DatasetDescription, second: DatasetDescription) -> DatasetDescription:
    return DatasetDescription(
        first.dataset,
        first.schema or second.schema,
        tuple(dict.fromkeys(first.symlinks + second.symlinks)),
        first.lifecycle or second.lifecycle,
        first.source or second.source,
        _one_version(first.version, second.version),
        first.names or second.names,
        first.fields or second.fields,
        partition=first.partition or second.partition,
        facets=tuple(dict.fromkeys(first.facets + second.facets)),
        statistics=first.statistics or second.statistics,
        catalog=first.catalog or second.catalog,
        storage=first.storage or second.storage,
        replaces=ReplacedRows.ALL if ReplacedRows.ALL in (first.replaces, second.replaces) else first.replaces,
    )


def _one_version(first: str, second: str) -> str:
    """The version of a dataset that is read twice; none when that was at two versions, since the facet has one."""
    return (first or second) if first == second or not (first and second) else ""


@lru_cache(maxsize=32)
def _input(seen: DatasetDescription, settings: FacetSettings) -> InputDataset:
    """A job reads the same few tables again and again."""
    facets = _Facets(dataset_facets(seen, settings))
    return _Input(seen.dataset.namespace, seen.dataset.name, facets=facets, inputFacets=_of_input(seen, settings))


def _of_input(seen: DatasetDescription, settings: FacetSettings) -> dict[str, Any] | None:
    own = input_facets(seen, settings.disabled, settings.producer)
    return with_extension_facets(own, seen, "input", settings.disabled, settings.producer) or None


def _of_output(output: Output, settings: FacetSettings) -> dict[str, Any] | None:
    seen, earlier = output.description, None
    if output.earlier is not None:
        earlier, _ = column_lineage_facet(replace(output, lineage=output.earlier), settings)
    own = output_facets(seen, settings.disabled, settings.producer, earlier, output.restores)
    return with_extension_facets(own, seen, "output", settings.disabled, settings.producer) or None


_Lineage = tuple[ColumnLineageDatasetFacet | None, tuple[Gap, ...]]


def _lineage(output: Output, settings: FacetSettings) -> _Lineage:
    """The edges of an output, unless no facet is to have them, and what a limit made of them."""
    unwanted = "columnLineage" in settings.disabled and not settings.explicit_lineage_enabled
    return (None, ()) if unwanted else column_lineage_facet(output, settings)


def _output(output: Output, lineage: ColumnLineageDatasetFacet | None, settings: FacetSettings) -> OutputDataset:
    dataset, facets = output.description.dataset, dataset_facets(output.description, settings)
    if lineage and "columnLineage" not in settings.disabled:
        facets |= {"columnLineage": lineage}
        if output.nested and NESTED not in settings.disabled and not output.earlier:
            facets |= {NESTED: nested_lineage_facet(output.nested, settings)}
    of_output = _of_output(output, settings)
    return _Output(dataset.namespace, dataset.name, facets=_Facets(facets), outputFacets=of_output)


def _job_facets(
    moment: RunMoment, outputs: Sequence[tuple[Output, *_Lineage]], settings: FacetSettings
) -> dict[str, JobFacet]:
    facets = job_facets(moment, settings)
    if not settings.explicit_lineage_enabled or "lineage" in settings.disabled or moment.statement is None:
        return facets
    lineage = explicit_lineage_facet(moment.statement, [(output, facet) for output, facet, _ in outputs], settings)
    return facets | ({"lineage": lineage} if lineage else {})


def _part(value: Any) -> Any:
    """As `_plain`; of columns and edges, of which a wide table has thousands, a text."""
    if isinstance(value, SchemaDatasetFacetFields):
        return orjson.Fragment(_column(value))
    return value.members if isinstance(value, FacetOfEdges) else _plain(value)


def _column(value: SchemaDatasetFacetFields) -> str:
    if (value.fields, value.description, value.ordinal_position) != _NO_MORE or value.type is None:
        return _dumped(_plain(value))
    return f'{{"name":{quoted(value.name)},"type":{quoted(value.type)}}}'


_NO_MORE = (None, None, None)


def _plain(value: Any) -> Any:
    """An object of the client's as a dict without None, for the JSON encoder; of an enum its value."""
    if isinstance(value, Enum):
        return value.value
    names, read = _attributes(value.__class__)
    return {name: one for name, one in zip(names, read(value), strict=True) if one is not None}


@cache
def _attributes(kind: type[Any]) -> tuple[tuple[str, ...], Callable[[Any], Sequence[Any]]]:
    """The names of the attributes of a class, and what reads them all at once: thousands of objects make an event."""
    names = tuple(field.name for field in attr.fields(kind))
    return names, attrgetter(*names) if len(names) > 1 else lambda value: [getattr(value, name) for name in names]
