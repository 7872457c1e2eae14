"""Lineage ends when another run replaces all rows, compared with a look at each moment."""

import random
from collections.abc import Iterator
from typing import Any, NamedTuple

import pytest

from headwater.archive.fold.replacements import DATASET, replacements_of, with_ends
from headwater.archive.fold.run_lineage import spans
from headwater.model.time import FOREVER

MOMENTS = range(9)
WORLDS = range(300)


class Lineage(NamedTuple):
    """The lineage of a run for the one dataset of a world: since when, and when it can have written last."""

    job: str
    run: str
    since: int
    last: int
    lineage: str


class Replaced(NamedTuple):
    """A run that replaced all rows, or may have."""

    moment: int
    by: str
    certain: bool


World = tuple[list[Lineage], list[Replaced]]


def world(chance: random.Random) -> World:
    """Runs of two jobs, of which some have lineage, some replace all rows, and some are streams that are running."""
    lineage, replaced = [], []
    for run in "abcdef":
        since = chance.choice(MOMENTS)
        last = chance.choice([since, since, chance.choice(MOMENTS[since:]), FOREVER])
        if chance.random() < 0.7:
            lineage.append(Lineage(chance.choice(["j", "k"]), run, since, last, chance.choice("xyz")))
        if last != FOREVER and chance.random() < 0.6:
            replaced.append(Replaced(last, run, chance.random() < 0.6))
    return lineage, replaced


def lineage_at(world: World, job: str, moment: int) -> str | None:
    """The lineage of a job at a moment: of its latest run, unless another run replaced all rows after it."""
    lineage, replaced = world
    runs = [one for one in lineage if one.job == job and one.since <= moment]
    if not runs:
        return None
    latest = max(runs, key=lambda one: (one.since, one.run))
    ends = [one for one in after(latest, replaced) if one.certain and one.moment <= moment]
    return None if ends else latest.lineage


def after(run: Lineage, replaced: list[Replaced]) -> Iterator[Replaced]:
    return (one for one in replaced if (one.moment, one.by) > (run.last, run.run))


def mark(world: World, job: str) -> str | None:
    """The last run that may have replaced what a job's latest run wrote, of lineage that holds now."""
    lineage, replaced = world
    if lineage_at(world, job, MOMENTS[-1]) is None:
        return None
    latest = max((one for one in lineage if one.job == job), key=lambda one: (one.since, one.run))
    return max(((one.moment, one.by) for one in after(latest, replaced)), default=(0, None))[1]


@pytest.mark.spark
def test_lineage_is_current_until_another_run_replaced_all_rows(spark: Any) -> None:
    """At each moment, also where runs have the same lineage or end; and it names a run that may have replaced it."""
    chance = random.Random(11)
    worlds = [world(chance) for _ in WORLDS]
    found = spans(with_ends(*frames(spark, worlds))).collect()
    for number, one in enumerate(worlds):
        for job in "jk":
            mine = [row for row in found if row.dataset_id == str(number) and row.job_name == job]
            shown = [[row.shapes for row in mine if holds(row, moment)] for moment in MOMENTS]
            expected = [lineage_at(one, job, moment) for moment in MOMENTS]
            assert shown == [[] if lineage is None else [lineage] for lineage in expected], one
            assert [row.replaced_by for row in mine if row.until is None] == [
                mark(one, job) for lineage in expected[-1:] if lineage is not None
            ], one


def holds(row: Any, moment: int) -> bool:
    return bool(row.since <= moment and (row.until is None or moment < row.until))


def frames(spark: Any, worlds: list[World]) -> tuple[Any, Any]:
    """The rows of worlds as the steps of a build have them; each is a dataset."""
    lineage = [
        (one.run, "n", one.job, str(number), "file", "out", one.lineage, one.since, one.last)
        for number, (runs, _) in enumerate(worlds)
        for one in runs
    ]
    names = ["run", "job_namespace", "job_name", "dataset_id", "dataset_namespace", "dataset", "shapes"]
    columns = ", ".join(f"{name} string" for name in names)
    replaced = [(str(number), *one) for number, (_, some) in enumerate(worlds) for one in some]
    return (
        spark.createDataFrame(lineage, f"{columns}, since long, last long"),
        spark.createDataFrame(replaced, "dataset_id string, moment long, by string, certain boolean"),
    )


@pytest.mark.spark
@pytest.mark.parametrize("believe", [False, True])
def test_runs_that_succeeded_replace_at_their_end_and_overwrites_count_where_they_are_believed(
    spark: Any, believe: bool
) -> None:
    """A run has a schema when one of its events does; a run that failed replaced nothing."""
    described = [
        ("all", "ALL_ROWS", None, None),
        ("all", "ALL_ROWS", "columns", None),
        ("jar", "SOME_ROWS", None, None),
        ("restore", "SOME_ROWS", None, ""),
        ("failed", "ALL_ROWS", "columns", None),
        ("append", None, "columns", None),
    ]
    runs = [("all", "COMPLETE", 3), ("jar", "COMPLETE", 5), ("failed", "FAIL", 4), ("append", "COMPLETE", 6)]
    runs.append(("restore", "COMPLETE", 7))
    found = replacements_of(
        spark.createDataFrame(described, "run string, replaces string, schema string, restores string").selectExpr(
            "*", *(f"'d' AS {name}" for name in DATASET)
        ),
        spark.createDataFrame(runs, "run string, state string, state_at long").selectExpr(
            "*", "'demo' AS job_namespace", "run AS job_name"
        ),
        believe_overwrite=believe,
    )
    rows = sorted((row.moment, row.by, row.certain, row.has_schema, row.is_restored) for row in found.collect())
    assert rows == [
        (3, "all", True, True, False),
        (5, "jar", believe, False, False),
        (7, "restore", False, False, True),
    ]
