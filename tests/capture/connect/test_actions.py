"""Requests of a Connect client: which parts are read, and which are refused in words."""

import pyspark
import pytest

from headwater.capture.connect.actions import action
from headwater.capture.connect.functions import with_literals
from headwater.capture.connect.merges import merge_clauses, merge_query
from headwater.capture.connect.plans import ExplainedPlan, explained_plan
from headwater.capture.connect.row_changes import assigned_columns, is_row_change, left_alone, row_change
from headwater.capture.connect.server import Server
from headwater.capture.connect.sources import data_sources, source_facts
from headwater.capture.connect.variables import ExecuteImmediate, immediate
from headwater.errors import PlanError
from headwater.plan.text import TextFacts

proto = pytest.importorskip("pyspark.sql.connect.proto", reason="needs pyspark[connect]")


def statement(query: str) -> "proto.Plan":
    plan = proto.Plan()
    if pyspark.__version__ < "4":
        plan.command.sql_command.sql = query
    else:
        plan.command.sql_command.input.sql.query = query
    return plan


@pytest.mark.parametrize("query", ["INSERT INTO t SELECT 1", "with x as (select 1) insert into t select * from x"])
def test_a_statement_that_may_write_is_an_action(query: str) -> None:
    found = action(statement(query))
    assert found is not None
    assert found.statement


@pytest.mark.parametrize(
    "query", ["DECLARE x INT", "/* 1 */ set var x = 1", "EXECUTE IMMEDIATE 'SELECT 1' INTO x", "BEGIN SET x = 1; END"]
)
def test_a_statement_that_fills_a_variable_is_an_action(query: str) -> None:
    found = action(statement(query))
    assert found is not None
    assert found.statement


def test_a_script_is_refused_in_words_that_do_not_repeat_it() -> None:
    found = action(statement("/* 1 */ label: BEGIN INSERT INTO t VALUES ('hunter2'); END"))
    assert found is not None
    with pytest.raises(PlanError) as refused:
        explained_plan(found, Server(None, 1.0))
    assert "script" in str(refused.value)
    assert "hunter2" not in str(refused.value)


def test_what_would_run_below_explain_is_never_explained() -> None:
    """From Spark 4.1 on the analysis of EXECUTE IMMEDIATE runs what is in its string."""
    found = action(statement("-- twice\n EXECUTE /* 1 */ IMMEDIATE 'INSERT INTO t SELECT 1'"))
    assert found is not None
    with pytest.raises(PlanError, match="to analyze it is to run it"):
        Server(None, 1.0).explained_statement(found.relation)


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        (
            "EXECUTE IMMEDIATE 'a ''b'' ?, ?' USING x, upper(session.`c d`)",
            ExecuteImmediate("a 'b' (system.session.`x`), (UPPER(system.session.`c d`))"),
        ),
        ("execute immediate 'a ' 'b' INTO x, session.y;", ExecuteImmediate("a b", ("x", "session.y"))),
        ("EXECUTE IMMEDIATE ':a, \\':a\\'' USING (1 AS a)", ExecuteImmediate("(1), ':a'")),
    ],
)
def test_the_statement_within_has_the_values_of_using(query: str, expected: ExecuteImmediate) -> None:
    assert immediate(query) == expected


@pytest.mark.parametrize("query", ["EXECUTE IMMEDIATE x", "EXECUTE IMMEDIATE 'INSERT INTO ' || x INTO y"])
def test_a_statement_in_an_expression_is_refused_in_words(query: str) -> None:
    with pytest.raises(PlanError, match="in an expression"):
        immediate(query)


@pytest.mark.parametrize(
    "query", ["SELECT 1", "SHOW TABLES", "CREATE OR REPLACE TEMP VIEW v AS SELECT 1", "CREATE FUNCTION f() RETURN 1"]
)
def test_a_statement_that_writes_no_dataset_is_none(query: str) -> None:
    assert action(statement(query)) is None


def test_a_write_names_its_target_and_how() -> None:
    plan = proto.Plan()
    write = plan.command.write_operation
    write.input.range.end = 3
    write.path, write.source, write.mode = "/data/out", "parquet", 2
    found = action(plan)
    assert found is not None
    assert (found.command, found.path, found.mode) == ("InsertIntoHadoopFsRelationCommand", "/data/out", "Overwrite")


def test_the_start_of_a_stream_names_its_sink_and_its_target() -> None:
    plan = proto.Plan()
    start = plan.command.write_stream_operation_start
    start.input.range.end = 3
    start.format, start.path, start.query_name = "parquet", "/data/out", "copy"
    found = action(plan)
    assert found is not None
    assert (found.command, found.sink, found.path, found.name) == (
        "WriteToStream",
        "FileStreamSink",
        "/data/out",
        "copy",
    )


