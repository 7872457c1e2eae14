"""Events that differ from one before in their time and ids of runs have the rows that they have when all is parsed."""

import copy
import json
from collections.abc import Callable, Iterable, Sequence
from typing import Any
from uuid import UUID

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from headwater.archive.events import known_events
from headwater.archive.events.known_events import KnownEvents
from headwater.archive.events.rows import Row, SeenDigests, row_of
from headwater.errors import EventError
from headwater.openlineage.reading import read_event
from tests.archive.events.test_known_facets import VALUES
from tests.store.conftest import renamed, run_event, written

MANY: dict[str, Sequence[str]] = {f"x{number}": ["bronze.x"] for number in range(9)}
PARENT = {"run": {"runId": "parent"}, "job": {"namespace": "demo", "name": "daily"}}
ROOTED = {**PARENT, "root": {"run": {"runId": "root"}, "job": {"namespace": "demo", "name": "yearly"}}}
EVENTS: dict[str, Callable[[], dict[str, Any]]] = {
    "lineage": lambda: run_event("one", written("silver", MANY), inputs=["bronze"]),
    "other lineage": lambda: run_event("one", written("silver", {**MANY, "y": ["bronze.y"]}), inputs=["bronze"]),
    "no dataset": lambda: run_event("one", state="START"),
    "a parent": lambda: run_event("one", written("silver", MANY), run_facets={"parent": PARENT}),
    "a root": lambda: run_event("one", written("silver", MANY), run_facets={"parent": ROOTED}),
    "a parent that is none": lambda: run_event("one", run_facets={"parent": {"run": {"runId": "parent"}}}),
    "twins": lambda: run_event("one", written("silver", {"x": ["bronze.x"], "X": ["bronze.x"]})),
    "a renamed dataset": lambda: run_event("one", renamed("silver", "gold")),
    "a renamed dataset, not so": lambda: run_event("one", renamed("silver", "gold"), state="FAIL"),
    "a dropped dataset": lambda: run_event("one", renamed("silver", None)),
    "replaced rows": lambda: run_event("one", written("silver", MANY, write="ALL_ROWS @3")),
    "other names": lambda: run_event("one", written("silver", MANY, symlinks=["db.silver"])),
    "another run": lambda: run_event("one", job_facets={"x": {"runId": "of no run"}}),
    "another time": lambda: run_event("one", job_facets={"x": {"eventTime": "2026-01-01"}}),
    "large numbers": lambda: run_event("one", job_facets={"x": 2**70}),
    "deep": lambda: run_event("one", job_facets={"x": json.loads("[" * 300 + "]" * 300)}),
    "half a character": lambda: run_event("one", job_facets={"documentation": {"description": "\ud800"}}),
    "no event": lambda: {"eventTime": "2026-01-01T00:00:00Z", "run": {"runId": "x"}},
    "a dataset event": lambda: {"eventTime": "2026-01-01T00:00:00Z", "dataset": written("silver", MANY)},
}
SPACES = [(",", ":"), (", ", ": "), (" ,", " :\n")]
TIMES = st.sampled_from(["2026-01-01T00:00:00Z", "2026-01-01T02:00:00.5+02:00", "20260101", "1969-01-01", "at noon"])


def every_row(lines: Iterable[bytes], read: Callable[[bytes, SeenDigests], Row]) -> list[Row | str]:
    """The rows of lines in a partition, or why one is no event."""
    digests, rows = SeenDigests(), list[Row | str]()
    for line in lines:
        try:
            rows.append(read(line, digests))
        except EventError as fault:
            rows.append(str(fault))
    return rows


def assert_same(*partitions: list[bytes], most: int = 1 << 20) -> None:
    known = KnownEvents(most)
    for lines in partitions:
        whole = every_row(lines, lambda line, digests: row_of(read_event(line), digests))
        assert every_row(lines, known.row) == whole


