"""Answers about an operator become its rows and outputs; open questions make edges opaque and have a gap."""

from collections.abc import Iterable, Sequence

from hypothesis import given
from hypothesis import strategies as st

from headwater.ext import EVERY_ROW, ExpressionDependency, InputRelation, NodeLineage, OutputRelation
from headwater.extract.extension_rows import extension_outputs, extension_rows
from headwater.extract.operators.table import scope_of
from headwater.extract.scope import Extraction, ExtractSettings, Rows, attribute
from headwater.extract.trace import flat, source
from headwater.model import (
    Dataset,
    DatasetDescription,
    Facet,
    InputField,
    Output,
    ReplacedRows,
    SchemaField,
    Subtype,
    Transformation,
)
from headwater.plan import Expression, Operator

BELOW = Dataset("file", "/below")
TABLE = Dataset("db", "table")
GROUP_BY, MASKED = Transformation(Subtype.GROUP_BY), Transformation(Subtype.TRANSFORMATION, masking=True)


def column(key: int, name: str) -> Expression:
    return Expression("AttributeReference", values={"id": key, "name": name, "type": "int"})


def rows(*columns: tuple[int, str]) -> Rows:
    output = tuple(attribute(column(key, name)) for key, name in columns)
    return Rows(output, {key: source(InputField(BELOW, name)) for key, name in columns})


def operator(*columns: tuple[int, str], **references: object) -> Operator:
    output = tuple(column(key, name) for key, name in columns)
    return Operator("com.example.Custom", references={"output": output, **references})


def extraction() -> Extraction:
    return Extraction(ExtractSettings(), {})


def answered(
    node: Operator, below: Sequence[Rows], lineage: NodeLineage
) -> tuple[dict[str, set[str]], set[str], set[str]]:
    """The edges of each column, those of every row, and whys of gaps."""
    state = extraction()
    found = extension_rows(node, tuple(below), state, lineage)
    columns = {c.name: as_text(flat(found.columns[c.expr_id])) for c in found.output}
    return columns, as_text(found.deciding), {gap.why.partition(":")[0] for gap in state.gaps}


def as_text(paths: Iterable[object]) -> set[str]:
    def text(origin: InputField, how: Transformation) -> str:
        marks = " masking" * how.masking + " opaque" * how.opaque
        return f"{origin.dataset.name.strip('/')}.{origin.name} {how.subtype.value}{marks}"

    return {text(*path) for path in paths}  # type: ignore[misc]


def test_dependencies_are_followed_by_expr_id() -> None:
    sum_of_both = Expression("Add", (column(1, "a"), column(2, "b")))
    dependencies = (
        ExpressionDependency(10, (sum_of_both,)),
        ExpressionDependency(11, (1,)),
        ExpressionDependency(12, (2,), Transformation(Subtype.IDENTITY)),
        ExpressionDependency(13, (column(1, "a"), 2), MASKED),
        ExpressionDependency(14, ()),
        ExpressionDependency(EVERY_ROW, (1,), GROUP_BY),
        ExpressionDependency(EVERY_ROW, (column(2, "b"),), MASKED),
    )
    node = operator((10, "v"), (11, "w"), (12, "x"), (13, "y"), (14, "z"), (1, "a"))
    assert answered(node, [rows((1, "a"), (2, "b"))], NodeLineage(dependencies=dependencies)) == (
        {
            "v": {"below.a TRANSFORMATION", "below.b TRANSFORMATION"},
            "w": {"below.a TRANSFORMATION"},
            "x": {"below.b IDENTITY"},
            "y": {"below.a TRANSFORMATION masking", "below.b TRANSFORMATION masking"},
            "z": set(),
            "a": {"below.a IDENTITY"},
        },
        {"below.a GROUP_BY", "below.b FILTER masking"},
        set(),
    )


def test_dependencies_may_go_through_ids_that_only_they_know() -> None:
    dependencies = (ExpressionDependency(10, (7,), Transformation(Subtype.IDENTITY)), ExpressionDependency(7, (1,)))
    found, _, gaps = answered(operator((10, "v")), [rows((1, "a"))], NodeLineage(dependencies=dependencies))
    assert (found, gaps) == ({"v": {"below.a TRANSFORMATION"}}, set())


