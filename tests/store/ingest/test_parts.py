"""Parts of events that are remembered change nothing: neither how events are written, nor what they say."""

from copy import deepcopy
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from headwater.errors import EventError
from headwater.model import Dataset, Subtype, Transformation
from headwater.openlineage.reading import event_of, in_parts, read_event
from headwater.openlineage.reading.json_values import canonical, remembered_by_content
from headwater.openlineage.reading.lineage_facets import EncodedLineage, column_lineage
from headwater.store import Store
from headwater.store.ingest.lineage_writer import Edges, Ids
from headwater.store.schema import field, field_name
from headwater.store.sql.databases import add_rows

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**70), 2**70) | st.floats(allow_nan=False) | st.text(max_size=3),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=8,
)
FACETS = st.dictionaries(st.sampled_from(["columnLineage", "schema", "symlinks"]), VALUES)
DATASETS = VALUES | st.lists(st.fixed_dictionaries({"facets": FACETS | VALUES}), max_size=2)
EVENTS = VALUES | st.fixed_dictionaries({"inputs": DATASETS, "outputs": DATASETS, "z": VALUES})


def deep(levels: int) -> Any:
    value: Any = 1
    for _ in range(levels):
        value = {"a": value}
    return value


def written(words: Any, facet: Any) -> Any:
    output = words.written("silver", {"x": ["bronze.x"]})
    output["facets"]["columnLineage"] |= facet
    return words.run_event("job", output, run="one")


@given(EVENTS)
@settings(max_examples=150)
def test_what_is_in_parts_is_written_as_the_whole_is(value: Any) -> None:
    whole = canonical(value)
    assert canonical(in_parts(deepcopy(value))) == whole
    assert canonical(in_parts(deepcopy(value))) == whole  # and once more when it is known


@pytest.mark.parametrize("levels", range(244, 254))
def test_a_facet_as_deep_as_a_library_writes_at_most_changes_no_digest(words: Any, levels: int) -> None:
    value = written(words, {"own": deep(levels)})
    assert event_of(in_parts(deepcopy(value))).text == canonical(value)


@pytest.mark.parametrize(
    "facet", [{}, {"fields": 1}, {"fields": {"x": {"inputFields": [{"name": 1}]}}}, {"fields": {}}]
)
def test_an_event_in_parts_says_what_the_event_says(words: Any, facet: Any) -> None:
    value = written(words, facet)
    for _ in "twice":
        assert event_of(in_parts(deepcopy(value))) == event_of(deepcopy(value))


def test_one_is_not_true(words: Any) -> None:
    def masking(value: Any) -> bool:
        output = words.written("silver", {"x": ["bronze.x"]})
        output["facets"]["columnLineage"]["fields"]["x"]["inputFields"][0]["transformations"][0]["masking"] = value
        [output_read] = read_event(words.run_event("job", output)).outputs
        return bool(output_read.lineage and output_read.lineage.transformations[0].masking)

    assert [masking(value) for value in (True, 1, True, 1.0, False, 0)] == [True, False, True, False, False, False]


def test_edges_are_those_of_the_ids_that_names_have_now() -> None:
    bronze, step = Dataset("file", "/bronze"), Transformation(Subtype.IDENTITY)
    lineage, same = (
        EncodedLineage(
            ("x", "y"), {bronze: ("a", "b")}, ((0, "a"), (0, "b")), (step,), ((0, 0, 0), (1, 1, 0)), ((0, 0),)
        )
        for _ in range(2)
    )
    one, other = Ids(1, (10, 11), (20, 21), (30,)), Ids(2, (10, 12), (21, 20), (31,))
    digests = [Edges((lineage, ids)).digest for ids in (one, other, one, one)]
    assert digests == [Edges((same, one), (same, one)).digest, Edges((same, other)).digest, digests[0], digests[0]]
    assert digests[0] != digests[1]
    assert Edges((lineage, one)).fields == ((10, 20, 30), (11, 21, 30))
    assert Edges((lineage, one)).dataset == ((1, 20, 30),)
    assert Edges((lineage, other)).fields == ((10, 21, 31), (12, 20, 31))
    assert (Edges((lineage, one)) | Edges((same, other))).dataset == ((1, 20, 30), (2, 21, 31))


def test_names_that_mean_the_same_field_are_one_edge() -> None:
    lineage = lineage_of(x=[source("a"), source("a", name="link"), source("b"), source("a")])
    bronze, link = Dataset("file", "/bronze"), Dataset("file", "link")
    assert lineage.sources == {bronze: ("a", "b"), link: ("a",)}
    assert lineage.inputs == ((0, "a"), (1, "a"), (0, "b"))
    assert lineage.edges == ((0, 0, 0), (0, 1, 0), (0, 2, 0))
    assert Edges((lineage, Ids(1, (10,), (20, 20, 21), (30,)))).fields == ((10, 20, 30), (10, 21, 30))