def test_only_the_end_of_a_stream_is_an_action_on_it() -> None:
    plan = proto.Plan()
    command = plan.command.streaming_query_command
    command.query_id.run_id = "r"
    command.status = True
    assert action(plan) is None
    command.stop = True
    found = action(plan)
    assert found is not None
    assert (found.command, found.run) == ("StreamingQuery", "r")


NOTHING = (
    "SELECT NULL AS `a`, NULL AS `b`, NULL AS `c`, NULL AS `s` FROM c.t JOIN (SELECT a, b FROM u) AS v ON t.a = v.a"
)
CHANGES = {
    "UPDATE t AS x SET x.a = upper(b), c = c, s.f = 1 WHERE a > (SELECT max(b) FROM u)": (
        "SELECT UPPER(b) AS `a`, named_struct('f', 1) AS `s` FROM t AS x WHERE a > (SELECT MAX(b) FROM u)",
    ),
    "UPDATE c.t SET s.f = a, b = 2, S.g.h = b, t.s.i.j.k = 'x'": (
        "SELECT 2 AS `b`, named_struct('f', a, 'g.h', b, 'i.j.k', 'x') AS `s` FROM c.t",
    ),
    "DELETE FROM t": ("SELECT 1 FROM t",),
    "MERGE INTO c.t USING (SELECT a, b FROM u) v ON t.a = v.a WHEN MATCHED AND v.b > 1 THEN DELETE"
    " WHEN MATCHED THEN UPDATE SET * WHEN NOT MATCHED AND b < 3 THEN INSERT (a, s) VALUES (v.a, 'x')"
    " WHEN NOT MATCHED BY SOURCE THEN UPDATE SET b = t.b + 1": (
        NOTHING,
        f"{NOTHING} WHERE v.b > 1",
        NOTHING,
        "SELECT `a` AS `a`, `b` AS `b`, NULL AS `c`, NULL AS `s` FROM (SELECT a, b FROM u) AS v",
        "SELECT v.a AS `a`, NULL AS `b`, NULL AS `c`, 'x' AS `s` FROM (SELECT a, b FROM u) AS v WHERE b < 3",
        "SELECT NULL AS `a`, t.b + 1 AS `b`, NULL AS `c`, NULL AS `s` FROM c.t",
    ),
}


@pytest.mark.parametrize("statement", CHANGES)
def test_each_clause_of_a_statement_that_changes_rows_is_a_query(statement: str) -> None:
    assert is_row_change(statement)
    change, source = row_change(statement), ("a", "b")
    columns = change.columns(("a", "b", "c", "s"), source if "*" in statement else ())
    assert tuple(change.queries(columns, source)) == CHANGES[statement]


def test_columns_that_the_target_lacks_are_assigned_where_it_evolves() -> None:
    text = "INTO t USING u ON t.a = u.a WHEN NOT MATCHED THEN INSERT *"
    assert row_change(f"MERGE {text}").columns(("a",), ("a", "new")) == ("a",)
    assert row_change(f"MERGE WITH SCHEMA EVOLUTION {text}").columns(("a",), ("a", "new")) == ("a", "new")


@pytest.mark.parametrize("text", ["MERGE INTO t", "UPDATE", "DELETE t u v", "/* x */ -- y\n MERGE"])
def test_a_change_of_rows_that_cannot_be_read_is_refused_in_words(text: str) -> None:
    assert is_row_change(text)
    with pytest.raises(PlanError):
        row_change(text)


def test_the_reads_of_a_request_come_in_order() -> None:
    relation = proto.Relation()
    for side, path in ((relation.join.left, "/a"), (relation.join.right, "/b")):
        side.read.data_source.format = "parquet"
        side.read.data_source.paths.append(path)
    assert list(map(source_facts, data_sources(relation))) == [{"paths": ("/a",)}, {"paths": ("/b",)}]


def test_parameters_stand_in_the_text_of_a_statement_as_literals() -> None:
    relation = proto.Relation()
    relation.sql.query = "SELECT :n, a::int, ':n', `:n`, :other /* :n */ FROM t -- :n\nWHERE b = :s AND c > :at"
    relation.sql.args["n"].integer, relation.sql.args["s"].string, relation.sql.args["at"].date = 5, "it's", 3
    found = with_literals(relation)
    assert found.sql.query == (
        "SELECT 5, a::int, ':n', `:n`, :other /* :n */ FROM t -- :n\nWHERE b = 'it\\'s' AND c > NULL"
    )
    assert not found.sql.args
    relation = proto.Relation()
    relation.sql.query = "SELECT '?', ? FROM t WHERE a > ? AND b"
    relation.sql.pos_args.add().double, relation.sql.pos_args.add().boolean = 0.5, True
    assert with_literals(relation).sql.query == "SELECT '?', 0.5D FROM t WHERE a > TRUE AND b"


