"""Runs that restored a version of a dataset: what they tell, by the store's rules (`store.ingest.restorations`).

The runs of datasets that were restored are few: they are looked at in order, in the driver.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

from pyspark.sql import DataFrame, Row
from pyspark.sql import functions as sf

from headwater.archive.fold.run_lineage import JOB, OUTPUT, tellings
from headwater.model.time import FOREVER
from headwater.openlineage.reading.events import SUCCESSFUL

Shapes = frozenset[tuple[str, int]]
"""Digests of lineage, each with the epoch of its names."""

_RESTORED = "restored string, restored_dataset string"


class Lineage(NamedTuple):
    """The lineage that a run of a job told of a dataset: since when, and when it can have written last."""

    job: tuple[str, str]
    run: str
    since: int
    last: int
    shapes: Shapes


class Restoration(NamedTuple):
    """A run that restored a version of a dataset, and when it ended; the version is empty where it is not known."""

    run: str
    moment: int
    version: str
    job: tuple[str, str]


@dataclass(slots=True)
class History:
    """The runs of one dataset: their lineage, who replaced all rows when, which version each made, and when it ended.

    ``replaced`` has who may have done so as well, with False.
    """

    lineage: dict[str, Lineage] = field(default_factory=dict)
    replaced: dict[str, tuple[int, bool]] = field(default_factory=dict)
    made: set[tuple[str, str, int]] = field(default_factory=set)
    restorations: list[Restoration] = field(default_factory=list)

    def restore(self) -> None:
        """Make the lineage of each run that restored what it restored, in the order of their ends."""
        for one in sorted(self.restorations, key=lambda one: (one.moment, one.run)):
            moment = self._moment(one)
            own = self.lineage[one.run].shapes if one.run in self.lineage else Shapes()
            again = Shapes().union(*(found.shapes for found in self._held(one.moment, moment)))
            shapes = again if moment is not None else own | again
            self.lineage[one.run] = Lineage(one.job, one.run, one.moment, one.moment, shapes)
            _, certain = self.replaced.get(one.run, (0, False))
            self.replaced[one.run] = (one.moment, certain or moment is not None)

    def _moment(self, by: Restoration) -> int | None:
        """When the last run before it had ended that made the version which a run restored."""
        ends = (
            ended
            for run, version, ended in self.made
            if version == by.version and ended < by.moment and (run in self.lineage or run in self.replaced)
        )
        return max(ends, default=None) if by.version else None

    def _held(self, before: int, moment: int | None) -> Iterator[Lineage]:
        """The lineage that held at a moment; without one that which ever held before another."""
        by_job: dict[tuple[str, str], list[Lineage]] = defaultdict(list)
        for one in sorted(self.lineage.values(), key=lambda one: (one.since, one.run)):
            by_job[one.job].append(one)
        for runs in by_job.values():
            for one, following in zip(runs, [*(later.since for later in runs[1:]), FOREVER], strict=True):
                end = min(following, self._end(one))
                held = one.since < min(end, before) if moment is None else one.since <= moment < end
                if held:
                    yield one

    def _end(self, one: Lineage) -> int:
        """When another run first replaced all rows after a run; FOREVER where none has."""
        ends = (
            moment
            for by, (moment, certain) in self.replaced.items()
            if certain and by != one.run and (moment, by) > (one.last, one.run)
        )
        return min(ends, default=FOREVER)


def with_restored(
    heard: DataFrame, replacements: DataFrame, described: DataFrame, runs: DataFrame
) -> tuple[DataFrame, DataFrame]:
    """What counts of what events told, and the replacements of rows, with what runs restored.

    Args:
        heard: what `headwater.archive.fold.run_lineage.heard` makes.
        replacements: what `headwater.archive.fold.replacements.replacements` makes.
        described: what `headwater.archive.fold.descriptions.described` makes.
        runs: what `headwater.archive.fold.run_lineage.runs_of` makes.
    """
    restoring = described.where("restores IS NOT NULL")
    if restoring.isEmpty():
        return heard, replacements
    ended = runs.where(sf.col("state").isin(*SUCCESSFUL)).select("run", *JOB, "state_at")
    last = sf.max(sf.struct("at", "restores"))["restores"].alias("version")
    restored = restoring.groupBy("run", *OUTPUT).agg(last).join(ended, "run").collect()
    if not restored:
        return heard, replacements
    histories = _histories(restored, heard, replacements, described.join(ended, "run"))
    for one in histories.values():
        one.restore()
    return _with_brought_back(heard, restored, histories), _replacements(replacements, restored, histories)


def _histories(
    restored: Iterable[Row], heard: DataFrame, replacements: DataFrame, described: DataFrame
) -> dict[str, History]:
    found = {row.dataset_id: History() for row in restored}
    mine = sf.col("dataset_id").isin(*found)
    for row in restored:
        one = Restoration(row.run, row.state_at, row.version, (row.job_namespace, row.job_name))
        found[row.dataset_id].restorations.append(one)
    for row in tellings(heard.where(mine)).collect():
        job, shapes = (row.job_namespace, row.job_name), frozenset((one.shape, one.epoch) for one in row.shapes)
        found[row.dataset_id].lineage[row.run] = Lineage(job, row.run, row.since, row.last, shapes)
    for row in replacements.where(mine).collect():
        found[row.dataset_id].replaced[row.by] = (row.moment, row.certain)
    versions = described.where(mine & (sf.col("made_version") != ""))
    for row in versions.select("run", "dataset_id", "made_version", "state_at").distinct().collect():
        found[row.dataset_id].made.add((row.run, row.made_version, row.state_at))
    return found


def _with_brought_back(heard: DataFrame, restored: list[Row], histories: dict[str, History]) -> DataFrame:
    rows = [
        (row.run, "", 0, row.job_namespace, row.job_name, *(row[name] for name in OUTPUT), *shape, *[row.state_at] * 2)
        for row in restored
        for shape in sorted(histories[row.dataset_id].lineage[row.run].shapes)
    ]
    own = heard.sparkSession.createDataFrame([(row.run, row.dataset_id) for row in restored], _RESTORED)
    mine = (heard.run == own.restored) & (heard.dataset_id == own.restored_dataset)
    others = heard.join(sf.broadcast(own), mine, "left_anti")
    return others.unionByName(heard.sparkSession.createDataFrame(rows, heard.schema))


def _replacements(replacements: DataFrame, restored: list[Row], histories: dict[str, History]) -> DataFrame:
    found = [(row.run, row.dataset_id) for row in restored if histories[row.dataset_id].replaced[row.run][1]]
    own = replacements.sparkSession.createDataFrame(found, _RESTORED)
    mine = (replacements.by == own.restored) & (replacements.dataset_id == own.restored_dataset)
    joined = replacements.join(sf.broadcast(own), mine, "left")
    certain = sf.col("certain") | sf.col("restored").isNotNull()
    return joined.withColumn("certain", certain).drop("restored", "restored_dataset")
