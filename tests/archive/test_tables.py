"""Tables that are written: whole or not at all, in each format, and read by what they hold."""

import json
import re
import shutil
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from secrets import token_hex
from threading import current_thread
from typing import Any

import pytest
from click.testing import Result
from typer.testing import CliRunner

from headwater.archive import build, find_fields, read, roots, update
from headwater.archive.cache import CachedFrames, build_settings, session_settings
from headwater.archive.formats.differences import in_table_order
from headwater.archive.formats.filesystem import Folder
from headwater.archive.formats.lake import FORMATS, Lake, lake
from headwater.archive.formats.manifest import Manifest
from headwater.archive.tables import TABLES, VERSION
from headwater.cli.main import app
from headwater.errors import ArchiveError, ArchiveTooNew, ArchiveTooOld
from tests.connectors import SPARK
from tests.store.conftest import run_event, written

from .conftest import shuffle_partitions

pytestmark = pytest.mark.spark
DOCUMENT = Path(__file__).resolve().parents[2] / "docs" / "archive.md"

every_format = pytest.mark.parametrize("format", FORMATS)


def events(folder: Path, source: str) -> str:
    """A file with one event, whose output is made of a source."""
    path = folder / "events.ndjson"
    path.write_text(json.dumps(run_event("j", written("out", {"x": [f"{source}.x"]}, ["db.out"]), run=source)) + "\n")
    return str(path)


def sources(archive: Any) -> list[str]:
    return sorted(row.input_dataset for row in archive["column_edges"].collect())


def edges(spark: Any, output: str, how_many: int = 1) -> Any:
    """Rows of column_edges: several datasets, each of several fields."""
    values = {
        "output_dataset_id": f"md5(concat('{output}', id % 64))",
        "output_dataset": f"concat('{output}', id % 64)",
        "output_field_id": "md5(string(id))",
        "valid_from": "timestamp_micros(id)",
        "current": "id % 3 > 0",
    }
    table = TABLES["column_edges"]
    expressions = (f"{values.get(name, 'NULL')} AS {one.source or name}" for name, one in table.columns.items())
    return table.select_from(spark.range(how_many).selectExpr(*expressions))


def place(spark: Any, folder: Path, format: str) -> tuple[Lake, str]:
    into = f"ice.{re.sub('[^a-z]', '', folder.name)}" if format == "iceberg" else str(folder / "lineage")
    return lake(spark, into, format), into


@pytest.fixture
def adaptive(spark: Any) -> Iterator[None]:
    """Spark with its own setting for adaptive execution, and more parts than are needed."""
    settings = {"spark.sql.adaptive.enabled": "true", "spark.sql.shuffle.partitions": "16"}
    before = {key: spark.conf.get(key) for key in settings}
    for key, value in settings.items():
        spark.conf.set(key, value)
    yield
    for key, value in before.items():
        spark.conf.set(key, value)


def jobs_so_far(spark: Any) -> int:
    return int(spark.sparkContext._jsc.sc().dagScheduler().numTotalJobs())


def test_a_build_of_any_size_needs_few_jobs(spark: Any, tmp_path: Path, adaptive: None) -> None:
    """Most of the CPU of a small build is plans and code for jobs: a frame that is made twice shows here.

    With adaptive execution, which few events are built without, there were 127: each shuffle is a job of its own.
    Tables are written by threads, and reported in order by the one that builds.
    """
    before, reported = jobs_so_far(spark), []

    def report(line: str) -> None:
        reported.append((line.partition(":")[0], current_thread()))

    build(spark, events(tmp_path, "raw"), str(tmp_path / "lineage"), format="parquet", progress=report)
    assert jobs_so_far(spark) - before <= 38
    assert [one for one in reported if one[0] in TABLES] == [(name, current_thread()) for name in TABLES]


