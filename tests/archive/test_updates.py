"""Updated tables are those of one build of everything, also when events are late or an update is interrupted."""

import json
import os
import random
import signal
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from click.testing import Result
from typer.testing import CliRunner

from headwater.archive import Archive, build, read, update
from headwater.archive.events.parsed_events import STAGED
from headwater.archive.formats.differences import differences
from headwater.archive.formats.filesystem import Folder
from headwater.archive.formats.lake import Lake, lake
from headwater.archive.formats.manifest import manifest_of
from headwater.archive.tables import TABLES
from headwater.cli.main import app
from headwater.errors import ArchiveError
from headwater.openlineage.reading import read_event
from headwater.openlineage.reading.events import FINAL, SUCCESSFUL
from tests.store.conftest import run_event, written

from .test_archive_laws import worlds
from .test_tables import edges, every_format, place

pytestmark = pytest.mark.spark
OLD = 1_000_000_000  # a time of files, in seconds since 1970


def rows(archive: Archive) -> dict[str, list[str]]:
    """All rows of all tables; each is told apart by the key of its table."""
    found = {}
    for name, table in TABLES.items():
        collected = archive[name].collect()
        assert len({tuple(row[column] for column in table.key) for row in collected}) == len(collected), name
        found[name] = sorted(map(str, collected))
    return found


def put(folder: Path, name: str, events: list[dict[str, Any]]) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    lines = [*map(json.dumps, events), f"no event of {name}"]
    (folder / name).write_text("".join(f"{line}\n" for line in lines))


def concerns_names(event: dict[str, Any]) -> bool:
    names = "symlinks" in json.dumps(event) or "headwater_names" in json.dumps(event)
    return names or read_event(event).twins


def only_replaces(event: dict[str, Any]) -> bool:
    found = read_event(event)
    return found.replaces and not found.tells_lineage


def succeeded(events: list[dict[str, Any]]) -> set[str]:
    """The runs that have succeeded: an end counts more than other states, then the later one does."""
    last: dict[str, tuple[bool, int, str]] = {}
    for one in map(read_event, events):
        last[one.run] = max(last.get(one.run, (False, one.at, "")), (one.state in FINAL, one.at, one.state))
    return {run for run, (*_, state) in last.items() if state in SUCCESSFUL}


