"""Sources of all kinds are read, and lines that are no events are reported."""

import gzip
import json
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import zstandard

from headwater.archive import build, update
from headwater.archive.events.packed_files import packed_lines
from headwater.archive.events.sources import lines
from headwater.errors import ArchiveError
from tests.connectors import KAFKA_JARS
from tests.store.conftest import run_event, written
from tests.streaming.broker import running_broker

pytestmark = pytest.mark.spark

PACK: dict[str, Callable[[bytes], bytes]] = {
    "gz": gzip.compress,
    "zst": zstandard.ZstdCompressor().compress,
}


def text(*minutes: int) -> bytes:
    """Events as lines."""
    events = [run_event("j", written("out", {"x": ["raw.x"]}), minute=at, run=str(at)) for at in minutes]
    return b"".join(json.dumps(one).encode() + b"\n" for one in events)


def long_text() -> bytes:
    """So many different lines that they take several parts of a packed file."""
    return b"".join(b"%d %s\n" % (at, zlib.crc32(b"%d" % at).to_bytes(4).hex().encode() * 40) for at in range(20_000))


@pytest.mark.parametrize("packing", sorted(PACK))
def test_a_packed_file_gives_its_lines(packing: str) -> None:
    whole = long_text()
    streams = PACK[packing](whole) + PACK[packing](b"last")
    found = list(packed_lines(packing, streams))
    assert b"\n".join(line.text for line in found) == whole + b"last"
    assert [line.number for line in found] == list(range(1, 20_002))


@pytest.mark.parametrize("packing", sorted(PACK))
@pytest.mark.parametrize("share", [0, 0.001, 0.5, 0.999])
def test_a_truncated_file_gives_its_whole_lines(packing: str, share: float) -> None:
    whole = long_text()
    packed = PACK[packing](whole)
    *found, last = packed_lines(packing, packed[: max(1, int(len(packed) * share))])
    assert whole.startswith(b"".join(line.text + b"\n" for line in found))
    assert len(found) >= 20_000 * (share - 0.1)
    assert f"ends too early, after {len(found)} whole lines" in last.broken


@pytest.mark.parametrize("packing", sorted(PACK))
def test_a_damaged_file_gives_the_reason(packing: str) -> None:
    (line,) = packed_lines(packing, b"this is no packed file")
    assert "is damaged" in line.broken


def test_zeros_after_a_gzip_file_are_ignored() -> None:
    assert [line.text for line in packed_lines("gz", gzip.compress(b"a\nb") + bytes(600))] == [b"a", b"b"]


@pytest.fixture
def mixed(spark: Any, tmp_path: Path) -> Path:
    """A folder with every kind of file, good and bad."""
    folder = tmp_path / "mixed"
    (folder / "deep" / "er").mkdir(parents=True)
    (folder / "a.ndjson").write_bytes(text(1) + b"\n{}\n[1]\n" + text(2))
    (folder / "deep" / "b.json.gz").write_bytes(gzip.compress(text(3) + b"no event\n"))
    (folder / "deep" / "cut.jsonl.gz").write_bytes(gzip.compress(text(4, 5))[:-12])
    (folder / "deep" / "er" / "c.jsonl.zst").write_bytes(PACK["zst"](text(6, 1)))
    (folder / "README.txt").write_text("not read")
    events = [(line.decode(), None) for line in text(7).splitlines()]
    spark.createDataFrame(events, "payload string, other int").write.parquet(str(folder / "parquet" / "one"))
    events = [(bytearray(line),) for line in [*text(8).splitlines(), b"\xff\xfe"]]
    spark.createDataFrame(events, "value binary").coalesce(1).write.parquet(str(folder / "parquet" / "two"))
    return folder


def test_all_kinds_of_files_are_read_and_lines_that_are_no_events_are_named(spark: Any, mixed: Path) -> None:
    with build(spark, str(mixed)) as archive:
        minutes = [row.at.minute for row in archive.events.orderBy("at").collect()]
        rejected = sorted(
            (row.source.rpartition("/")[2].partition("-")[0], row.place, row.reason.partition(":")[0])
            for row in archive.quarantine.collect()
        )
    assert minutes == [1, 2, 3, 4, 6, 7, 8]
    assert rejected == [
        ("a.ndjson", "line 3", "An object with nothing"),
        ("a.ndjson", "line 4", "A JSON list instead of an object"),
        ("b.json.gz", "line 2", rejected[2][2]),
        ("cut.jsonl.gz", "line 2", rejected[3][2]),
        ("part", "row 2", rejected[4][2]),
    ]
    assert "ends too early" in rejected[3][2]


