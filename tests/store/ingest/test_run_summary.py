"""The summaries of runs, for lists of versions, agree with the rows of their datasets, however these came to be."""

from collections import defaultdict
from typing import Any

import pytest
from sqlalchemy import select, text

from headwater.store import Store, schema

NOW = """
SELECT t.at, coalesce(l.at, r.state_at), t.written FROM run_dataset t JOIN run r ON r.id = t.run_id
LEFT JOIN lineage l ON l.run_id = r.id AND l.job_id = r.job_id AND l.output_id = t.dataset_id
"""


def require_summaries(store: Store) -> None:
    """Equal digests stand for equal datasets, and each moment is that of the lineage or the state."""
    touch, run = schema.run_dataset, schema.run
    sets: defaultdict[int, set[Any]] = defaultdict(set)
    with store.read() as connection:
        for row in connection.execute(select(touch)):
            sets[row.run_id].add((row.dataset_id, row.written))
        digests = {row.id: row.touched for row in connection.execute(select(run))}
        moments = connection.execute(text(NOW)).all()
    pairs = {(digests[one], frozenset(sets[one])) for one in digests}
    assert len(pairs) == len({digest for digest, _ in pairs}) == len({datasets for _, datasets in pairs})
    assert all(digest is None for digest, datasets in pairs if not datasets)
    assert [row for row in moments if row[0] != (row[1] if row.written else None)] == []


def test_summaries_follow_runs_that_go_on_and_end(store: Store, words: Any) -> None:
    gold = words.written("gold", {"a": ["raw.x"]})
    for number, state in enumerate(("START", "RUNNING", "COMPLETE")):
        outputs = [gold] if number else []
        store.ingest([words.run_event("daily", *outputs, minute=number, state=state, run="one", inputs=["raw"])])
        require_summaries(store)
    store.ingest([words.run_event("daily", minute=5, state="ABORT", run="one")])
    require_summaries(store)


def test_summaries_follow_datasets_that_turn_out_to_be_one(store: Store, words: Any) -> None:
    store.ingest([words.run_event("by path", words.written("gold", {"a": ["raw.x"]}), minute=1)])
    by_name = {"namespace": "hive", "name": "db.gold"}
    store.ingest([words.run_event("by name", minute=2) | {"inputs": [by_name]}])
    store.ingest([words.run_event("both", words.written("gold", {"a": ["raw.x"]}, symlinks=["db.gold"]), minute=3)])
    require_summaries(store)
    with store.read() as connection:
        assert len(connection.execute(select(schema.dataset.c.id)).all()) == 2


def test_a_rename_that_arrives_late_counts_from_its_time(store: Store, words: Any) -> None:
    for minute in (1, 5):
        store.ingest([words.run_event("daily", words.written("gold", {"a": ["raw.x"]}), minute=minute, inputs=["raw"])])
    store.ingest([words.run_event("move", words.renamed("gold", "old"), minute=3)])
    require_summaries(store)
    with store.read() as connection:
        assert len(connection.execute(select(schema.dataset.c.id)).all()) == 3


@pytest.mark.parametrize("alters", [False, True])
def test_summaries_are_right_in_one_batch(store: Store, words: Any, *, alters: bool) -> None:
    gold, silver = (words.written(name, {"a": ["raw.x"]}) for name in ("gold", "silver"))
    altered = {**silver, "facets": {"lifecycleStateChange": {"lifecycleStateChange": "ALTER"}}}
    streaming = {"jobType": {"processingType": "STREAMING"}}
    store.ingest(
        [
            words.run_event("daily", minute=0, state="START", run="one", inputs=["raw"]),
            words.run_event("stream", silver, minute=1, state="RUNNING", run="two", job_facets=streaming),
            words.run_event("failed", gold, minute=2, state="FAIL", run="three", inputs=["raw", "silver"]),
            # What alters a table writes the runs before it while others have more to say.
            words.run_event("alter", altered if alters else silver, minute=3, run="four"),
            words.run_event("stream", minute=4, state="RUNNING", run="two", job_facets=streaming, inputs=["raw"]),
            words.run_event("daily", gold, minute=5, run="one"),
            words.run_event("late", gold, minute=6, state="RUNNING", run="five"),
        ]
    )
    require_summaries(store)
    store.ingest([words.run_event("late", minute=7, run="five", inputs=["raw"])])
    require_summaries(store)


def test_summaries_are_right_in_one_batch_with_another_name(store: Store, words: Any) -> None:
    linked = words.written("gold", {"a": ["raw.x"]}, symlinks=["db.gold"])
    by_name = {"namespace": "hive", "name": "db.gold"}
    before = words.run_event("by name", minute=1, run="one") | {"inputs": [by_name]}
    store.ingest([before, words.run_event("both", linked, minute=2, run="two", inputs=["raw"])])
    require_summaries(store)
