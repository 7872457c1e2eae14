"""Files that are written in one format and read in another lead from what is read to all that was written."""

from typing import Any

import pytest
from tests.store.conftest import Words, source

from headwater.model import Subtype
from headwater.store import Store
from headwater.store.questions import UNBOUNDED, Bounds, EdgeType, Evidence, impact_of, roots_of
from headwater.store.questions.walk.edges import EdgesAcrossFormats, EdgesInMemory, edges_within

WRITTEN = {"_c0": ["raw.id"], "_c1": ["raw.name AGGREGATION"]}


def write(words: Words, minute: int, fields: dict[str, Any] | None = None, **more: Any) -> dict[str, Any]:
    files = words.written("mid", WRITTEN if fields is None else fields, write=more.pop("write", ""))
    return words.run_event(more.pop("job", "write"), files, minute=minute, run=f"write {minute}", **more)


def read(words: Words, minute: int, fields: dict[str, Any], *columns: str, **more: Any) -> dict[str, Any]:
    event = words.run_event(more.pop("job", "read"), words.written("out", fields), minute=minute, run=f"read {minute}")
    schema = {"fields": [{"name": one, "type": "string"} for one in columns]}
    event["inputs"] = [{"namespace": "file", "name": "/mid", "facets": {"schema": schema}}]
    return event


def roots(store: Store, column: str, **bounds: Any) -> dict[str, set[str]]:
    found = roots_of(store, column, Bounds(**bounds)).roots
    return {
        str(one.column).rpartition("/")[2]: {path.transformation.subtype.value for path in one.transformations}
        for one in found
    }


@pytest.mark.parametrize("column", ["value", "content"])
@pytest.mark.parametrize("order", [(0, 1), (1, 0)])
def test_text_or_bytes_of_files_lead_to_every_column_written_into_them(
    store: Store, words: Words, column: str, order: tuple[int, int]
) -> None:
    events = [write(words, 0), read(words, 1, {"a": [f"mid.{column} TRANSFORMATION"]}, column)]
    store.ingest([events[one] for one in order])
    assert roots(store, "out.a") == {"raw.id": {"TRANSFORMATION"}, "raw.name": {"AGGREGATION"}}
    assert all(path.transformation.opaque for root in roots_of(store, "out.a").roots for path in root.transformations)
    reached = {
        (at.dataset.dataset.name, one.column.name) for at in impact_of(store, "raw.name").datasets for one in at.columns
    }
    assert reached == {("/mid", "_c1"), ("/mid", column), ("/out", "a")}


def test_columns_read_from_lines_of_text_lead_to_the_text(store: Store, words: Words) -> None:
    store.ingest([write(words, 0, {"value": ["raw.line"]}), read(words, 1, {"x": ["mid.a"]}, "a", "b")])
    assert roots(store, "out.x") == {"raw.line": {"TRANSFORMATION"}}


def test_text_read_as_text_has_its_own_roots_alone(store: Store, words: Words) -> None:
    lines = {"value": ["raw.line"], "day": ["raw.day"]}
    store.ingest([write(words, 0, lines), read(words, 1, {"x": ["mid.value"], "y": ["mid.day"]}, "value", "day")])
    assert roots(store, "out.x") == {"raw.line": {"IDENTITY"}}
    assert roots(store, "out.y") == {"raw.day": {"IDENTITY"}}


def test_a_column_that_is_written_as_a_literal_has_no_roots(store: Store, words: Words) -> None:
    lines = {"value": ["raw.line"], "day": []}
    store.ingest([write(words, 0, lines), read(words, 1, {"y": ["mid.day"]}, "value", "day")])
    assert roots_of(store, "mid.day").evidence is Evidence.LITERAL


def test_a_column_that_readers_name_beside_others_is_not_known(store: Store, words: Words) -> None:
    store.ingest([write(words, 0), read(words, 1, {"a": ["mid.more"]}, "_c0", "_c1", "more")])
    assert roots(store, "out.a") == {"mid.more": {"IDENTITY"}}


def test_fields_of_a_topic_are_no_parts_of_its_value(store: Store, words: Words) -> None:
    topic = {"namespace": "kafka://broker", "name": "orders"}
    made, used = write(words, 0, {"value": ["raw.line"]}), read(words, 1, {"a": ["mid.offset"]}, "value", "offset")
    made["outputs"][0] |= topic
    used["inputs"][0] |= topic
    used["outputs"][0]["facets"]["columnLineage"]["fields"]["a"]["inputFields"] = [source("mid.offset") | topic]
    store.ingest([made, used])
    [root] = roots_of(store, "out.a").roots
    assert root.evidence is Evidence.UNNAMED


def test_files_that_were_overwritten_in_another_format_lead_to_the_new_columns(store: Store, words: Words) -> None:
    store.ingest(
        [
            write(words, 0, {"value": ["raw.line"]}, job="first", write="ALL_ROWS"),
            write(words, 1, write="ALL_ROWS"),
            read(words, 2, {"a": ["mid.value"]}, "value"),
        ]
    )
    assert roots(store, "out.a") == {"raw.id": {"TRANSFORMATION"}, "raw.name": {"AGGREGATION"}}


def test_filters_of_a_walk_hold_for_the_steps_between_formats(store: Store, words: Words) -> None:
    store.ingest([write(words, 0), read(words, 1, {"a": ["mid.value"]}, "value")])
    assert roots(store, "out.a", edge_type=EdgeType.DIRECT).keys() == {"raw.id", "raw.name"}
    assert not roots(store, "out.a", masking=True)
    assert roots(store, "out.a", subtypes=(Subtype.IDENTITY,)) == {"mid.value": {"IDENTITY"}}
    assert roots(store, "out.a", jobs=("read", "write")).keys() == {"raw.id", "raw.name"}


def test_edges_in_memory_have_the_same_steps(store: Store, words: Words) -> None:
    store.ingest([write(words, 0), read(words, 1, {"a": ["mid.value"]}, "value")])
    stored = roots(store, "out.a"), impact_of(store, "raw.id")
    index = store.keep_edges()
    index.wait()
    with store.read() as connection:
        walked = edges_within(connection, UNBOUNDED)
        assert isinstance(walked, EdgesAcrossFormats)
        assert isinstance(walked.stored, EdgesInMemory)
    assert (roots(store, "out.a"), impact_of(store, "raw.id")) == stored


def test_a_step_is_of_the_files_as_they_were_at_a_moment(store: Store, words: Words) -> None:
    store.ingest(
        [
            write(words, 0, write="ALL_ROWS"),
            read(words, 1, {"a": ["mid.value"]}, "value"),
            write(words, 2, {"_c0": ["raw.other"]}, job="next", write="ALL_ROWS"),
        ]
    )
    minute = 60_000_000
    then = 1_767_225_600_000_000 + minute + minute // 2
    assert roots(store, "out.a", as_of=then).keys() == {"raw.id", "raw.name"}
    assert "raw.other" in roots(store, "out.a")


def test_columns_of_topics_that_are_called_value_leave_walks_as_they_are(store: Store, words: Words) -> None:
    made = write(words, 0, {"value": ["raw.line"]})
    made["outputs"][0] |= {"namespace": "kafka://broker", "name": "orders"}
    store.ingest([made])
    with store.read() as connection:
        assert not isinstance(edges_within(connection, UNBOUNDED), EdgesAcrossFormats)
    store.ingest([read(words, 1, {"a": ["mid.value"]}, "value")])
    with store.read() as connection:
        assert isinstance(edges_within(connection, UNBOUNDED), EdgesAcrossFormats)
