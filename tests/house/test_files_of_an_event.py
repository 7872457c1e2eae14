"""How many files somebody has to read to follow one event into the store."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

import headwater
from headwater.store import open_store
from tests.store.conftest import run_event, written

SRC = str(Path(headwater.__file__).parent)
FIELDS = {"email": ["people.mail TRANSFORMATION masked"], "n": ["people.id AGGREGATION"], "*": ["people.id FILTER"]}
SCHEMA = {"schema": {"fields": [{"name": "email", "type": "string"}, {"name": "n", "type": "bigint"}]}}
RUN_FACETS = {
    "parent": {"run": {"runId": "0190e6f2-7b5f-7c4a-8000-000000000000"}, "job": {"namespace": "demo", "name": "daily"}},
    "headwater_coverage": {"gaps": [{"kind": "opaque", "what": "mapInPandas", "why": "cannot be seen into"}]},
}


def event(state: str) -> dict[str, Any]:
    output = written("mails", FIELDS, write="ALL_ROWS")
    output["facets"] |= SCHEMA
    return run_event("daily.mails", output, state=state, run="one", inputs=["people"], run_facets=RUN_FACETS)


@contextmanager
def files_of_calls() -> Iterator[set[str]]:
    found: set[str] = set()

    def note(frame: Any, what: str, _: object) -> None:
        if what == "call" and frame.f_code.co_filename.startswith(SRC):
            found.add(frame.f_code.co_filename.removeprefix(SRC))

    before = sys.getprofile()
    sys.setprofile(note)
    try:
        yield found
    finally:
        sys.setprofile(before)


@pytest.mark.parametrize("before", [[], ["START"]], ids=["START", "COMPLETE"])
def test_an_event_taken_in_touches_at_most_twenty_files(before: list[str], tmp_path: Path) -> None:
    with open_store(f"sqlite:///{tmp_path / 'lineage.db'}") as store:
        store.ingest(map(event, before))
        with files_of_calls() as files:
            store.ingest([event("COMPLETE" if before else "START")])
    assert 10 < len(files) <= 20, "\n".join(sorted(files))
