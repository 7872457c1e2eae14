"""Rows of a batch, before they are written: between several values of one row a rule decides, and never their order."""

from collections.abc import Callable
from itertools import permutations

from headwater.store import schema
from headwater.store.ingest.field_spelling import DatedSchema
from headwater.store.ingest.rows import Rows


def in_any_order(*steps: Callable[[Rows], None]) -> list[Rows]:
    """The rows after steps in each order."""
    found = []
    for some in permutations(steps):
        rows = Rows()
        for step in some:
            step(rows)
        found.append(rows)
    return found


def test_the_latest_value_of_an_attribute_counts_and_of_equal_times_the_greater() -> None:
    column = (schema.job, "sql")
    for rows in in_any_order(
        lambda rows: rows.propose_attribute(column, 1, "select 1", 5),
        lambda rows: rows.propose_attribute(column, 1, "select 2", 7),
        lambda rows: rows.propose_attribute(column, 1, "select 1", 7),
        lambda rows: rows.propose_attribute(column, 1, "", 9),
    ):
        assert list(rows.attributes) == [(column, [(1, "select 2", 7)])]


def test_a_dataset_of_a_run_has_lineage_once_an_event_has_some() -> None:
    place = (1, 2, True)
    for rows in in_any_order(
        lambda rows: rows.add_run_dataset(place, has_lineage=False),
        lambda rows: rows.add_run_dataset(place, has_lineage=True),
        lambda rows: rows.set_version_schema(place, 3, b"older"),
        lambda rows: rows.set_version_schema(place, 4, b"newer"),
    ):
        assert rows.run_datasets({1: 9}) == [(1, 2, True, True, 9, b"newer", 4)]
        assert rows.take_runs_to_summarize() == {1}


def test_the_latest_schema_of_a_dataset_counts_and_places_its_fields() -> None:
    older, newer = (DatedSchema(at, b"%d" % at, ((at, "string", f"f{at}"),)) for at in (1, 2))
    for rows in in_any_order(
        lambda rows: rows.propose_schema(7, older, written=False),
        lambda rows: rows.propose_schema(7, newer, written=False),
    ):
        assert rows.take_schemas() == {7: newer}
        assert rows.take_schemas() == {}


def test_a_parent_is_written_before_its_runs_or_set_afterwards() -> None:
    def values(parent: int | None) -> dict[str, object]:
        return {"job_id": 1, "parent_id": parent, "state": "", "state_at": 0, "started_at": None, "engine": ""}

    rows = Rows()
    rows.add_runs({1: ("child", values(2)), 2: ("parent", values(None))})
    for run, parent in ((1, 2), (2, None)):
        rows.change_run(run, values(parent))
    parents = {row[0]: row[3] for row in rows.take_new_runs()}
    assert parents == {1: None, 2: None}
    assert [row[:3] for row in rows.changed_runs] == [(1, 1, 2)]


def test_new_runs_are_recomputed_apart_from_those_that_were_there_and_each_once() -> None:
    rows = Rows()
    rows.add_runs({1: ("new", {})})
    rows.recompute([1, 2])
    assert rows.take_runs_to_recompute() == ({2}, {1})
    rows.recompute([1])
    assert rows.take_runs_to_recompute() == ({1}, set())