def test_a_file_may_have_any_name(spark: Any, tmp_path: Path) -> None:
    (tmp_path / "events.log").write_bytes(text(1, 2))
    assert lines(spark, str(tmp_path / "events.log")).count() == 2


@pytest.mark.parametrize(
    ("files", "message"),
    [
        ({}, "no file: expected"),
        ({"a.txt": b"x"}, "no file whose name ends so: expected"),
        (None, "cannot be read"),
    ],
    ids=["empty", "others", "missing"],
)
def test_a_source_without_events_is_an_error(spark: Any, tmp_path: Path, files: Any, message: str) -> None:
    folder = tmp_path / "source"
    if files is not None:
        folder.mkdir()
        for name, content in files.items():
            (folder / name).write_bytes(content)
    with pytest.raises(ArchiveError, match=message):
        lines(spark, str(folder))


def test_parquet_without_a_column_of_events_is_an_error(spark: Any, tmp_path: Path) -> None:
    spark.range(2).write.parquet(str(tmp_path / "numbers"))
    with pytest.raises(ArchiveError, match="columns id bigint: expected payload, value or event"):
        lines(spark, str(tmp_path / "numbers"))


def test_parquet_of_different_types_is_an_error(spark: Any, tmp_path: Path) -> None:
    spark.range(2).selectExpr("id AS payload").write.parquet(str(tmp_path / "p" / "numbers"))
    spark.sql("SELECT 'x' AS payload").write.parquet(str(tmp_path / "p" / "texts"))
    with pytest.raises(ArchiveError, match=r"cannot be read together .*CANNOT_MERGE"):
        lines(spark, str(tmp_path / "p"))


def test_a_topic_is_read_to_its_end(spark: Any, tmp_path: Path) -> None:
    with pytest.raises(ArchiveError, match=r"expected kafka://HOST:PORT/TOPIC"):
        lines(spark, "kafka://localhost:1")
    with pytest.raises(ArchiveError, match="spark-sql-kafka"):
        lines(spark, "kafka://localhost:1/events")
    if not KAFKA_JARS:
        pytest.skip("there is no Kafka connector for this Spark")
    for jar in KAFKA_JARS:
        spark.sql(f"ADD JAR ivy://{jar}?transitive=false")
    with running_broker(tmp_path) as broker:
        messages = [(one.decode(),) for one in _messages()]
        send(spark, broker, messages)
        read = [(row.source, row.place, bytes(row.value)) for row in lines(spark, f"kafka://{broker}/events").collect()]
        places = [f"partition 0 offset {at}" for at in range(4)]
        assert read == [(f"kafka://{broker}/events", *one) for one in zip(places, _messages(), strict=True)]
        source, into = f"kafka://{broker}/events?maxOffsetsPerTrigger=1000", str(tmp_path / "lineage")
        updated = update(spark, source, into, format="parquet")
        assert [row.at.minute for row in updated.events.orderBy("at").collect()] == [1, 2]
        send(spark, broker, [*messages, ("nor this",)])
        updated = update(spark, source, into)
        assert updated.events.count() == 2
        places = [(row.place, row.excerpt) for row in updated.quarantine.orderBy("place").collect()]
    assert places == [
        (f"partition 0 offset {at}", text) for at, text in ((1, "no event"), (5, "no event"), (8, "nor this"))
    ]


def send(spark: Any, broker: str, messages: list[tuple[str]]) -> None:
    to_topic = {"kafka.bootstrap.servers": broker, "topic": "events"}
    spark.createDataFrame(messages, "value string").coalesce(1).write.format("kafka").options(**to_topic).save()


def _messages() -> list[bytes]:
    first, second = text(1, 2).splitlines()
    return [first, b"no event", second, first]
