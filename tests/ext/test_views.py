"""A plan as an extension sees it: the same, and not to be changed; and what is taken from it."""

from collections.abc import Mapping
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.ext.extensions import plan_of

from headwater.errors import ExtensionError
from headwater.ext import ExpressionDependency, InputRelation, NodeLineage
from headwater.ext.lineage import OutputRelation
from headwater.ext.validation import MOST, checked, checked_facets
from headwater.ext.views import Views
from headwater.model import Dataset, DatasetDescription, Facet, SchemaField, Subtype, Transformation
from headwater.plan import Expression, Operator


def test_a_view_shows_what_the_node_shows() -> None:
    views = Views()
    for node in plan_of("opaque", "map_in_pandas").nodes:
        seen = views.of(node)
        assert (seen.name, seen.children, dict(seen.values)) == (node.name, node.children, dict(node.values))
        assert {name: views.within(value) for name, value in node.references.items()} == dict(seen.references)
        assert isinstance(seen, type(node))
        assert seen == node
        assert {node: 1}[seen] == {seen: 1}[node] == 1


def test_a_view_cannot_be_changed() -> None:
    seen: Any = Views().of(plan_of("opaque", "map_in_pandas").nodes[-1])
    for name in ("name", "children", "references", "values", "other"):
        with pytest.raises(AttributeError):
            setattr(seen, name, ())
    with pytest.raises(TypeError):
        seen.values["a"] = 1
    seen.values["tableDesc"]["identifier"] = ()
    assert plan_of("opaque", "map_in_pandas").nodes[-1].facts("tableDesc")["identifier"]


def test_an_expression_of_ones_own_may_hold_columns_of_the_plan() -> None:
    column = Views().of(plan_of("opaque", "map_in_pandas").nodes[0])
    assert checked(Expression("Add", (column, column)), Expression).children == (column, column)
    with pytest.raises(ExtensionError, match="in it"):
        checked(Expression("Add", (Operator("Project"),)), Expression)


def test_an_answer_without_end_is_refused() -> None:
    with pytest.raises(ExtensionError, match=f"more than {MOST}"):
        checked(iter(int, 1), tuple[int, ...])


texts = st.text(max_size=5)
datasets = st.builds(Dataset, texts, texts)
described = st.builds(
    DatasetDescription,
    datasets,
    st.lists(st.builds(SchemaField, texts, texts), max_size=2).map(tuple),
    facets=st.lists(st.builds(Facet, texts, texts), max_size=2).map(tuple),
)
steps = st.none() | st.builds(Transformation, st.sampled_from(Subtype), st.booleans(), st.booleans(), texts)
ids = st.integers(-5, 5)
inputs = st.builds(InputRelation, described, st.dictionaries(ids, texts, max_size=2), st.none() | described)
outputs = st.builds(OutputRelation, described, st.lists(st.tuples(texts, ids), max_size=2).map(tuple))
dependencies = st.builds(ExpressionDependency, ids, st.lists(ids, max_size=2).map(tuple), steps)
lineages = st.builds(
    NodeLineage,
    st.lists(inputs, max_size=2).map(tuple),
    st.lists(outputs, max_size=2).map(tuple),
    st.none() | st.lists(dependencies, max_size=2).map(tuple),
)


@given(lineages)
def test_what_is_right_is_taken_as_it_is(lineage: NodeLineage) -> None:
    assert checked(lineage, NodeLineage) == lineage


anything = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | texts | st.binary(max_size=3) | lineages | datasets,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3) | st.tuples(inner, inner),
    max_leaves=6,
)


@given(anything, st.sampled_from([NodeLineage, InputRelation, tuple[ExpressionDependency, ...], Dataset]))
def test_whatever_comes_is_taken_or_refused_with_a_word(value: Any, kind: Any) -> None:
    try:
        found = checked(value, kind)
    except ExtensionError as error:
        message = str(error)
    else:
        message = "expected"
        assert isinstance(found, tuple) if kind == tuple[ExpressionDependency, ...] else type(found) is kind
    assert "expected" in message or "more than" in message


@given(st.dictionaries(texts, anything, max_size=3) | anything)
def test_facets_are_json_objects_or_refused(value: Any) -> None:
    try:
        found = checked_facets(value)
    except ExtensionError:
        return
    assert isinstance(value, Mapping)
    assert all(name and text.startswith("{") for name, text in found)