@pytest.mark.parametrize(
    ("counts", "partitions", "adapted", "compiled"),
    [
        ((25_000,), "1", "false", "false"),
        ((30_000,), "2", "false", "true"),
        ((250_000,), "2", "false", "true"),
        ((300_000,), "50", "true", "true"),
        ((10_000_000,), "200", "true", "true"),
        ((1_000, 1_000_000), "2", "false", "false"),
        ((30_000, 1_000_000), "172", "true", "true"),
    ],
)
def test_plans_are_those_that_so_many_events_need(
    spark: Any, counts: tuple[int, ...], partitions: str, adapted: str, compiled: str
) -> None:
    """Never more partitions than the session's: each task writes a file for each of them."""
    cache, values = CachedFrames(), [f"spark.sql.{one}" for one in ("adaptive.enabled", "codegen.wholeStage")]
    session = {"spark.sql.adaptive.enabled": "true", "spark.sql.codegen.wholeStage": "true"}
    with shuffle_partitions(spark, 200), session_settings(spark, session):
        with build_settings(spark, cache) as fit:
            fit(10)
            fit(*counts)
            assert spark.conf.get("spark.sql.shuffle.partitions") == partitions
            assert [spark.conf.get(one) for one in values] == [adapted, compiled]
            assert (cache.few, cache.checkpoints) == (sum(counts) == 25_000, adapted == "false")
            assert cache.beside_many == (counts[0] == 1_000)
        assert spark.conf.get("spark.sql.shuffle.partitions") == "200"
        assert [spark.conf.get(one) for one in values] == ["true", "true"]


@pytest.mark.parametrize(("ordered", "partitions"), [(True, 3), (False, 2)])
def test_ordered_rows_are_sorted_by_the_tasks_that_have_them(
    spark: Any, adaptive: None, ordered: bool, partitions: int
) -> None:
    rows = spark.range(9, 0, -1, numPartitions=3).selectExpr("string(id) AS source", "'1' AS place")
    with session_settings(spark, {"spark.sql.shuffle.partitions": "2", "spark.sql.adaptive.enabled": "false"}):
        parts = in_table_order(rows, TABLES["quarantine"], ordered=ordered).rdd.glom().collect()
    assert len(parts) == partitions
    assert all(part == sorted(part) for part in parts)
    assert len({row.source for part in parts for row in part}) == 9


def test_tables_have_the_columns_that_are_documented(spark: Any, tmp_path: Path, adaptive: None) -> None:
    """Cached frames have as few partitions as they need, not as many as shuffles, each a task at each reading."""
    text = DOCUMENT.read_text()
    with build(spark, events(tmp_path, "raw")) as archive:
        assert set(archive) == set(TABLES)
        for name, table in TABLES.items():
            assert archive[name].schema.simpleString() == table.schema.simpleString()
            (row,) = re.findall(rf"^\| `{name}` \|.*$", text, re.MULTILINE)
            if name != "dataset_edges":
                assert [one for one in re.findall(r"`(\w+)`", row)[1:] if one in table.columns] == list(table.columns)
        if SPARK != "3.5":  # which does not know how
            assert archive.fields._jdf.toJavaRDD().getNumPartitions() < 4
    assert spark.conf.get("spark.sql.optimizer.canChangeCachedPlanOutputPartitioning", None) in {None, "false"}


@pytest.fixture(scope="module")
def commanded(spark: Any, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Result]:
    """A folder with tables that the command has built of an event and a line that is none; and what it printed."""
    folder = tmp_path_factory.mktemp("commanded")
    source = events(folder, "one")
    with Path(source).open("a") as file:
        file.write("no event\n")
    command = ["archive", "build", source, "--into", str(folder / "lineage"), "--format", "parquet", "--roots"]
    return folder / "lineage", CliRunner().invoke(app, command, env={"COLUMNS": "200"})


def test_an_interrupted_build_leaves_the_tables_before_it(
    spark: Any, tmp_path: Path, commanded: tuple[Path, Result]
) -> None:
    """The command says on standard output what there is, on the other one how far it is and what was no event."""
    into, result = str(commanded[0]), commanded[1]
    assert result.exit_code == 0, result.output
    assert re.search(r"^column_edges +1$", result.stdout, re.MULTILINE)
    assert re.search(r"^column_roots +2$", result.stdout, re.MULTILINE)
    assert "column_edges: 1 rows" in result.stderr
    assert "1 lines are not events" in result.stderr
    before = read(spark, into)

    def stop(line: str) -> None:
        if line.startswith("jobs"):
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        build(spark, events(tmp_path, "two"), into, progress=stop)
    assert sources(read(spark, into)) == sources(before) == ["/one"]


def test_the_command_prints_errors_in_one_line(spark: Any, tmp_path: Path) -> None:
    result = CliRunner().invoke(app, ["archive", "build", str(tmp_path / "nothing"), "--into", str(tmp_path)])
    assert (result.exit_code, result.stdout) == (1, "")
    assert result.stderr.endswith(" as kafka://HOST:PORT/TOPIC.\n")
    assert CliRunner().invoke(app, ["archive", "build", "x", "--into", "y", "--conf", "nonsense"]).exit_code == 2