def test_a_circle_of_dependencies_is_opaque() -> None:
    circle = (ExpressionDependency(10, (7,)), ExpressionDependency(7, (10,)))
    found, _, gaps = answered(operator((10, "v")), [rows((1, "a"))], NodeLineage(dependencies=circle))
    assert found == {"v": {"below.a TRANSFORMATION opaque"}}
    assert len(gaps) == 1


def test_what_is_left_open_is_opaque_and_has_a_gap() -> None:
    dependencies = (ExpressionDependency(10, (99,)), ExpressionDependency(11, (column(98, "gone"),)))
    node = operator((10, "v"), (11, "w"), (12, "x"))
    found, _, gaps = answered(node, [rows((1, "a"))], NodeLineage(dependencies=dependencies))
    assert found == {key: {"below.a TRANSFORMATION opaque"} for key in "vwx"}
    assert "no extension describes what x is made of" in gaps
    assert {"99" in gap for gap in gaps} == {True, False}


def test_without_dependencies_any_column_may_be_made_of_any() -> None:
    lineage = NodeLineage((InputRelation(DatasetDescription(TABLE, (SchemaField("k"),))),))
    found, every_row, gaps = answered(operator((1, "a")), [rows((1, "a"), (2, "b"))], lineage)
    opaque = {"below.a TRANSFORMATION opaque", "below.b TRANSFORMATION opaque", "table.k TRANSFORMATION opaque"}
    assert found == {"a": {"below.a IDENTITY", *opaque}}
    assert every_row == {edge.replace("TRANSFORMATION", "FILTER") for edge in opaque}
    assert len(gaps) == 1


def test_a_relation_has_its_fields_by_name_or_as_the_extension_answers() -> None:
    leaf = operator((10, "v"), (11, "w"))
    described = DatasetDescription(TABLE)
    by_name = NodeLineage((InputRelation(described),))
    named = NodeLineage((InputRelation(described, {10: "x"}),))
    assert answered(leaf, [], by_name) == ({"v": {"table.v IDENTITY"}, "w": {"table.w IDENTITY"}}, set(), set())
    found, _, gaps = answered(leaf, [], named)
    assert found == {"v": {"table.x IDENTITY"}, "w": {"table.x TRANSFORMATION opaque"}}
    assert gaps == {"no extension describes what w is made of"}


def test_a_field_without_a_column_goes_by_an_id_below_minus_one() -> None:
    lineage = NodeLineage(
        (InputRelation(DatasetDescription(TABLE), {-2: "rate"}),), dependencies=(ExpressionDependency(10, (1, -2)),)
    )
    found, _, gaps = answered(operator((10, "v")), [rows((1, "a"))], lineage)
    assert (found, gaps) == ({"v": {"below.a TRANSFORMATION", "table.rate TRANSFORMATION"}}, set())


def test_datasets_that_are_read_become_inputs() -> None:
    state = extraction()
    extension_rows(operator((10, "v")), (), state, NodeLineage((InputRelation(DatasetDescription(TABLE)),)))
    assert list(state.datasets) == [DatasetDescription(TABLE, (SchemaField("v"),))]


def relation(key: int, name: str) -> Operator:
    facts = {"class": "HadoopFsRelation", "paths": ["file:/delegate"]}
    return Operator("LogicalRelation", references={"output": (column(key, name),)}, values={"relation": facts})


def test_a_delegate_is_read_as_it_was_worked_out() -> None:
    delegate, state = relation(5, "d"), extraction()
    state.results[delegate] = Rows(
        (attribute(column(5, "d")),), {5: source(InputField(Dataset("file", "/delegate"), "d"))}
    )
    added = DatasetDescription(Dataset("", ""), version="7", facets=(Facet("mine", "{}"),))
    inputs = (InputRelation(delegate, {10: "d", 11: "no"}, added),)
    found = extension_rows(operator((10, "v"), (11, "w"), (5, "d")), (), state, NodeLineage(inputs))
    assert {c.name: as_text(flat(found.columns[c.expr_id])) for c in found.output} == {
        "v": {"delegate.d IDENTITY"},
        "w": {"delegate.d TRANSFORMATION opaque"},
        "d": {"delegate.d IDENTITY"},
    }
    assert [(one.dataset.name, one.version, one.facets) for one in state.datasets] == [
        ("/delegate", "7", (Facet("mine", "{}"),))
    ]
    assert [gap.why for gap in state.gaps] == ["it puts out no column 'no', which its description names"]


