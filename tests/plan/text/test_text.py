"""Plans from the text of EXPLAIN EXTENDED: what the text is like, and what it hides."""

import pytest

from headwater.errors import PlanError
from headwater.extract import column_lineage
from headwater.model import ColumnLineage, Dependency, Gap
from headwater.plan.text import TextFacts, analyzed_plan, decode_text, tables_of

FACTS = TextFacts({"c.db.t": {"identifier": ("c", "db", "t"), "types": {"a": "int", "b": "string"}}})
RELATION = "Relation c.db.t[a#1,b#2] parquet"


def lineage(*lines: str) -> tuple[ColumnLineage, tuple[Gap, ...]]:
    return column_lineage(decode_text("\n".join(lines), FACTS))


def edges(*lines: str) -> dict[str, list[str]]:
    """The edges of each column, and of the whole result under ``*``; there must be no gap."""
    found, gaps = lineage(*lines)
    assert gaps == ()
    every = {**found.fields, "*": found.dataset} if found.dataset else found.fields
    return {name: sorted(map(written, edges)) for name, edges in every.items()}


def written(edge: Dependency) -> str:
    return f"{edge.transformation.subtype.value} {edge.input.name}"


@pytest.mark.parametrize(
    ("item", "expected"),
    [
        ("a#1", ["IDENTITY a"]),
        ("cast(a#1 as int) AS a#9", ["IDENTITY a"]),
        ("cast(a#1 as decimal(10,2)) AS a#9", ["TRANSFORMATION a"]),
        ("CASE WHEN (a#1 > 1) THEN b#2 ELSE none END AS x#9", ["CONDITIONAL a", "TRANSFORMATION b"]),
        ("if ((a#1 > 1)) b#2 else none AS x#9", ["CONDITIONAL a", "TRANSFORMATION b"]),
        ("(a#1 + 1) AS count(a, 1) AS x#9L", ["TRANSFORMATION a"]),
        ("named_struct(one, a#1, two, b#2).two AS x#9", ["IDENTITY b"]),
        ("f(b#2)#77 AS x#9", ["TRANSFORMATION b"]),
        (
            "transform(b#2, lambdafunction((lambda x#5 + a#1), lambda x#5, false)) AS y#9",
            ["TRANSFORMATION a", "TRANSFORMATION b"],
        ),
        ("concat(b#2, ', ') AS x#9", ["TRANSFORMATION b"]),
        (
            "sum(a#1) windowspecdefinition(b#2, specifiedwindowframe(RowFrame, -1, currentrow$())) AS x#9",
            ["AGGREGATION a", "WINDOW b"],
        ),
    ],
)
def test_an_expression(item: str, expected: list[str]) -> None:
    (found,) = edges(f"Project [{item}]", f"+- {RELATION}").values()
    assert found == expected


def test_a_bracket_in_a_literal_makes_the_edges_coarser_with_a_gap() -> None:
    found, gaps = lineage("Project [split(b#2, (, -1) AS x#9]", f"+- {RELATION}")
    assert {(edge.input.name, edge.transformation.opaque) for edge in found.fields["x"]} == {("b", True)}
    assert [gap.kind for gap in gaps] == ["expression"]


@pytest.mark.parametrize("literal", ["(", "[(", ")", "]"])
def test_a_bracket_in_a_literal_hides_no_column(literal: str) -> None:
    found, gaps = lineage(f"Project [a#1, split(b#2, {literal}, -1) AS x#9, upper(a#1) AS y#10]", f"+- {RELATION}")
    assert {edge.input.name for edge in found.fields["x"]} >= {"b"}
    assert {edge.input.name for edge in found.fields["y"]} >= {"a"}
    assert "a" in found.fields
    assert gaps


def test_a_literal_of_two_lines_is_no_operator() -> None:
    assert edges("Project [concat(b#2, one", "two) AS x#9]", f"+- {RELATION}") == {"x": ["TRANSFORMATION b"]}


def test_a_subquery_stands_deeper_than_the_child() -> None:
    found = edges(
        "Project [a#1, scalar-subquery#8 [] AS top#9]",
        ":  +- Aggregate [max(b#4) AS max(b)#5]",
        ":     +- Relation c.db.t[a#3,b#4] parquet",
        f"+- {RELATION}",
    )
    assert found == {"a": ["IDENTITY a"], "top": ["AGGREGATION b"]}


def test_a_query_in_the_body_of_a_sql_function_is_not_missed() -> None:
    found, gaps = lineage(
        "Project [spent(a#1) AS x#9]",
        ":  +- Aggregate [sum(b#4) AS sum(b)#5]",
        ":     +- Relation c.db.t[a#3,b#4] parquet",
        f"+- {RELATION}",
    )
    assert {edge.input.name for edge in found.fields["x"]} == {"a", "b"}
    assert [gap.what for gap in gaps] == ["the body of a SQL function"]


def test_an_operator_that_is_not_read_makes_every_column_depend_on_every_input() -> None:
    found, gaps = lineage("Project [a#1]", "+- NearestBy (b#2 < 3), 1", f"   +- {RELATION}")
    assert {edge.input.name for edge in found.fields["a"] if edge.transformation.opaque} == {"a", "b"}
    assert [(gap.kind, gap.what) for gap in gaps] == [("operator", "NearestBy, whose text is not read")]