@every_format
def test_tables_are_current_when_all_are_published(spark: Any, tmp_path: Path, format: str) -> None:
    """Also what another session writes, in a session that has seen what was there before."""
    table, other = TABLES["column_edges"], spark.newSession()
    assert place(spark, tmp_path, format)[0].manifest().tables == {}
    for output, writer in (("first", spark), ("second", other), ("third", spark)):
        lake, into = place(writer, tmp_path, format)
        before = lake.manifest()
        mark = lake.write("column_edges", edges(writer, output, 5), table)
        assert lake.manifest() == before
        lake.publish(before, {"column_edges": mark})
        found = read(spark, into, format=format).column_edges
        assert found.schema.simpleString() == table.schema.simpleString() or format == "parquet"
        assert sorted(row.output_dataset for row in found.collect()) == [f"{output}{at}" for at in range(5)]
        assert place(spark, tmp_path, format)[0].restore("column_edges", mark) == mark
    if format == "parquet":
        assert len(list((tmp_path / "lineage" / "builds").iterdir())) == 2, "the last, and one that may be read still"


@every_format
def test_of_two_builds_at_once_one_is_refused(spark: Any, tmp_path: Path, format: str) -> None:
    """The one that ends later; the mark of each is for the rows that it wrote, whoever has committed since."""
    table, sessions = TABLES["column_edges"], {"one": spark, "other": spark.newSession()}
    lakes = {name: place(session, tmp_path, format)[0] for name, session in sessions.items()}

    def write(name: str) -> Any:
        return lakes[name].write("column_edges", edges(sessions[name], name), table)

    first = write("one")  # a table must be there before two write it
    for before in (lakes["one"].manifest(), None):
        began = before or lakes["one"].manifest()
        marks = {"one": first, "other": write("other")} if before else both_written(write)
        for name, mark in marks.items():
            assert {row.output_dataset for row in lakes[name].read("column_edges", mark).collect()} == {f"{name}0"}
        lakes["other"].publish(began, {"column_edges": marks["other"]})
        with pytest.raises(ArchiveError, match="meanwhile"):
            lakes["one"].publish(began, {"column_edges": marks["one"]})
        assert lakes["one"].manifest().tables == {"column_edges": marks["other"]}


def both_written(write: Callable[[str], Any]) -> dict[str, Any]:
    """The marks of two that write at once; formats may refuse one of them already, which then writes again."""
    with ThreadPoolExecutor(2) as pool:
        begun = {name: pool.submit(write, name) for name in ("one", "other")}
    return {name: write(name) if one.exception() else one.result() for name, one in begun.items()}


def test_writers_of_a_file_do_not_lose_what_others_wrote(spark: Any, tmp_path: Path) -> None:
    counted(spark, str(tmp_path / "not" / "yet"))


def counted(spark: Any, root: str) -> None:
    """Four writers count up a number, each by the text that it has read."""
    folder = Folder(spark, root)

    def count(_: int) -> int:
        refused = 0
        for _ in range(5):
            while not folder.replace("it", one_more(text := folder.text("it")), text.__eq__):
                refused += 1
        return refused

    def one_more(text: str) -> str:
        return f"{int(text.partition(' ')[0] or 0) + 1} {token_hex(8)}"

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(count, range(4)))
    assert folder.text("it").startswith("20 ")
    assert folder.names("") == ["it"]


def test_a_file_is_there_while_it_is_replaced(spark: Any, tmp_path: Path) -> None:
    """A process that is killed at any moment leaves one of the two texts, and readers find one of them."""
    folder, file = Folder(spark, str(tmp_path)), tmp_path / "it"
    folder.replace("it", "0")
    with ThreadPoolExecutor(1) as pool:
        replaced = pool.submit(lambda: [folder.replace("it", str(at)) for at in range(100)])
        while not replaced.done():
            assert file.read_text()
        replaced.result()
    assert folder.text("it") == "99"


def test_a_missing_namespace_is_created(spark: Any) -> None:
    """In a catalog that wants it made; that of the other tests makes folders as it goes."""
    session = spark.newSession()
    session.conf.set("spark.sql.catalog.kept", "org.apache.iceberg.spark.SparkCatalog")
    session.conf.set("spark.sql.catalog.kept.catalog-impl", "org.apache.iceberg.inmemory.InMemoryCatalog")
    made = lake(session, "kept.lineage", "iceberg")
    mark = made.write("column_edges", edges(session, "out"), TABLES["column_edges"])
    assert made.read("column_edges", mark).count() == 1