def parts(seed: int) -> list[list[dict[str, Any]]]:
    """Events of many worlds, cut at random: all parts change names and repeat some events.

    Events that replace rows and have no lineage are in the last part, by which no run fails that had succeeded.
    """
    chance = random.Random(seed)
    events = [one for world in worlds(12) for one in world]
    chance.shuffle(events)
    last = sorted(events, key=only_replaces, reverse=True)[: len(events) // 4]
    fails = succeeded([one for one in events if one not in last]) - succeeded(events)
    last = [one for one in last if read_event(one).run not in fails]
    others = [one for one in events if one not in last]
    assert succeeded(others) <= succeeded(events)
    cut = chance.randrange(len(others) // 3, len(others) * 2 // 3)
    found = [others[:cut], others[cut:], last]
    assert all(any(map(concerns_names, part)) for part in found)
    assert any(map(only_replaces, last))
    return [
        [*found[at], *chance.choices([one for part in found[: at + 1] for one in part], k=3)]
        for at in range(len(found))
    ]


class Stopped(Exception):
    """As a program that is killed leaves it."""


def stop_at(number: int) -> Any:
    lines: list[str] = []

    def report(line: str) -> None:
        lines.append(line)
        if len(lines) == number:
            raise Stopped(line)

    return report


def test_updates_end_in_the_tables_of_one_build(spark: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Names change over the cuts, events are late and repeated, a file is old, and an update is interrupted.

    Two sources go into one place, where a build was. The last events are few beside those before. At the end staged
    events have a column of a former version: they are parsed again, as many are, and all is folded to the same tables.
    """
    source, other, into = tmp_path / "events", tmp_path / "events-too" / "deep", str(tmp_path / "lineage")
    first, second, third = parts(5)
    put(source, "one[1] *.ndjson", first)
    build(spark, str(source), into, format="parquet")
    put(source, "two.jsonl", second)
    folder = Folder(spark, into)
    before = manifest_of(folder)
    with pytest.raises(Stopped, match="Outputs"):
        update(spark, str(source), into, progress=stop_at(2))
    assert manifest_of(folder) == before, "an update is there as a whole or not at all"
    update(spark, str(source), into)
    put(other, "three.json", third)
    (other / "README.txt").write_text("no events")
    os.utime(other / "three.json", (OLD, OLD))
    before = manifest_of(folder)
    monkeypatch.setattr("headwater.archive.cache.FEW_EVENTS", len(third) + 1)
    result = invoked("update", str(other), "--into", into, "--format", "parquet")
    after = manifest_of(folder)
    for old, new in ((before.tables, after.tables), (before.updates.staged, after.updates.staged)):
        name = "events" if "events" in old else "parsed"
        assert new[name]["path"] == old[name]["path"], "what was there is not written again"
        assert len(new[name]["added"]) == len(old[name].get("added", [])) + 1
    assert "Outputs whose edges are looked at: all" not in result.stderr
    assert "Outputs whose edges are looked at: " in result.stderr
    with build(spark, str(tmp_path / "events*")) as whole:
        assert rows(read(spark, into)) == rows(whole)
    assert len(folder.names("_checkpoints")) == 2, "one for each source"
    marks, tables = manifest_of(folder).tables, lake(spark, into)
    stage_as_formerly(tables)
    monkeypatch.setattr("headwater.archive.cache.FEW_EVENTS", 0)
    put(source, "four.ndjson", first)
    with signalled_after("five.ndjson", source, Path(into)):
        result = invoked("update", str(source), "--into", into, "--follow", "1s")
    changed, staged = manifest_of(folder).tables, manifest_of(folder).updates.staged["parsed"]
    assert [name for name in TABLES if changed[name] != marks[name]] == ["quarantine"], "only what changed is written"
    assert tables.read("parsed", staged).columns == list(STAGED["parsed"].columns)
    assert {"no event of four.ndjson", "no event of .five.ndjson"} <= {
        row.excerpt for row in read(spark, into).quarantine.collect()
    }
    assert ["events", str(read(spark, into).events.count())] in [line.split() for line in result.stdout.splitlines()]


@pytest.mark.skipif("EVERY_CASE" not in os.environ, reason="sixteen updates and builds: some minutes")
@pytest.mark.parametrize("seed", range(4))
def test_after_each_update_the_tables_are_those_of_one_build(
    spark: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, seed: int
) -> None:
    """Events of many worlds are cut anywhere: names change, and runs fail that had succeeded, in any part.

    Of every other seed new events are few beside those before.
    """
    source, into = tmp_path / "events", str(tmp_path / "lineage")
    chance = random.Random(seed)
    events = [one for world in worlds(12) for one in world]
    chance.shuffle(events)
    cuts = [0, *sorted(chance.sample(range(1, len(events)), 3)), len(events)]
    if seed % 2:
        later = max(end - begin for begin, end in list(pairwise(cuts))[1:])
        monkeypatch.setattr("headwater.archive.cache.FEW_EVENTS", later + 1)
    for begin, end in pairwise(cuts):
        put(source, f"{begin}.ndjson", events[begin:end])
        updated = update(spark, str(source), into, format="parquet")
        with build(spark, str(source)) as whole:
            assert rows(updated) == rows(whole), f"events {begin} to {end}"


@pytest.mark.parametrize("first", ["on", "off"] if "EVERY_CASE" in os.environ else ["off"])
def test_overwrites_count_as_the_environment_of_each_update_believes(
    spark: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, first: str
) -> None:
    """A build reads the variable, and so does an update: where it says otherwise, all edges are looked at."""
    source, into = tmp_path / "events", str(tmp_path / "lineage")
    nights = [
        run_event(f"night {day}", written("out", {"v": [f"raw.{one}"]}, (), "OVERWRITE"), minute=day, run=f"{day}")
        for day, one in enumerate("abc")
    ]

    def current(archive: Archive) -> set[str]:
        return {row.input_field for row in archive.column_edges.where("current").collect()}

    monkeypatch.setenv("HEADWATER_BELIEVE_OVERWRITE", first)
    put(source, "one.ndjson", nights[:2])
    build(spark, str(source), into, format="parquet")
    assert current(read(spark, into)) == ({"b"} if first == "on" else {"a", "b"})
    monkeypatch.setenv("HEADWATER_BELIEVE_OVERWRITE", {"on": "off", "off": "on"}[first])
    put(source, "two.ndjson", nights[2:])
    assert current(update(spark, str(source), into)) == ({"a", "b", "c"} if first == "on" else {"c"})


def stage_as_formerly(place: Lake) -> None:
    """Stage parsed events as a headwater did that called the column ``outputs`` of the table ``parsed`` ``told``."""
    manifest = place.manifest()
    staged = manifest.updates.staged
    columns = {"told" if name == "outputs" else name: one for name, one in STAGED["parsed"].columns.items()}
    former = place.read("parsed", staged["parsed"]).withColumnRenamed("outputs", "told")
    mark = place.write("parsed", former, replace(STAGED["parsed"], columns=columns))
    place.publish(manifest, manifest.tables, replace(manifest.updates, staged={**staged, "parsed": mark}))
    assert "told" in place.read("parsed", mark).columns


def invoked(*words: str) -> Result:
    result = CliRunner().invoke(app, ["archive", *words], env={"COLUMNS": "200"})
    assert result.exit_code == 0, result.output
    return result


@contextmanager
def signalled_after(name: str, source: Path, into: Path) -> Iterator[None]:
    """After a batch puts a file into a source, and after one more sends SIGTERM to this process."""
    before = {one: signal.getsignal(one) for one in (signal.SIGINT, signal.SIGTERM)}
    manifest = into / "headwater.json"

    def another(text: str) -> str:
        latest = time.monotonic() + 300
        while (now := manifest.read_text()) == text and time.monotonic() < latest:
            time.sleep(0.1)
        return now

    def send(text: str) -> None:
        text = another(text)
        put(source, f".{name}", [])
        (source / f".{name}").rename(source / name)
        another(text)
        os.kill(os.getpid(), signal.SIGTERM)

    with ThreadPoolExecutor(1) as pool:
        sent = pool.submit(send, manifest.read_text())
        yield
        sent.result()
    for one, handler in before.items():
        signal.signal(one, handler)


@pytest.mark.parametrize("few", [True, False])
@every_format
def test_differences_are_merged_and_can_be_reverted(spark: Any, tmp_path: Path, format: str, few: bool) -> None:
    table, name = TABLES["column_edges"], "column_edges"
    lake, _ = place(spark, tmp_path, format)
    before = edges(spark, "out", 8)
    after = before.where("valid_from > timestamp_micros(1)").replace(["out5"], ["other"], ["output_dataset"])
    after = after.unionByName(edges(spark, "new", 12).where("valid_from > timestamp_micros(9)"))
    first = lake.write(name, before, table)
    changes = differences(lake.read(name, first), after, table).persist()
    assert changes.count() == 2 + 1 + 2
    assert outputs(lake.read(name, lake.change(name, first, changes, table, few=few))) == outputs(after)
    again = lake.restore(name, first)
    assert lake.restore(name, again) == again
    second = lake.add(name, again, edges(spark, "more", 2), table)
    assert outputs(lake.read(name, second)) == sorted([*outputs(before), "more0", "more1"])
    changes.unpersist()


def outputs(frame: Any) -> list[str]:
    return sorted(row.output_dataset for row in frame.collect())


def test_places_and_sources_that_cannot_be_used_are_errors(spark: Any, tmp_path: Path) -> None:
    with pytest.raises(ArchiveError, match="cannot be read"):
        update(spark, str(tmp_path / "nothing"), str(tmp_path / "lineage"))
    (tmp_path / "events").mkdir()
    with pytest.raises(ArchiveError, match="There is nothing in"):
        update(spark, str(tmp_path / "events"), str(tmp_path / "lineage"), format="parquet")
    with pytest.raises(ArchiveError, match="expected --checkpoints PATH"):
        update(spark, str(tmp_path / "events"), "ice.nothing", format="iceberg")
    command = ["archive", "update", "x", "--into", "y", "--follow", "now and then"]
    assert CliRunner().invoke(app, command).exit_code == 2