def test_a_dataset_in_two_spellings_is_one() -> None:
    replaced = "\N{REPLACEMENT CHARACTER}"
    spelled = [source(field, name=name) for name in ("t\0", f"t{replaced}") for field in ("a", "b")]
    lineage = lineage_of(x=[source("c"), *spelled, source("d", name="u")])
    assert list(lineage.sources) == [Dataset("file", name) for name in ("/bronze", f"t{replaced}", "u")]
    assert [(edge.input.dataset.name[0], edge.input.name) for edge in lineage.named()] == [
        ("/", "c"),
        ("t", "a"),
        ("t", "b"),
        ("u", "d"),
    ]


def lineage_of(**fields: list[Any]) -> EncodedLineage:
    """The lineage of a columnLineage facet with these fields."""
    named = {name.replace("NUL", "\0"): {"inputFields": inputs} for name, inputs in fields.items()}
    lineage = column_lineage({"facets": {"columnLineage": {"fields": named}}}, {})
    assert lineage is not None
    return lineage


def edges_of(**fields: list[Any]) -> list[tuple[str | None, str, str, bool]]:
    """The edges of a columnLineage facet, as output field, input field, subtype and masking."""
    edges = [(one, one.transformation) for one in lineage_of(**fields).named()]
    return [(one.field, one.input.name, step.subtype, step.masking) for one, step in edges]


def source(field: Any, *steps: Any, name: str = "/bronze") -> dict[str, Any]:
    return {"namespace": "file", "name": name, "field": field, "transformations": list(steps)}


def test_fields_that_can_only_be_stored_by_one_name_have_the_edges_of_all() -> None:
    step = {"type": "DIRECT", "subtype": "IDENTITY"}
    edges = edges_of(aNUL=[source("x", step)], **{"a\N{REPLACEMENT CHARACTER}": [source("y", step)]})
    assert edges == [("a\N{REPLACEMENT CHARACTER}", one, Subtype.IDENTITY, False) for one in "xy"]


def test_what_is_no_string_says_nothing_of_a_transformation() -> None:
    steps = [{"type": [], "subtype": {}, "masking": 1}, {"type": 1, "subtype": True, "masking": True}, 7, None]
    transformed = Subtype.TRANSFORMATION
    assert edges_of(a=[source("x", *steps)]) == [("a", "x", transformed, False), ("a", "x", transformed, True)]
    assert edges_of(a=[source("x", 7)]) == [("a", "x", transformed, False)]


def test_an_edge_in_two_spellings_is_one() -> None:
    spellings = [{"type": "DIRECT", "subtype": one} for one in ("identity", "IDENTITY", "Identity")]
    edges = edges_of(a=[source("x\0", *spellings), source("x\N{REPLACEMENT CHARACTER}", *spellings)])
    assert edges == [("a", "x\N{REPLACEMENT CHARACTER}", Subtype.IDENTITY, False)]


@pytest.mark.parametrize("name", [[], {}, 1, True, None, ""])
def test_an_input_without_a_name_is_an_error(name: Any) -> None:
    with pytest.raises(EventError, match="expected a column's name"):
        edges_of(a=[source(name)])


@pytest.mark.parametrize("count", [0, 1, 49, 50, 51, 123])
def test_rows_are_added_however_many(store: Store, count: int) -> None:
    rows = [(b"%d" % number, b"", f"name {number}") for number in range(count)]
    with store.write() as connection:
        add_rows(connection, field_name, ("key", "folded_key", "name"), rows)
        found = connection.exec_driver_sql("SELECT key, folded_key, name FROM field_name").all()
    assert sorted(map(tuple, found)) == sorted(rows)


@pytest.mark.parametrize(
    "text", ["", "\\N", "\\.", "a\tb\nc\rd\\e", "\b\f\v", "\"{},'", "%s", "ä\N{SNOWMAN}\U0001f600"]
)
def test_rows_are_added_as_they_are(store: Store, text: str) -> None:
    rows = [(1, 7, text, b"1" + text.encode(), b"\0\\\xff", text, None), (2, 7, "x", b"2", b"", "", 3)]
    columns = ("id", "dataset_id", "name", "key", "folded_key", "type", "ordinal")
    with store.write() as connection:
        add_rows(connection, field, columns, rows)
        found = connection.exec_driver_sql(f"SELECT {', '.join(columns)} FROM field ORDER BY id").all()
    assert [tuple(row) for row in found] == rows


def test_of_slightly_more_than_can_be_remembered_most_is_known() -> None:
    made: list[Any] = []
    read = remembered_by_content(100 * 600)(lambda value: made.append(value) or value)  # type: ignore[func-returns-value]
    values = [f"{number:098}" for number in range(110)]  # of 100 bytes each, and 500 beside them
    for _ in range(20):
        assert [read(value) for value in values] == values
    assert len(made) < 20 * 110 / 3
    assert read("x" * 100_000) == "x" * 100_000
