"""What is remembered of events changes nothing: neither how they are written, nor what they say."""

from copy import deepcopy
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from headwater.model import ColumnLineage, Dataset, Dependency, InputField, Subtype, Transformation
from headwater.store import Store, event_of, in_parts, read_event
from headwater.store.bulk import add_rows
from headwater.store.json_text import canonical
from headwater.store.numbering import Edges, Ids
from headwater.store.schema import field_name

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
    return words.told("job", output, run="one")


@given(EVENTS)
@settings(max_examples=150, deadline=None)
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
    def masking(given: Any) -> bool:
        output = words.written("silver", {"x": ["bronze.x"]})
        output["facets"]["columnLineage"]["fields"]["x"]["inputFields"][0]["transformations"][0]["masking"] = given
        [told] = read_event(words.told("job", output)).outputs
        return bool(told.lineage and told.lineage.transformations[0].masking)

    assert [masking(given) for given in (True, 1, True, 1.0, False, 0)] == [True, False, True, False, False, False]


def test_edges_are_those_of_the_ids_that_names_have_now() -> None:
    bronze, way = Dataset("file", "/bronze"), Transformation(Subtype.IDENTITY)
    inputs = [frozenset({Dependency(InputField(bronze, name), way)}) for name in "ab"]
    lineage = ColumnLineage(dict(zip("xy", inputs, strict=True)), inputs[0])
    same = ColumnLineage(dict(zip("xy", inputs, strict=True)), inputs[0])
    one, other = Ids(1, (10, 11), ((20, 21),), (30,)), Ids(2, (10, 12), ((21, 20),), (31,))
    digests = [Edges((lineage, ids)).digest for ids in (one, other, one, one)]
    assert digests == [Edges((same, one), (same, one)).digest, Edges((same, other)).digest, digests[0], digests[0]]
    assert digests[0] != digests[1]
    assert Edges((lineage, one)).fields == {(10, 20, 30), (11, 21, 30)}
    assert Edges((lineage, one)).dataset == {(1, 20, 30)}
    assert Edges((lineage, other)).fields == {(10, 21, 31), (12, 20, 31)}
    assert (Edges((lineage, one)) | Edges((same, other))).dataset == {(1, 20, 30), (2, 21, 31)}


@pytest.mark.parametrize("count", [0, 1, 49, 50, 51, 123])
def test_rows_are_added_however_many(store: Store, count: int) -> None:
    rows = [(b"%d" % number, b"", f"name {number}") for number in range(count)]
    with store.write() as connection:
        add_rows(connection, field_name, ("key", "folded_key", "name"), rows)
        found = connection.exec_driver_sql("SELECT key, folded_key, name FROM field_name").all()
    assert sorted(map(tuple, found)) == sorted(rows)
