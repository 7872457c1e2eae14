"""The names of jobs: a function of the application and the target alone."""

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headwater.capture.rows import ExecutionRow
from headwater.capture.runs.executions import EarlierWrites, Executions
from headwater.capture.runs.job_names import JobNamer
from headwater.extract import Origin, Stream
from headwater.model import (
    ColumnLineage,
    Dataset,
    DatasetDescription,
    Dependency,
    Engine,
    Gap,
    InputField,
    Job,
    Output,
    ReplacedRows,
    Run,
    RunMoment,
    RunState,
    Statement,
    Subtype,
    Symlink,
    Transformation,
)
from headwater.openlineage.settings import JobNames
from headwater.plan import Plan, decode_document

RUN = Run("app", Job("demo", "shop"))
INSERT = "InsertIntoHadoopFsRelationCommand"
BY_TARGET, BY_OPERATOR = JobNames(), JobNames(by_operator=True)


def folder(path: str, namespace: str = "file") -> DatasetDescription:
    return DatasetDescription(Dataset(namespace, path), source=namespace)


def table(name: str) -> DatasetDescription:
    path, warehouse = Dataset("file", f"/wh/{name.replace('.', '.db/')}"), Dataset("file:/wh", name)
    return DatasetDescription(path, symlinks=(Symlink(warehouse),))


def writing(*targets: DatasetDescription, reading: tuple[DatasetDescription, ...] = ()) -> Statement:
    return Statement(reading, tuple(Output(one, ColumnLineage()) for one in targets))


def name(found: Statement, command: str = INSERT, settings: JobNames = BY_TARGET) -> str:
    return JobNamer("shop", settings).of_statement(command, found)


@pytest.mark.parametrize(
    ("target", "expected"),
    [
        (folder("/lake/silver/orders"), "shop./lake/silver/orders"),
        (folder("lake/orders", "s3://shop"), "shop.s3://shop/lake/orders"),
        (folder("shop.public.orders", "postgres://h:5432"), "shop.postgres://h:5432/shop.public.orders"),
        (folder("orders", "kafka://b1:9092"), "shop.kafka://b1:9092/orders"),
        (table("sales.orders"), "shop.sales.orders"),
        (DatasetDescription(Dataset("file:/wh", "sales.view")), "shop.sales.view"),
    ],
)
def test_a_job_goes_by_its_target_however_it_is_written(target: DatasetDescription, expected: str) -> None:
    commands = (INSERT, "AppendData", "SaveAsV1TableCommand", "MergeIntoCommand", "SaveAsTextFile")
    assert {name(writing(target), command) for command in commands} == {expected}


def test_folders_of_one_name_are_two_jobs_whichever_is_written() -> None:
    bronze, silver = (name(writing(folder(f"/{one}/orders"))) for one in ("bronze", "silver"))
    assert (bronze, silver) == ("shop./bronze/orders", "shop./silver/orders")


def test_a_statement_that_writes_several_goes_by_all_of_them() -> None:
    one, other = folder("/a"), table("d.b")
    assert name(writing(one, other)) == name(writing(other, one, one)) == "shop./a+d.b"


@pytest.mark.parametrize(
    ("command", "found", "expected"),
    [
        ("Project", writing(reading=(folder("/b"), folder("/a"))), "shop.read./a+/b"),
        ("Foreach", writing(reading=(folder("/a"),)), "shop.foreach./a"),
        ("Foreach", Statement(gaps=(Gap("relation", "rows", ""),)), "shop.foreach"),
        ("Call", Statement(gaps=(Gap("operator", "p", ""),)), "shop.call"),
    ],
)
def test_what_writes_nothing_goes_by_what_it_does_and_reads(command: str, found: Statement, expected: str) -> None:
    assert name(found, command) == expected


def test_a_setting_keeps_the_names_by_operator() -> None:
    found = writing(folder("/lake/silver/orders"))
    operator = "shop.insert_into_hadoop_fs_relation_command"
    assert name(found, settings=BY_OPERATOR) == f"{operator}.orders"
    assert name(found, settings=JobNames(append_dataset=False, by_operator=True)) == operator
    assert name(found, settings=JobNames(underscores=True, by_operator=True)) == f"{operator}.orders".replace(".", "_")
    assert name(writing(table("d.t")), settings=JobNames(underscores=True)) == "shop_d_t"