@pytest.mark.parametrize("command", ["MergeIntoCommand", "ReplaceData"])
def test_a_command_whose_text_says_too_little_has_no_lineage_rather_than_a_wrong_one(command: str) -> None:
    with pytest.raises(PlanError, match=f"The text of {command} does not say enough"):
        ExplainedPlan(f"{command} something\n+- LocalRelation [a#1]", TextFacts()).plan()


@pytest.mark.skipif(pyspark.__version__ < "4", reason="mergeInto is new in Spark 4")
@pytest.mark.parametrize(
    ("clause", "then", "action_type", "evolves", "expected"),
    [
        ("MATCHED", "UPDATE SET b = s.b", 4, False, ("b",)),
        ("MATCHED", "UPDATE SET *", 5, False, ("A", "b")),
        ("MATCHED", "UPDATE SET *", 5, True, ("A", "b", "New")),
        ("MATCHED", "DELETE", 1, False, ()),
        ("NOT MATCHED", "INSERT (b) VALUES (s.b)", 2, False, ("A", "b", "c")),
        ("NOT MATCHED", "INSERT *", 3, False, ("A", "b", "c")),
        ("NOT MATCHED", "INSERT *", 3, True, ("A", "b", "c", "New")),
    ],
)
def test_merge_into_assigns_the_columns_that_the_statement_does(
    clause: str, then: str, action_type: int, evolves: bool, expected: tuple[str, ...]
) -> None:
    target, source = ("A", "b", "c"), ("a", "B", "New")
    text = f"MERGE{' WITH SCHEMA EVOLUTION' * evolves} INTO t USING s ON t.a = s.a WHEN {clause} THEN {then}"
    assert row_change(text).columns(target, source) == expected
    command = proto.Command().merge_into_table_command
    command.target_table_name, command.with_schema_evolution = "t", evolves
    command.source_table_plan.read.named_table.unparsed_identifier = "s"
    actions = command.match_actions if clause == "MATCHED" else command.not_matched_actions
    merge = actions.add().merge_action
    merge.action_type = action_type
    if action_type in (2, 4):
        assignment = merge.assignments.add()
        assignment.key.unresolved_attribute.unparsed_identifier = "t.b"
        assignment.value.unresolved_attribute.unparsed_identifier = "s.b"
    clauses = merge_clauses(command, target)
    assert assigned_columns(clauses, target, source, evolves=evolves) == expected
    queries = [merge_query(clause, expected, source) for clause in clauses]
    assert {len(one.project.expressions) for one in queries} == {len(expected) or 1}


@pytest.mark.skipif(pyspark.__version__ < "4", reason="mergeInto is new in Spark 4")
def test_merge_into_assigns_a_struct_whose_fields_it_sets() -> None:
    command = proto.Command().merge_into_table_command
    merge = command.match_actions.add().merge_action
    merge.action_type = 4
    for key, value in (("t.s.a", "x"), ("`s`.b.c", "y"), ("t.n", "z")):
        assignment = merge.assignments.add()
        assignment.key.unresolved_attribute.unparsed_identifier = key
        assignment.value.unresolved_attribute.unparsed_identifier = value
    values = merge_clauses(command, ("n", "s"))[1].values
    assert values["n"].unresolved_attribute.unparsed_identifier == "z"
    packed = values["s"].unresolved_function.arguments
    assert [one.unresolved_attribute.unparsed_identifier for one in packed] == ["x", "y"]


def test_generated_columns_are_assigned_where_a_clause_names_them() -> None:
    text = "MERGE INTO t USING s ON t.a = s.a WHEN MATCHED THEN UPDATE SET b = s.b WHEN NOT MATCHED THEN INSERT"
    change = row_change(f"{text} (a, b) VALUES (s.a, s.b)")
    assert change.columns(("a", "b", "day"), (), ("day",)) == ("a", "b")
    assert left_alone(change.clauses, ("a", "b", "day"), ()) == ("a", "day")
    assert row_change(f"{text} (a, DAY) VALUES (s.a, s.d)").columns(("a", "b", "day"), (), ("day",)) == (
        "a",
        "b",
        "day",
    )
    star = row_change(f"{text} *")
    assert star.columns(("a", "b", "day"), ("a", "Day"), ("day",)) == ("a", "b", "day")
    assert star.columns(("a", "b", "day"), ("a", "b"), ("day",)) == ("a", "b")