@every_format
def test_lineage_of_one_dataset_reads_a_part_of_the_edges(spark: Any, tmp_path: Path, format: str) -> None:
    lake, _ = place(spark, tmp_path, format)
    with shuffle_partitions(spark, 16):
        mark = lake.write("column_edges", edges(spark, "out", 6400), TABLES["column_edges"])
    found = lake.read("column_edges", mark)
    dataset = found.where("output_dataset = 'out7'").first().output_dataset_id
    condition = f"output_dataset_id = '{dataset}' AND valid_from <= timestamp '2026-01-02'"
    assert {row.output_dataset for row in found.where(condition).collect()} == {"out7"}
    assert 100 <= rows_read(found.where(condition)) <= 6400 / 4


def rows_read(frame: Any) -> int:
    """How many rows the scan in a frame's plan puts out."""
    plan = frame._jdf.queryExecution().executedPlan()
    plan.executeCollect()
    return int(sum(one.metrics().apply("numOutputRows").value() for one in leaves(plan)))


def leaves(plan: Any) -> Iterator[Any]:
    found = plan.collectLeaves()
    return (found.apply(at) for at in range(found.size()))


@every_format
def test_tables_of_a_newer_version_are_refused(spark: Any, tmp_path: Path, monkeypatch: Any, format: str) -> None:
    lake, into = place(spark, tmp_path, format)
    with monkeypatch.context() as newer:
        newer.setattr("headwater.archive.tables.VERSION", VERSION + 1)
        rows = edges(spark, "out")
    lake.publish(Manifest(), {"column_edges": lake.write("column_edges", rows, TABLES["column_edges"])})
    found = f"The table .*column_edges has version {VERSION + 1}: expected {VERSION} at most"
    with pytest.raises(ArchiveTooNew, match=found):
        read(spark, into, format=format)


def test_a_place_of_a_newer_version_is_refused(spark: Any, tmp_path: Path) -> None:
    (tmp_path / "headwater.json").write_text('{"version": 4, "format": "new", "tables": {"a": "b"}}')
    for use in (lambda: read(spark, str(tmp_path)), lambda: build(spark, "nothing", str(tmp_path))):
        with pytest.raises(ArchiveTooNew, match="have version 4: expected 3 at most"):
            use()


def test_tables_of_an_older_version_are_refused_and_built_anew_from_their_events(
    spark: Any, tmp_path: Path, commanded: tuple[Path, Result]
) -> None:
    """As they were before roots led into the past: without replacements, and without the last moments of edges."""
    into, manifest = str(tmp_path / "lineage"), tmp_path / "lineage" / "headwater.json"
    shutil.copytree(commanded[0], into)
    older = {**json.loads(manifest.read_text()), "version": 1}
    present = older["tables"].pop("replacements")
    assert present
    for name in ("column_edges", "dataset_edges"):
        schema = older["tables"][name]["schema"]
        schema["fields"] = [one for one in schema["fields"] if one["name"] != "last_at"]
    manifest.write_text(json.dumps(older))
    expected = r"have version 1: expected 3\. An older headwater wrote them.*[Bb]uild the archive anew"
    for use in (lambda: read(spark, into), lambda: update(spark, events(tmp_path, "one"), into)):
        with pytest.raises(ArchiveTooOld, match=expected):
            use()
    for question in ("roots", "impact"):
        result = CliRunner().invoke(app, ["archive", question, "out.x", "--into", into])
        assert result.exit_code == 1
        assert "have version 1: expected 3" in result.stderr
    assert json.loads(manifest.read_text()) == older
    archive = build(spark, f"{into}/{older['tables']['events']['path']}", into)
    assert [row.dataset for row in roots(archive, find_fields(archive, "out.x")).collect()] == ["/one"]


def test_places_that_cannot_be_used_are_errors(spark: Any, tmp_path: Path) -> None:
    with pytest.raises(ArchiveError, match="There are no tables in"):
        read(spark, str(tmp_path / "nothing"))
    with pytest.raises(ArchiveError, match="'csv' is not known"):
        build(spark, "anything", str(tmp_path / "x"), format="csv")
    (tmp_path / "headwater.json").write_text("{")
    with pytest.raises(ArchiveError, match="is no JSON"):
        read(spark, str(tmp_path))
    (tmp_path / "headwater.json").write_text('{"version": 1, "format": "parquet", "tables": {}}')
    with pytest.raises(ArchiveError, match="has tables in parquet: expected delta"):
        build(spark, "anything", str(tmp_path), format="delta")