def test_a_python_function_without_a_name_is_one() -> None:
    assert edges("Project [upper(<lambda>(<lambda>(a#1)#5, b#2)#6) AS x#9]", f"+- {RELATION}") == {
        "x": ["TRANSFORMATION a", "TRANSFORMATION b"]
    }


def test_a_function_is_no_class_of_the_same_name() -> None:
    assert edges("Project [update_fields(a#1, WithField(code, upper(b#2))) AS x#9]", f"+- {RELATION}") == {
        "x": ["TRANSFORMATION a", "TRANSFORMATION b"]
    }


def test_the_line_of_columns_above_a_query_is_no_operator() -> None:
    assert edges("a: int", "Project [a#1]", f"+- {RELATION}") == {"a": ["IDENTITY a"]}


def test_a_text_that_was_cut_is_refused() -> None:
    with pytest.raises(PlanError, match="maxToStringFields"):
        decode_text("Project [a#1, ... 275 more fields]\n+- LocalRelation [a#1]")


def test_a_failed_analysis_is_no_plan() -> None:
    with pytest.raises(PlanError, match="analyzed plan"):
        analyzed_plan(
            "== Analyzed Logical Plan ==\norg.apache.spark.sql.AnalysisException: [TABLE_OR_VIEW_NOT_FOUND] …"
        )


def test_tables_are_found_by_their_full_names() -> None:
    text = f"Join Inner\n:- {RELATION}\n+- RelationV2[x#1] ice.d.t ice.d.t\n+- Relation [y#3] parquet"
    assert tables_of(text) == ("c.db.t", "ice.d.t")


@pytest.mark.parametrize("value", ["hunter2)x", "hunter2(", "hunter2", "hunter2, (x", "'hunter2)#4, (b\\'c'"])
@pytest.mark.parametrize("call", ["variablereference(system.session.s={})", "concat(name#4, {})"])
def test_a_gap_has_no_value_of_a_text_that_could_not_be_read(call: str, value: str) -> None:
    project = f"Project [{call.format(value)} AS x#1, (id#2 + 1) AS y#3]"
    plan = decode_text(f"{project}\n+- Relation spark_catalog.default.t[id#2,name#4] parquet")
    found, gaps = column_lineage(plan)
    assert "hunter2" not in str((found, gaps))
    assert {edge.input.name for edge in found.fields["y"]} >= {"id"}


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("array(x, a#1, y, b#2)[1]", "a"),
        ("array(f(x), y, a#1, b#2)[1]", "ab"),  # may be one literal, 'f(x), y'
        ("map(k, a#1, j, b#2)[k]", "a"),
        ("map(k, g(1), l, a#1, j, b#2)[j]", "ab"),
        ("element_at(map(k, a#1, j, b#2), k, None, false)", "a"),
        ("element_at(map(k, a#1, j, b#2), k, z, None, false)", "ab"),
        ("array_insert(array(a#1), b#2, x, y, false)[0]", "ab"),
        ("struct(k, v, n, a#1, m, b#2).N", "a"),
        ("struct(k, v, w, x, n, a#1, m, b#2).n", "ab"),  # may be two fields, the first 'v, w, x'
        ("struct(k, v AS k#7, w, x AS w#8, n, a#1, m, b#2).m", "b"),
        ("cast(struct(k, a#1, j, b#2) as struct<q:int,r:int>).r", "b"),
        ("cast(struct(k, a#1, j, b#2) as struct<p, q:int,r:int>).r", "ab"),
        ("update_fields(struct(k, a#1, j, b#2), WithField(k, c#3), dropfield(j)).k", "c"),
        ("update_fields(struct(k, a#1, j, b#2), WithField(k, c#3), dropfield(x, y)).k", "abc"),
        ("collect_list(struct(k, a#1, j, b#2), 0, 0).k", "a"),
        ("collect_list(distinct struct(k, a#1, j, b#2), 0, 0).k", "ab"),
        ("max(struct(k, a#1, j, b#2)).k", "a"),
        ("max(struct(k, a#1, j, collate(b#2, UTF8_LCASE))).k", "ab"),
        ("transform(array(struct(k, a#1, j, b#2)), lambdafunction(lambda x#5.j, lambda x#5, false))[0]", "b"),
        ("of_others(array(a#1), lambdafunction((lambda p#5 + b#2), lambda p#5, false))", "ab"),
        ("arrays_zip(array(a#1), array(b#2), 0, 1)[0].1", "b"),
        ("arrays_zip(array(a#1), array(b#2), x, y, z, u)[0].z", "ab"),
    ],
)
def test_leaves_are_apart_where_a_text_is_sure_of_their_places(value: str, expected: str) -> None:
    """A literal has no quotes: what may be one with commas leaves it open which value stands where."""
    text = f"Project [{value} AS x#9]\n+- Relation spark_catalog.default.t[a#1,b#2,c#3] parquet"
    found, _ = column_lineage(decode_text(text))
    assert {edge.input.name for edge in found.fields["x"]} == set(expected)
