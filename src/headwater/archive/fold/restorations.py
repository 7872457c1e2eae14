"""The lineage of runs that restored a version of a dataset, by the store's rules (`store.ingest.restorations`).

Datasets with restorations are few: the driver goes through their runs in order.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from pyspark.sql import DataFrame, Row
from pyspark.sql import functions as sf

from headwater.archive.events.schema import TEXT, columns
from headwater.archive.fold.run_lineage import JOB, OUTPUT, PAIR, lineage_by_run
from headwater.archive.local_rows import local_rows
from headwater.model.time import FOREVER
from headwater.openlineage.reading.events import SUCCESSFUL

Shapes = frozenset[tuple[str, int]]
"""Digests of lineage, each with the epoch of its names."""

_NOTHING: list[Any] = [(None, 0)]
"""The shapes of a run that brought back no lineage: it is a run of its job all the same, and the last one counts."""

_RESTORED = columns(restored=TEXT, restored_dataset=TEXT)


class Lineage(NamedTuple):
    """The lineage of a run for a dataset: since when it is current, and when the run can have written last."""

    job: tuple[str, str]
    run: str
    since: int
    last: int
    shapes: Shapes


class Restoration(NamedTuple):
    """A run that restored a version of a dataset, and when it ended; the version is empty where its event has none."""

    run: str
    moment: int
    version: str
    job: tuple[str, str]


@dataclass(slots=True)
class History:
    """The runs of one dataset, by run id: their lineage, and their ends if they replaced all rows.

    ``replaced`` has False for a run that may have replaced all rows. ``made`` are runs, the versions that they made,
    and their ends.
    """

    lineage: dict[str, Lineage] = field(default_factory=dict)
    replaced: dict[str, tuple[int, bool]] = field(default_factory=dict)
    made: set[tuple[str, str, int]] = field(default_factory=set)
    restorations: list[Restoration] = field(default_factory=list)

    def restore(self) -> None:
        """Give each run that restored a version the lineage of that version, in the order of their ends."""
        for one in sorted(self.restorations, key=lambda one: (one.moment, one.run)):
            moment = self._moment(one)
            own = self.lineage[one.run].shapes if one.run in self.lineage else Shapes()
            restored = Shapes().union(*(found.shapes for found in self._current(one.moment, moment)))
            shapes = restored if moment is not None else own | restored
            self.lineage[one.run] = Lineage(one.job, one.run, one.moment, one.moment, shapes)
            _, certain = self.replaced.get(one.run, (0, False))
            self.replaced[one.run] = (one.moment, certain or moment is not None)

    def _moment(self, by: Restoration) -> int | None:
        """The end of the last run before a restoration that made its version."""
        ends = (
            ended
            for run, version, ended in self.made
            if version == by.version and ended < by.moment and (run in self.lineage or run in self.replaced)
        )
        return max(ends, default=None) if by.version else None

    def _current(self, before: int, moment: int | None) -> Iterator[Lineage]:
        """The lineage that was current at a moment; without one that which was ever current before another."""
        by_job: dict[tuple[str, str], list[Lineage]] = defaultdict(list)
        for one in sorted(self.lineage.values(), key=lambda one: (one.since, one.run)):
            by_job[one.job].append(one)
        for runs in by_job.values():
            for one, following in zip(runs, [*(later.since for later in runs[1:]), FOREVER], strict=True):
                end = min(following, self._end(one))
                if one.since < min(end, before) if moment is None else one.since <= moment < end:
                    yield one

    def _end(self, lineage: Lineage) -> int:
        """The end of the first other run that replaced all rows after a run; FOREVER where none has."""
        ends = (
            moment
            for by, (moment, certain) in self.replaced.items()
            if certain and by != lineage.run and (moment, by) > (lineage.last, lineage.run)
        )
        return min(ends, default=FOREVER)


def with_restored(
    lineage: DataFrame, replacements: DataFrame, described: DataFrame, runs: DataFrame
) -> tuple[DataFrame, DataFrame]:
    """The lineage that counts and the replacements of rows, with those of runs that restored versions.

    Args:
        lineage: rows of `headwater.archive.fold.run_lineage.counted_lineage`.
        replacements: rows of `headwater.archive.fold.replacements.replacements_of`.
        described: rows of `headwater.archive.fold.descriptions.dataset_descriptions`.
        runs: rows of `headwater.archive.fold.run_lineage.runs_of`.
    """
    restoring = described.where("restores IS NOT NULL")
    if restoring.isEmpty():
        return lineage, replacements
    ended = runs.where(sf.col("state").isin(*SUCCESSFUL)).select("run", *JOB, "state_at")
    last = sf.max(sf.struct("at", "restores"))["restores"].alias("version")
    restored = restoring.groupBy("run", *OUTPUT).agg(last).join(ended, "run").collect()
    if not restored:
        return lineage, replacements
    histories = _histories(restored, lineage, replacements, described.join(ended, "run"))
    for one in histories.values():
        one.restore()
    return _with_restored_lineage(lineage, restored, histories), _replacements(replacements, restored, histories)


def _histories(
    restored: Iterable[Row], lineage: DataFrame, replacements: DataFrame, described: DataFrame
) -> dict[str, History]:
    found = {row.dataset_id: History() for row in restored}
    mine = sf.col("dataset_id").isin(*found)
    for row in restored:
        one = Restoration(row.run, row.state_at, row.version, (row.job_namespace, row.job_name))
        found[row.dataset_id].restorations.append(one)
    for row in lineage_by_run(lineage.where(mine)).collect():
        job, shapes = (row.job_namespace, row.job_name), frozenset((one.shape, one.epoch) for one in row.shapes)
        found[row.dataset_id].lineage[row.run] = Lineage(job, row.run, row.since, row.last, shapes)
    for row in replacements.where(mine).collect():
        found[row.dataset_id].replaced[row.by] = (row.moment, row.certain)
    versions = described.where(mine & (sf.col("made_version") != ""))
    for row in versions.select("run", "dataset_id", "made_version", "state_at").distinct().collect():
        found[row.dataset_id].made.add((row.run, row.made_version, row.state_at))
    return found


def _with_restored_lineage(lineage: DataFrame, restored: list[Row], histories: dict[str, History]) -> DataFrame:
    rows = [
        (row.run, "", 0, *(row[name] for name in PAIR), *shape, *[row.state_at] * 2)
        for row in restored
        for shape in [*sorted(histories[row.dataset_id].lineage[row.run].shapes)] or _NOTHING
    ]
    own = local_rows(lineage.sparkSession, [(row.run, row.dataset_id) for row in restored], _RESTORED)
    mine = (lineage.run == own.restored) & (lineage.dataset_id == own.restored_dataset)
    others = lineage.join(sf.broadcast(own), mine, "left_anti")
    return others.unionByName(local_rows(lineage.sparkSession, rows, lineage.schema))


def _replacements(replacements: DataFrame, restored: list[Row], histories: dict[str, History]) -> DataFrame:
    found = [(row.run, row.dataset_id) for row in restored if histories[row.dataset_id].replaced[row.run][1]]
    own = local_rows(replacements.sparkSession, found, _RESTORED)
    mine = (replacements.by == own.restored) & (replacements.dataset_id == own.restored_dataset)
    joined = replacements.join(sf.broadcast(own), mine, "left")
    certain = sf.col("certain") | sf.col("restored").isNotNull()
    return joined.withColumn("certain", certain).drop("restored", "restored_dataset")
