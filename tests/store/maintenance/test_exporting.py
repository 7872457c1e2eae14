"""The events of a store as files: all of them once, in whole files, however often it is interrupted."""

import gzip
import json
from io import BufferedReader
from pathlib import Path
from typing import Any

import pytest
import zstandard
from tests.store.conftest import contents, run_event, written
from typer.testing import CliRunner

from headwater.cli.main import app
from headwater.errors import ArchiveError
from headwater.openlineage.reading import read_event
from headwater.store import Store, open_store
from headwater.store.maintenance.exporting import export

READERS = {"gz": gzip.open, "zst": lambda raw: BufferedReader(zstandard.ZstdDecompressor().stream_reader(raw))}


def events(first: int, last: int) -> list[dict[str, Any]]:
    """Events whose times go backwards while they are taken."""
    return [
        run_event(f"j{at % 3}", written(f"out{at % 3}", {"x": [f"raw{at % 5}.x"]}), minute=900 - at, run=str(at))
        for at in range(first, last)
    ]


def lines(folder: Path) -> list[bytes]:
    """The lines of all files, in the order of their names."""
    found: list[bytes] = []
    for file in sorted(folder.glob("*.ndjson.*")):
        with file.open("rb") as raw, READERS[file.suffix[1:]](raw) as unpacked:  # type: ignore[operator]
            found += unpacked.read().splitlines()
    return found


def digests(some: list[Any]) -> list[bytes]:
    return [read_event(one).digest for one in some]


@pytest.mark.parametrize("packing", sorted(READERS))
def test_events_leave_in_the_order_of_taking_in_files_of_a_size(store: Store, tmp_path: Path, packing: str) -> None:
    taken = events(0, 60)
    for at in range(0, 60, 20):
        store.ingest(taken[at : at + 20])
    done = export(store, tmp_path / "out", packing=packing, size=5_000)
    files = sorted((tmp_path / "out").iterdir())
    assert done == (60, len(files))
    assert len(files) > 5
    assert digests(lines(tmp_path / "out")) == digests(taken)
    for file in files:
        with file.open("rb") as raw, READERS[packing](raw) as unpacked:  # type: ignore[operator]
            assert len(unpacked.read()) <= 5_000
    with open_store(str(tmp_path / "again.db")) as again, open_store(str(tmp_path / "heard.db")) as ingested:
        again.ingest(lines(tmp_path / "out"))
        ingested.ingest(taken)
        assert contents(again) == contents(ingested)


def test_an_event_larger_than_a_file_has_one_of_its_own(store: Store, tmp_path: Path) -> None:
    store.ingest(events(0, 3))
    assert export(store, tmp_path / "out", packing="gz", size=1) == (3, 3)
    assert len(lines(tmp_path / "out")) == 3


def test_what_is_interrupted_goes_on_and_so_does_what_is_new(store: Store, tmp_path: Path) -> None:
    """The part of a file that an interruption leaves is no file, and is written again."""
    store.ingest(events(0, 50))
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / ".events-000000000000001.part").write_bytes(b"half a li")
    left = 3

    def end(done: int, all: int) -> None:
        nonlocal left
        left -= 1
        if not left:
            raise KeyboardInterrupt

    for _ in range(2):
        left = 3
        with pytest.raises(KeyboardInterrupt):
            export(store, tmp_path / "out", packing="gz", size=5_000, progress=end)
    some = len(lines(tmp_path / "out"))
    assert export(store, tmp_path / "out", packing="zst", size=5_000).events == 50 - some
    assert export(store, tmp_path / "out", packing="gz", size=5_000) == (0, 0)
    store.ingest(events(50, 60))
    assert export(store, tmp_path / "out", packing="gz", size=50_000) == (10, 1)
    assert digests(lines(tmp_path / "out")) == digests(events(0, 60))
    assert not list((tmp_path / "out").glob(".*"))


def test_a_folder_of_another_store_is_refused(tmp_path: Path) -> None:
    with open_store(str(tmp_path / "one.db")) as one, open_store(str(tmp_path / "other.db")) as other:
        one.ingest(events(0, 5))
        other.ingest(events(5, 10))
        export(one, tmp_path / "out", packing="gz", size=5_000)
        with pytest.raises(ArchiveError, match="has events of another store"):
            export(other, tmp_path / "out", packing="gz", size=5_000)
        with pytest.raises(ArchiveError, match=r"one\.db/out cannot be written \(Not a directory\)"):
            export(one, tmp_path / "one.db" / "out", packing="gz", size=5_000)


def test_the_command_writes_what_ingest_reads(tmp_path: Path) -> None:
    with open_store(str(tmp_path / "one.db")) as one:
        one.ingest(events(0, 5))

    def printed(*words: str) -> str:
        result = CliRunner().invoke(app, [*words], env={"COLUMNS": "200"})
        assert result.exit_code == 0, result.output
        return result.stdout

    out, store = str(tmp_path / "out"), str(tmp_path / "one.db")
    assert printed("archive", "export", out, "--store", store) == "events: 5 written, in 1 files\n"
    assert printed("archive", "export", out, "--store", store) == "events: 0 written, in 0 files\n"
    assert "5 added" in printed("ingest", out, "--store", str(tmp_path / "new.db"))
    assert json.loads(lines(tmp_path / "out")[0])["job"]["name"] == "j0"
