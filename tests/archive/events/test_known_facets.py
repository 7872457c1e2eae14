"""Lines read with facets that came before have the values that they have when all of them is parsed."""

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from headwater.errors import EventError
from headwater.openlineage.reading import event_of, in_parts, read_json
from headwater.openlineage.reading.json_values import LIMIT, Part, canonical
from headwater.openlineage.reading.known_facets import KnownFacets, shorten, value_of
from tests.store.conftest import run_event, written

LONG = "long " * 60
TEXTS = st.sampled_from(["", LONG, '{"schema":{', '"columnLineage":{', "}", "\\", "é", "\ud800", "\0"])
VALUES = st.recursive(
    st.none() | st.integers(-(2**70), 2**70) | st.floats() | TEXTS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXTS | st.just("schema"), inner, max_size=3),
    max_leaves=8,
)
FACETS = st.dictionaries(st.sampled_from(["columnLineage", "schema", "symlinks"]), VALUES, max_size=3)
DATASETS = VALUES | st.lists(st.fixed_dictionaries({"facets": FACETS | VALUES}), max_size=2)
EVENTS = VALUES | st.fixed_dictionaries({"inputs": DATASETS, "outputs": DATASETS, "schema": VALUES, "z": VALUES})
FACET = b'{"fields":[{"name":"%s"}]}' % LONG.encode()
OTHER = b'{"fields":[{"name":"other %s"}]}' % LONG.encode()


def read_known(line: bytes, known: KnownFacets) -> Any:
    return value_of(line, shorten(line, known), known)


def outcome(line: bytes, read: Any) -> Any:
    try:
        return canonical(value) if isinstance(value := read(line), dict) else repr(value)
    except EventError as fault:
        return str(fault)


def assert_same(line: bytes, known: KnownFacets) -> None:
    whole = outcome(line, lambda one: in_parts(read_json(one)))
    for _ in "twice":
        assert outcome(line, lambda one: read_known(one, known)) == whole


@given(st.lists(EVENTS, max_size=3), st.sampled_from([(",", ":"), (", ", ": "), (" ,", " :\n")]), st.booleans())
@settings(max_examples=150)
def test_a_line_has_the_value_that_it_has_when_all_of_it_is_parsed(values: Any, separators: Any, ascii: bool) -> None:
    known = KnownFacets(1 << 20)
    for value in values:
        line = json.dumps(value, separators=separators, ensure_ascii=ascii).encode(errors="surrogatepass")
        assert_same(line, known)
        assert_same(line[: len(line) // 2], known)


@pytest.mark.parametrize(
    "line",
    [
        b'{"outputs":[{"facets":{"schema":%b,"schema":%b}}]}' % (FACET, OTHER),
        b'{"outputs":[{"facets":{"schema":%b,"schema":"none"}}]}' % FACET,
        b'{"outputs":[{"facets":{"schema":%b},"facets":{}}]}' % FACET,
        b'{"outputs":[{"facets":{"sch\\u0065ma":%b}}]}' % FACET,
        b'{"outputs":[{"facets":{"a\\"schema":%b}}]}' % FACET,
        b'{"outputs":[{"facets":{"a\\"schema\\":%b":1}}]}' % FACET.replace(b'"', b'\\"'),
        b'{"outputs":[{"facets":{"columnLineage":{"schema":%b}}}]}' % FACET,
        b'{"dataset":{"facets":{"schema":%b}}}' % FACET,
        b'{"outputs":[{"facets":{"schema":%b' % FACET,
        b'{"outputs":[{"facets":{"schema":%b}}]}}' % FACET,
        b'{"outputs":[{"facets":{"schema":%b}}]}' % FACET[:-2],
        b'{"outputs":[{"facets":{"schema":{"{":"%b}"}}}]}' % LONG.encode(),
        b'{"x"schema":%b}' % FACET,
        b'{"outputs":[{"facets":{"schema":{"a":NaN,"b":"%b"}}}]}' % LONG.encode(),
    ],
)
def test_a_facet_at_an_odd_place_changes_nothing(line: bytes) -> None:
    known = KnownFacets(1 << 20)
    for one in (FACET, OTHER):
        assert_same(b'{"outputs":[{"facets":{"schema":%b}}]}' % one, known)
    assert_same(line, known)


def test_a_facet_that_comes_again_is_the_one_that_came_before() -> None:
    known = KnownFacets(1 << 20)
    lines = [b'{"outputs":[{"facets":{"schema":%b}}],"z":%d}' % (FACET, number) for number in range(3)]
    _, second, third = (read_known(line, known)["outputs"][0]["facets"]["schema"] for line in lines)
    assert isinstance(second, Part)
    assert second is third


def test_an_event_of_known_facets_says_what_the_event_says() -> None:
    event = run_event("job", written("silver", {f"x{number}": ["bronze.x"] for number in range(9)}), run="one")
    line, known = json.dumps(event).encode(), KnownFacets(1 << 20)
    for _ in "twice":
        assert event_of(read_known(line, known)) == event_of(json.loads(line))


def test_more_facets_than_fit_are_read_as_few_are() -> None:
    known = KnownFacets(8_000)
    for number in [*range(100), *range(100)]:
        facet = FACET.replace(b"long", b"%d" % number, 1)
        assert_same(b'{"outputs":[{"facets":{"schema":%b}}]}' % facet, known)


@pytest.mark.parametrize(("times", "every"), [(1, False), (4, True)])
def test_a_process_may_remember_several_times_as_many_facets(
    times: int, every: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(LIMIT, "times", times)
    known = KnownFacets(40_000)
    facets = [FACET.replace(b"long", b"%d" % number, 1) for number in range(90)]
    lines = [b'{"outputs":[{"facets":{"schema":%b}}]}' % facet for facet in facets]
    for line in lines:
        read_known(line, known)
    found = [known.at(line, line.index(facet)) is not None for line, facet in zip(lines, facets, strict=True)]
    assert any(found)
    assert all(found) is every