def test_a_stream_goes_by_its_own_name_or_its_target() -> None:
    stream = Stream(writing(folder("/out"), reading=(folder("/in"),)), "FileStreamSink", Origin(()), ())
    into_function = Stream(writing(reading=(folder("/in"),)), "ForeachBatchSink", Origin(()), ())
    namer = JobNamer("shop", JobNames())
    assert namer.of_stream("clicks", stream) == "shop.clicks"
    assert namer.of_stream("", stream) == "shop.stream./out"
    assert namer.of_stream("", into_function) == "shop.foreach_batch./in"
    assert namer.of_stream("", None) == "shop.stream"
    assert JobNamer("shop", BY_OPERATOR).of_stream("", stream) == "shop.stream.out"


TARGETS = st.builds(
    folder, st.text("ab/.+", min_size=1, max_size=8).map("/".__add__), st.sampled_from(["file", "s3://b"])
)


@given(
    st.lists(TARGETS | st.text("xy", min_size=1, max_size=190).map("/".__add__).map(folder), max_size=6, unique=True)
)
def test_each_target_has_a_name_of_its_own_of_bearable_length(targets: list[DatasetDescription]) -> None:
    names = [name(writing(one)) for one in targets]
    assert len(set(names)) == len(targets)
    assert all(len(one) <= 200 for one in names)


def edge(column: str) -> ColumnLineage:
    made = Dependency(InputField(Dataset("file", "/in"), column), Transformation(Subtype.IDENTITY))
    return ColumnLineage({"v": frozenset({made})})


def test_a_write_that_leaves_rows_brings_along_those_before_it_until_all_are_replaced() -> None:
    writes = EarlierWrites()

    def earlier(column: str, replaces: ReplacedRows | None, state: RunState = RunState.COMPLETE) -> set[str]:
        output = Output(DatasetDescription(Dataset("file", "/out"), replaces=replaces), edge(column))
        moment = RunMoment(RUN, state, datetime(2026, 1, 1, tzinfo=UTC), statement=Statement(outputs=(output,)))
        statement = writes.with_earlier(moment).statement
        before = statement.outputs[0].earlier if statement else None
        return {one.input.name for one in before.fields["v"]} if before else set()

    assert earlier("a", ReplacedRows.SOME) == set()
    assert earlier("a", ReplacedRows.SOME) == set()
    assert earlier("x", ReplacedRows.SOME, RunState.FAIL) == set()
    assert earlier("b", ReplacedRows.SOME) == {"a"}
    assert earlier("y", None) == set()
    assert earlier("c", ReplacedRows.SOME) == {"a", "b"}
    assert earlier("d", ReplacedRows.ALL) == set()
    assert earlier("e", ReplacedRows.SOME) == {"d"}


def test_a_restoration_is_a_job_of_its_own_and_leaves_nothing_of_before() -> None:
    """The application does not know whether its earlier rows are in the restored version; the store of events does."""
    writes = EarlierWrites()

    def earlier(column: str, restores: str | None = None) -> bool:
        seen = DatasetDescription(Dataset("file", "/out"), replaces=ReplacedRows.SOME)
        statement = Statement(outputs=(Output(seen, edge(column), restores=restores),))
        moment = RunMoment(RUN, RunState.COMPLETE, datetime(2026, 1, 1, tzinfo=UTC), statement=statement)
        after = writes.with_earlier(moment).statement
        return bool(after and after.outputs[0].earlier)

    found = [earlier("a"), earlier("b"), earlier("v", ""), earlier("c"), earlier("v", "3")]
    assert found == [False, True, False, True, False]
    assert not earlier("d")
    restoring = Statement(outputs=(Output(table("sales.orders"), ColumnLineage(), restores="3"),))
    assert name(restoring) == "shop.restore.sales.orders"
    assert name(restoring, "Call", BY_OPERATOR) == "shop.restore.orders"


def plan_of(path: str, column: str) -> Plan:
    """A plan that saves a column of rows nobody knows to a folder."""
    nodes = [
        ["AttributeReference", [], {}, {"id": 1, "name": column}],
        ["LogicalRDD", [], {"output": [0]}, {}, 1],
        ["SaveAsTextFile", [1], {}, {"path": f"file:{path}"}, 1],
    ]
    return decode_document({"nodes": nodes})


@given(st.permutations([("/a/out", "x"), ("/b/out", "x"), ("/a/out", "y"), ("/c", "x")]), st.integers(0, 4))
def test_a_name_depends_neither_on_the_order_of_writes_nor_on_other_writes(
    writes: list[tuple[str, str]], count: int
) -> None:
    executions = Executions(RUN, Engine())
    now = datetime(2026, 1, 1, tzinfo=UTC)
    for number, (path, column) in enumerate(writes[:count]):
        (started,) = executions.moments(ExecutionRow("start", number, now, plan=plan_of(path, column)))
        assert started.run.job.name == f"shop.{path}"