def test_columns_of_one_name_that_a_delegate_puts_out_are_both_behind_it() -> None:
    delegate, state = Operator("Join"), extraction()
    state.results[delegate] = rows((5, "id"), (6, "x"))
    state.results[delegate].output[1].name = "id"
    for inputs in (InputRelation(delegate), InputRelation(delegate, {10: "id"})):
        found = extension_rows(operator((10, "id")), (), state, NodeLineage((inputs,)))
        assert as_text(flat(found.columns[10])) == {"below.id IDENTITY", "below.x IDENTITY"}


def test_an_expr_id_that_comes_from_two_children_is_either() -> None:
    left, right = rows((1, "a")), Rows((attribute(column(1, "a")),), {1: source(InputField(TABLE, "k"))})
    for below in ((left, right), (right, left)):
        node = operator((10, "v"), (1, "a"))
        found, _, gaps = answered(node, below, NodeLineage(dependencies=(ExpressionDependency(10, (1,)),)))
        assert found == {
            "v": {"below.a TRANSFORMATION", "table.k TRANSFORMATION"},
            "a": {"below.a IDENTITY", "table.k IDENTITY"},
        }
        assert gaps == set()
        assert as_text(flat(scope_of(below, extraction()).columns[1])) == found["a"]


def test_above_others_a_column_is_not_silently_a_field_of_a_dataset_that_is_read_too() -> None:
    lineage = NodeLineage((InputRelation(DatasetDescription(TABLE)),), (), (ExpressionDependency(10, (1,)),))
    found, _, gaps = answered(operator((10, "v"), (11, "w")), [rows((1, "a"))], lineage)
    assert found == {"v": {"below.a TRANSFORMATION"}, "w": {"below.a TRANSFORMATION opaque"}}
    assert gaps == {"no extension describes what w is made of"}
    state = extraction()
    extension_rows(operator((10, "v"), (11, "w")), (rows((1, "a")),), state, lineage)
    assert next(iter(state.gaps)).why.endswith("every input column counts, but no field of table was named")


def test_a_leaf_that_reads_a_dataset_and_another_operator_is_opaque() -> None:
    delegate, state = relation(5, "v"), extraction()
    state.results[delegate] = rows((5, "v"))
    both = (InputRelation(delegate), InputRelation(DatasetDescription(TABLE, (SchemaField("v"),))))
    found = extension_rows(operator((10, "v")), (), state, NodeLineage(both))
    assert as_text(flat(found.columns[10])) == {"below.v TRANSFORMATION opaque", "table.v TRANSFORMATION opaque"}
    assert len(state.gaps) == 1


def test_who_cannot_speak_of_rows_leaves_them_open() -> None:
    dependencies = (ExpressionDependency(10, (1,)),)
    for unseen, expected in ((False, set()), (True, {"below.a FILTER opaque", "below.b FILTER opaque"})):
        lineage = NodeLineage(dependencies=dependencies, unseen_rows=unseen)
        found, every_row, _ = answered(operator((10, "v")), [rows((1, "a"), (2, "b"))], lineage)
        assert (found, every_row) == ({"v": {"below.a TRANSFORMATION"}}, expected)
    leaf = NodeLineage(
        (InputRelation(DatasetDescription(TABLE), {7: "k"}),), (), (ExpressionDependency(10, (7,)),), True
    )
    assert answered(operator((10, "v")), [], leaf) == ({"v": {"table.k TRANSFORMATION"}}, set(), set())


def test_a_delegate_that_is_not_in_the_plan_is_a_gap() -> None:
    _, _, gaps = answered(operator((10, "v")), [rows((1, "a"))], NodeLineage((InputRelation(relation(5, "d")),)))
    assert "it is described as an input, but it is not in the plan" in gaps


def written(node: Operator, below: Rows, *outputs: OutputRelation, **more: object) -> tuple[list[Output], set[str]]:
    state, lineage = extraction(), NodeLineage(outputs=outputs, **more)  # type: ignore[arg-type]
    if (query := node.operator("query")) is not None:
        state.results[query] = below
    state.results[node] = extension_rows(node, (), state, lineage)
    found = list(extension_outputs(node, state, lineage))
    return found, {gap.why.partition(":")[0] for gap in state.gaps}


def edges(output: Output) -> dict[str, set[str]]:
    return {name: as_text((e.input, e.transformation) for e in found) for name, found in output.lineage.fields.items()}


