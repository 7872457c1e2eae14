"""Events of parsed lines: each once, and whether they come in the order of time."""

from contextlib import closing
from typing import Any

import pytest
from pyspark.sql import functions as sf

from headwater.archive.cache import CachedFrames
from headwater.archive.events.parsed_events import EVERYTHING, LineFeatures, ParsedLines, distinct_events, parsed_lines
from headwater.archive.events.sources import as_lines

pytestmark = pytest.mark.spark

DAYS, TASKS = 200, 4
EVENTS = DAYS * TASKS
RUN = "00000000-0000-4000-8000-00000000%04d"
EVENT = (
    '{"eventType": "COMPLETE", "eventTime": "%2$sT12:00:00Z", "run": {"runId": "'
    + RUN.replace("%", "%1$")
    + '"}, "job": {"namespace": "n", "name": "j"}}'
)


def parsed(spark: Any, day: str, cache: CachedFrames) -> ParsedLines:
    """An event for each number in tasks, on a ``day`` that an expression has of it; and the first one once more."""
    numbers = spark.range(EVENTS, numPartitions=TASKS).unionAll(spark.range(1, numPartitions=1))
    date = sf.date_format(sf.date_add(sf.lit("2026-01-01"), sf.expr(f"CAST({day} AS INT)")), "yyyy-MM-dd")
    value = sf.format_string(EVENT, "id", date).cast("binary")
    return parsed_lines(as_lines(numbers, sf.lit("here"), place=sf.lit("there"), value=value), cache)


@pytest.mark.parametrize(
    ("day", "files", "ordered"),
    [
        pytest.param(f"id div {TASKS}", DAYS, True, id="a day is in one task"),
        pytest.param(f"id % {DAYS}", EVENTS, False, id="each task has all days"),
    ],
)
def test_lines_are_in_order_where_few_tasks_have_a_day(spark: Any, day: str, files: int, ordered: bool) -> None:
    with closing(CachedFrames()) as cache:
        found = parsed(spark, day, cache).looked_through()
    assert (found.count, found.ordered) == (EVENTS + 1, ordered)
    assert found.days == pytest.approx(DAYS, rel=0.1)
    assert found.files == pytest.approx(files, rel=0.1)


def test_more_events_are_not_sorted_by_the_tasks_that_have_them() -> None:
    assert [LineFeatures(count, 1, 1, EVERYTHING).ordered for count in (250_000, 250_001)] == [True, False]


def test_duplicate_events_are_removed_by_digest_and_the_payload_stays(spark: Any) -> None:
    with closing(CachedFrames()) as cache:
        lines = parsed(spark, f"id div {TASKS}", cache)
        kept = distinct_events(lines, cache).events.select("digest", "run", "payload").collect()
        assert lines.events().count() == EVENTS + 1
    assert sorted(row.run for row in kept) == [RUN % number for number in range(EVENTS)]
    assert all(row.run in row.payload for row in kept)
    assert len({row.digest for row in kept}) == EVENTS