def again(event: dict[str, Any], time: str, number: int) -> dict[str, Any]:
    """An event at another time, of another run of another parent."""
    other = copy.deepcopy(event) | {"eventTime": time}
    if "run" in event:
        run = other["run"]
        run["runId"] = str(UUID(int=number))
        if parent := run.get("facets", {}).get("parent"):
            parent["run"]["runId"] = str(UUID(int=number // 2))
    return other


def line_of(event: Any, separators: Any = SPACES[0], ascii: bool = True) -> bytes:
    return json.dumps(event, separators=separators, ensure_ascii=ascii).encode(errors="surrogatepass")


@given(st.lists(st.tuples(st.sampled_from([*EVENTS]), TIMES), max_size=12), st.sampled_from(SPACES), st.booleans())
@settings(max_examples=150)
def test_rows_are_those_of_events_that_are_parsed(sent: Any, separators: Any, ascii: bool) -> None:
    lines = [
        line_of(again(EVENTS[kind](), time, number), separators, ascii) for number, (kind, time) in enumerate(sent)
    ]
    assert_same(lines * 3, lines)


@given(VALUES, VALUES, st.lists(TIMES, min_size=3, max_size=5))
@settings(max_examples=150)
def test_rows_of_odd_events_too(facet: Any, place: Any, times: list[str]) -> None:
    event = run_event("one", written("silver", MANY), run_facets={"x": facet}, job_facets={"y": place})
    assert_same([line_of(again(event, time, number)) for number, time in enumerate(times)])


@pytest.mark.parametrize("kind", EVENTS)
def test_rows_of_each_kind_of_event(kind: str) -> None:
    times = [f"2026-01-{day:02}T00:00:00Z" for day in range(1, 7)]
    lines = [line_of(again(EVENTS[kind](), time, number)) for number, time in enumerate(times)]
    assert_same(lines, lines)
    assert_same(lines, [*lines[:3], line_of(again(EVENTS[kind](), "never", 3))], most=1)


@pytest.mark.parametrize(
    "line",
    [
        b'{"eventTime":"%b","eventTime":"2026-01-01","run":{"runId":"1"},"job":{"namespace":"n","name":"j"}}',
        b'{"eventTime":"2026-01-01","eventTime":"%b","run":{"runId":"1"},"job":{"namespace":"n","name":"j"}}',
        b'{"eventTime":"%b","run":{"runId":"1","runId":"2"},"job":{"namespace":"n","name":"j"}}',
        b'{"eventTime":"%b","run":{"runId":"1","x\\"runId":"2"},"job":{"namespace":"n","name":"j"}}',
        b'{"eventTime":"%b","run":{"runId":"1"},"job":{"namespace":"n","name":"\\"runId\\":\\"1\\""}}',
        b'{"eventTime":"%b","run":{"runId":"1"},"job":{"runId":"3","namespace":"n","name":"j"}}',
        b'{"ev\\u0065ntTime":"%b","run":{"runId":"1"},"job":{"namespace":"n","name":"j"}}',
        b'{"eventTime":"%b","job":{"namespace":"n","name":"j"}}',
        b'{"eventTime":"%b","run":{"runId":"1"},"job":{"namespace":"n","name":"j"}} ',
        b'{"eventTime":"%b","run":{"runId":"1"},"job":{"namespace":"n","name":"j"}}}',
        b'{"eventTime":"%b","run":{"runId":"1"},"job":{"namespace":"n","name":"j"',
        b'{"eventTime":"%b","run":{"runId":"1"},"job":{"namespace":"n","name":"\0"}}',
    ],
)
def test_rows_of_lines_with_members_at_odd_places(line: bytes) -> None:
    lines = [line % time for time in (b"2026-01-01", b"2026-01-02", b"2026-01-03", b"2026-01-04")]
    assert_same(lines, lines)


def test_ids_of_a_run_and_its_parent_may_be_the_same() -> None:
    parents = ["a", "b", "c", "d", "c"]
    events = [run_event("one", run_facets={"parent": {**PARENT, "run": {"runId": parent}}}) for parent in parents]
    lines = [
        line_of(event | {"run": event["run"] | {"runId": run}}) for event, run in zip(events, "aabcc", strict=True)
    ]
    assert_same(lines, lines[::-1])


def test_an_event_that_came_twice_is_not_parsed_again(monkeypatch: pytest.MonkeyPatch) -> None:
    known, digests = KnownEvents(1 << 20), SeenDigests()
    lines = [line_of(again(EVENTS["a root"](), "2026-01-01", number)) for number in range(9)]
    first, *_ = (known.row(line, digests) for line in lines[:4])
    monkeypatch.setattr(known_events, "value_of", lambda *line: 1 / 0)
    assert known.row(lines[5], digests)["run"] == str(UUID(int=5))
    assert known.row(lines[6], digests)["shapes"] == [], "the partition has had its lineage"
    assert known.row(lines[7], SeenDigests())["shapes"] == first["shapes"], "another one has not"


def test_many_events_take_no_more_memory_than_few(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(known_events, "_MOST_SEEN", 5)
    kinds = [run_event(f"job {number}", written("silver", MANY)) for number in range(30)]
    lines = [line_of(again(event, "2026-01-01", time)) for time in range(3) for event in kinds for _ in "twice"]
    assert_same(lines, lines, most=50_000)
