"""The rows of tables that new events can change: of the runs, jobs, datasets and outputs that they touch.

Everything else stays as it is. A batch touches its runs and their outputs, the datasets at both ends of their lineage,
and all that uses a name whose meaning has changed.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from functools import reduce
from typing import NamedTuple

from pyspark.sql import DataFrame
from pyspark.sql import functions as sf

from headwater.archive.cache import CachedFrames
from headwater.archive.events.parsed_events import ParsedEvents
from headwater.archive.fold import descriptions
from headwater.archive.fold.replacements import replacements_of
from headwater.archive.fold.restorations import with_restored
from headwater.archive.fold.run_lineage import JOB, counted_lineage, outputs_in, runs_of
from headwater.archive.fold.summaries import Summaries, described_in, summaries_of
from headwater.archive.fold.table_rows import DescribedFrames, FoldedFrames, LineageFrames
from headwater.archive.names.resolver import Resolver, changed_meanings, meant_datasets
from headwater.archive.tables import EDGES
from headwater.openlineage.reading.events import SUCCESSFUL

_STATE = ("run", *JOB, "state", "state_at")
_SUCCEEDED = f"state IN {SUCCESSFUL}"
_NAME = ("namespace", "name")
_SPELLED = "name RLIKE '[A-Z]|[^ -~]'"  # perhaps not as names are compared: in lower case


@dataclass(frozen=True, slots=True)
class PreviousState:
    """The state that an update finds: parsed events, their summaries, the meanings of names, and the tables."""

    parsed: ParsedEvents
    summaries: Summaries
    names: DataFrame
    tables: Mapping[str, DataFrame]


@dataclass(frozen=True, slots=True)
class AffectedRows:
    """Frames, and keys by table, of rows that new events touch.

    Args:
        frames: what the rows are made of that may have changed.
        keys: the keys of these rows, by table.
        others: the fields of other datasets that may have capitals, by ``field_id`` and ``field``.
        added: summaries to add to those before.
    """

    frames: FoldedFrames
    keys: Mapping[str, DataFrame]
    others: DataFrame
    added: Summaries


class _Runs(NamedTuple):
    """The runs in new events: their ids, all their events, and their states; and the states of all runs."""

    ids: DataFrame
    events: DataFrame
    runs: DataFrame
    states: DataFrame


class _RenamedRows(NamedTuple):
    """Datasets, descriptions and counted lineage with a name that has another meaning than before."""

    datasets: DataFrame
    described: DataFrame
    lineage: DataFrame


class NewEvents:
    """New events and what they come to.

    Args:
        new: the new events.
        before: what was there.
        resolver: the meanings of all names after them.
        cache: caches frames that are read several times, and knows which are few.
    """

    def __init__(self, new: ParsedEvents, before: PreviousState, resolver: Resolver, cache: CachedFrames) -> None:
        self._new, self._before, self._whole = new.union(None), before, new.union(before.parsed)
        self._resolver, self._cache = resolver, cache

    def affected(self, *, names_differ: bool, believe_overwrite: bool) -> AffectedRows | None:
        """Find what the new events touch; None where lineage that counted does not any more: anything may hang on it.

        Args:
            names_differ: whether a name has another meaning than before.
            believe_overwrite: as `headwater.archive.fold.replacements.replacements_of` takes it.
        """
        runs = self._runs()
        succeeded = self._before.tables["runs"].where(_SUCCEEDED)
        others = self._found([runs.runs.where(f"NOT {_SUCCEEDED}")], "run")
        if not succeeded.join(others, "run", "left_semi").isEmpty():
            return None
        described, lineage = described_in(self._new.events), self._lineage(outputs_in(runs.events), runs.runs)
        outputs = [self._outputs(runs.events)]
        if names_differ:
            renamed = self._renamed(runs.states)
            described, lineage = described.unionByName(renamed.described), lineage.unionByName(renamed.lineage)
            outputs += [renamed.datasets, renamed.lineage]
        lineage = self._cache(lineage)
        new = replace(self._new, shapes=self._shapes(self._found([lineage], "shape")))
        added = summaries_of(described, lineage, new, self._resolver, self._cache)
        added = replace(added, field_names=self._unknown(added.field_names))
        described_datasets = self._resolver.datasets(added.descriptions, "at")
        of_fields = descriptions.lineage_fields(added.field_names, self._resolver)
        datasets = self._found([described_datasets, of_fields, *outputs])
        return self._folded(runs, added, datasets, outputs, believe_overwrite=believe_overwrite)

    def _folded(
        self, runs: _Runs, added: Summaries, datasets: DataFrame, outputs: list[DataFrame], *, believe_overwrite: bool
    ) -> AffectedRows:
        """The frames of the runs, of datasets and of outputs, and of those that depend on these in turn."""
        summaries = self._before.summaries.union(added)
        described = self._cache(_of(self._resolver.datasets(summaries.descriptions, "at"), datasets))
        of_lineage = _of(descriptions.lineage_fields(summaries.field_names, self._resolver), datasets)
        fields = descriptions.fields(described, self._whole.schemas, of_lineage, self._resolver)
        fields = self._counted(_of(fields, datasets))
        writes = self._cache(descriptions.writes(self._whole.events, self._resolver))
        restored = _of(writes.where("restores IS NOT NULL"), datasets)
        every_output = self._found([*outputs, restored, *self._respelled(fields)])
        writes = self._counted(_of(writes, self._found([datasets, every_output])))
        shapes = self._shapes_of(every_output)
        lineage = self._cache(_of(self._lineage(outputs_in(self._whole.events), runs.states, shapes), every_output))
        replaced = replacements_of(writes, runs.states, believe_overwrite=believe_overwrite)
        lineage, replaced = with_restored(lineage, replaced, writes, runs.states)
        jobs, (parents, children) = self._found([added.jobs], *_NAME), self._parents(runs)
        events = runs.events.unionByName(children, allowMissingColumns=True)
        frames = FoldedFrames(
            events,
            runs.runs,
            LineageFrames(lineage, self._shapes(shapes), replaced),
            DescribedFrames(described, fields, summaries.jobs.join(jobs, [*_NAME], "left_semi")),
        )
        keys = {"runs": runs.ids.union(parents), "coverage": runs.ids, "jobs": jobs, "datasets": datasets}
        outputs_changed = every_output.withColumnRenamed("dataset_id", "output_dataset_id")
        keys |= {"fields": datasets, "replacements": every_output, **dict.fromkeys(EDGES, outputs_changed)}
        others = self._before.tables["fields"].where(_SPELLED).join(datasets, "dataset_id", "left_anti")
        return AffectedRows(frames, keys, others.select("field_id", sf.col("name").alias("field")), added)

    def _unknown(self, names: DataFrame) -> DataFrame:
        """The names of fields that lineage did not have in this epoch before: most jobs only run again."""
        key = [*_NAME, "epoch", "field_name", "own", "written"]
        of_datasets = self._before.summaries.field_names.join(self._found([names], *_NAME), [*_NAME], "left_semi")
        return self._cache(names.join(self._resolver.with_epoch(of_datasets).select(*key), key, "left_anti"))

    def _found(self, frames: Iterable[DataFrame], *columns: str) -> DataFrame:
        """The distinct keys in frames, of datasets without columns. Counted: Spark sends few to all tasks of a join."""
        keys = columns or ("dataset_id",)
        return self._counted(reduce(DataFrame.union, (one.select(*keys) for one in frames)).distinct())

    def _counted(self, rows: DataFrame) -> DataFrame:
        cached = self._cache(rows)
        return self._cache.sent(cached, cached.count())

    def _runs(self) -> _Runs:
        ids, before = self._found([self._new.events], "run"), self._before.parsed.events
        first, last = before.join(ids, "run", "left_semi").agg(sf.min("at"), sf.max("at")).first() or (None, None)
        events = self._new.events
        if first is not None:
            earlier = before.where(sf.col("at").between(first, last)).join(ids, "run", "left_semi")
            events = self._cache(events.unionByName(earlier))
        runs = self._cache(runs_of(events))
        published = self._before.tables["runs"].withColumn("state_at", sf.unix_micros("state_at")).select(*_STATE)
        states = published.join(ids, "run", "left_anti").unionByName(runs.select(*_STATE))
        return _Runs(ids, events, runs, states)

    def _parents(self, runs: _Runs) -> tuple[DataFrame, DataFrame]:
        """The parents without events of new events' runs, and their children in events before."""
        named = self._found([self._new.events.where("parent IS NOT NULL").select("parent.run")], "run")
        with_events = self._before.tables["runs"].where("state IS NOT NULL").join(named, "run", "left_semi")
        parents = named.join(with_events.select("run").union(runs.ids), "run", "left_anti")
        parents = self._found([parents], "run")
        events = self._before.parsed.events.select("run", "at", "digest", "parent").where("parent IS NOT NULL")
        return parents, events.join(parents, events.parent.run == parents.run, "left_semi")

    def _renamed(self, states: DataFrame) -> _RenamedRows:
        changed = self._cache(changed_meanings(self._before.names, self._resolver.meanings))
        named = changed.select(sf.col("m_namespace").alias("namespace"), sf.col("m_name").alias("name"))
        names = self._found([named], *_NAME)
        inputs = sf.transform(
            "edges", lambda one: sf.struct(one["input_namespace"].alias("namespace"), one["input_name"].alias("name"))
        )
        mentioned = sf.concat(sf.array(sf.struct(*_NAME)), inputs)
        in_shapes = self._whole.shapes.select("shape", sf.explode(sf.array_distinct(mentioned)).alias("one"))
        shapes = self._found([in_shapes.select("shape", "one.*").join(names, [*_NAME], "left_semi")], "shape")
        return _RenamedRows(
            meant_datasets(changed),
            described_in(self._before.parsed.events).join(names, [*_NAME], "left_semi"),
            self._cache(self._lineage(outputs_in(self._whole.events), states, shapes)),
        )

    def _lineage(self, outputs: DataFrame, runs: DataFrame, shapes: DataFrame | None = None) -> DataFrame:
        """The lineage of outputs that counts; of some shapes only."""
        if shapes is None:
            shapes = self._found([outputs], "shape")
        else:
            outputs = self._counted(outputs.join(shapes, "shape", "left_semi"))
        return counted_lineage(outputs, runs, self._shapes(shapes), self._resolver)

    def _shapes_of(self, outputs: DataFrame) -> DataFrame:
        """The shapes that outputs ever have: there are less of these than of events."""
        named = self._resolver.every_dataset(self._whole.shapes.select("shape", *_NAME))
        return self._found([_of(named, outputs)], "shape")

    def _shapes(self, digests: DataFrame) -> DataFrame:
        return self._whole.shapes.join(digests, "shape", "left_semi")

    def _outputs(self, events: DataFrame) -> DataFrame:
        """The outputs in events that have lineage, or rows that were replaced or restored, or a version."""
        named = self._resolver.datasets(outputs_in(events).select(*_NAME, "at"), "at")
        return named.select("dataset_id").union(descriptions.writes(events, self._resolver).select("dataset_id"))

    def _respelled(self, fields: DataFrame) -> list[DataFrame]:
        """The outputs with an edge from or to a field whose spelling has changed."""
        old = self._before.tables["fields"].select("field_id", sf.col("name").alias("former"))
        changed = self._cache(fields.join(old, "field_id").where("field != former").select("field_id", "dataset_id"))
        if changed.isEmpty():
            return []
        reading = sf.col("output_dataset_id").alias("dataset_id"), sf.col("input_field_id").alias("field_id")
        edges = (self._before.tables[name].select(*reading) for name in EDGES)
        return [changed, *(one.join(changed.select("field_id"), "field_id", "left_semi") for one in edges)]


def _of(rows: DataFrame, datasets: DataFrame) -> DataFrame:
    # In the order that they were in: a join by a name puts that column first.
    return rows.join(datasets, "dataset_id", "left_semi").select(*rows.columns)
