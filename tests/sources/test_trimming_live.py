"""A writer of a partition and a reader of the whole meet in the store, by the rules of the application's Spark conf."""

import json
from pathlib import Path

import pytest

from headwater.store import open_store
from headwater.store.questions import roots_of

from .watched import EVENTS, HERE, run_watched


@pytest.fixture(scope="module")
def ran(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("partitions")
    run_watched(HERE / "jobs" / "partitions.py", str(folder), folder=folder)
    return folder


@pytest.mark.spark
def test_roots_are_found_across_partitions(ran: Path) -> None:
    events = (ran / EVENTS).read_text().splitlines()
    with open_store(f"sqlite:///{ran}/lineage.db") as store:
        assert store.ingest(events).rejected == ()
        found = {
            name: [
                f"{root.column.dataset.dataset.name}.{root.column.name}" for root in roots_of(store, f"{name}.b").roots
            ]
            for name in ("out_key", "out_date", "out_pattern")
        }
    landed = f"{ran}/landed"
    assert found == {
        "out_key": [f"{landed}.twice"],
        "out_date": [f"{landed}.id"],
        "out_pattern": [f"{landed}.id"],
    }


@pytest.mark.spark
def test_each_rule_of_the_conf_is_followed(ran: Path) -> None:
    events = [json.loads(line) for line in (ran / EVENTS).read_text().splitlines()]
    written = {Path(output["name"]).relative_to(ran).as_posix() for event in events for output in event["outputs"]}
    assert written == {
        "landed", "by_key", "by_date", "by_pattern", "removed", "kept/2026-01", "out_key", "out_date", "out_pattern",
    }  # fmt: skip