def test_without_fields_the_columns_of_the_query_are_written() -> None:
    command = Operator("com.example.Write", references={"query": operator()}, values={"overwrite": True})
    (found,), gaps = written(command, rows((1, "a")), OutputRelation(DatasetDescription(TABLE)))
    schema = (SchemaField("a", "int"),)
    expected = DatasetDescription(TABLE, schema, lifecycle="OVERWRITE", replaces=ReplacedRows.SOME)
    assert found.description == expected
    assert (edges(found), gaps) == ({"a": {"below.a IDENTITY"}}, set())


def test_fields_are_written_by_expr_id_also_one_that_is_unknown() -> None:
    command = Operator("com.example.Write", references={"query": operator()})
    answer = OutputRelation(DatasetDescription(TABLE), (("x", 1), ("y", 99), ("z", 10)))
    made = (ExpressionDependency(10, (1,)),)
    (found,), gaps = written(command, rows((1, "a")), answer, dependencies=made)
    assert edges(found) == {
        "x": {"below.a IDENTITY"},
        "y": {"below.a TRANSFORMATION opaque"},
        "z": {"below.a TRANSFORMATION"},
    }
    assert gaps == {"no extension describes what y is made of"}


def test_the_columns_of_operators_are_written_beside_fields() -> None:
    query, state = operator(), extraction()
    state.results[query], delegate = rows((1, "a"), (2, "b")), operator((2, "b"), (1, "a"))
    state.results[delegate] = rows((2, "b"), (1, "a"))
    command = Operator("com.example.Write", references={"query": query})
    lineage = NodeLineage(outputs=(OutputRelation(DatasetDescription(TABLE), (("x", 1),), columns_of=(delegate,)),))
    state.results[command] = extension_rows(command, (), state, lineage)
    (found,) = extension_outputs(command, state, lineage)
    assert edges(found) == {"x": {"below.a IDENTITY"}, "b": {"below.b IDENTITY"}, "a": {"below.a IDENTITY"}}
    assert state.gaps == {}


def test_columns_of_an_operator_that_has_none_are_those_of_the_query() -> None:
    command, unknown = Operator("com.example.Write", references={"query": operator()}), Operator("com.example.Unknown")
    answer = OutputRelation(DatasetDescription(TABLE), (("x", 1),), columns_of=(unknown,))
    (found,), gaps = written(command, rows((1, "a"), (2, "b")), answer)
    assert edges(found).keys() == {"x", "a", "b"}
    assert gaps == {"its columns are described as written, but they are not known"}


def test_a_delegate_says_what_is_written_and_its_version_is_the_one_before() -> None:
    target = relation(5, "d")
    target.values = {"relation": {**target.facts("relation"), "version": "3"}}
    added = DatasetDescription(Dataset("", ""), lifecycle="OVERWRITE", facets=(Facet("mine", "{}"),))
    command = Operator("com.example.ReplaceData", references={"query": operator(), "table": target})
    (found,), gaps = written(command, rows((1, "a")), OutputRelation(target, added=added))
    assert found.description.dataset == Dataset("file", "/delegate")
    assert (found.description.lifecycle, found.description.version, found.previous) == ("OVERWRITE", "", "3")
    assert (found.description.facets, gaps) == ((Facet("mine", "{}"),), set())


def test_a_delegate_that_is_no_dataset_is_a_gap() -> None:
    command = Operator("com.example.Write", references={"query": operator()})
    (found,), gaps = written(command, rows((1, "a")), OutputRelation(Operator("com.example.Unknown")))
    assert (edges(found), gaps) == ({"a": {"below.a IDENTITY"}}, {"the dataset that is written could not be named"})


keys = st.integers(0, 6)
dependency = st.builds(ExpressionDependency, keys, st.lists(keys, max_size=3).map(tuple))


@given(st.none() | st.lists(dependency, max_size=6).map(tuple), st.lists(keys, unique=True, max_size=5))
def test_no_column_is_left_without_a_trace_or_a_word(
    dependencies: tuple[ExpressionDependency, ...] | None, shown: list[int]
) -> None:
    """Whatever an extension answers: a column has edges, or depends on nothing, or on others of which that is so."""
    node = operator(*((key, f"c{key}") for key in shown))
    found, _, _ = answered(node, [rows((0, "a"), (1, "b"))], NodeLineage(dependencies=dependencies))
    empty = {one.output for one in dependencies or () if not one.inputs}
    if not empty:
        assert all(found.values())
