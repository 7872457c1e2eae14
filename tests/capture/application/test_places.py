"""Places that cannot take lineage: the job goes on, one message says why, and nothing that was captured is lost."""

import json
import os
import socket
import sqlite3
import subprocess
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any

import pytest
from tests.capture.conftest import SPARK, Ended, Jobs

from headwater.store import open_store
from headwater.store.schema import REVISIONS, VERSION_TABLE

pytestmark = pytest.mark.spark

ATTACHED = (
    SPARK
    + """
import os, sys, time
import headwater

def under(place, **settings):
    print("---", place, file=sys.stderr, flush=True)
    begun = time.monotonic()
    headwater.attach(spark, quiet=False, **settings)
    items.write.mode("overwrite").parquet("out/" + sys.argv[1])
    headwater.detach(spark)
    print(place, spark.read.parquet("out/" + sys.argv[1]).count(), time.monotonic() - begun < 40)

for place in sys.argv[2:]:
    under(place, **({"config": "away.yml"} if place == "away" else {"store": f"{place}/lineage.db"}))
"""
)

ODD = [
    "a.b",
    "with space",
    "quo'te",
    'dou"ble',
    "back`tick",
    "Größe 水",
    "x" * 10_000,
    "new\nline",
    "a\\b/c",
    "%s {0} $1",
    "*",
]
ODDLY = (
    f"ODD = {ODD!r}"
    + """
print("--- odd", file=sys.stderr, flush=True)
oddly = spark.range(2).select(*[(sf.col("id") + n).alias(name) for n, name in enumerate(ODD)])
oddly.write.mode("overwrite").json("odd päth/tä'ble.x")
headwater.attach(spark, store="odd/lineage.db", events="odd.ndjson")
read = spark.read.json("odd päth/tä'ble.x")
quoted = ["`" + name.replace("`", "``") + "`" for name in ODD]
read.select(*[sf.col(name) for name in quoted]).write.mode("overwrite").json("odd päth/its copy")
lineage = headwater.lineage(read)
assert set(lineage.columns) == set(ODD)
assert all(name in json.loads(lineage.json())["columns"] for name in ODD)
lineage.tree(), lineage.mermaid(), lineage._repr_html_()
headwater.detach(spark)
"""
)


class BackEnd:
    """An HTTP server that keeps what it is sent; ``start`` it on the port that was free before."""

    def __init__(self) -> None:
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        self.events: list[dict[str, Any]] = []

    def start(self) -> None:
        events = self.events

        class Taking(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                events.append(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))
                self.send_response(201)
                self.end_headers()

            def log_message(self, *_: object) -> None:
                """Say nothing."""

        self._server = HTTPServer(("127.0.0.1", self.port), Taking)
        self._thread = threading.Thread(target=self._server.serve_forever)
        self._thread.start()

    def stop(self) -> None:
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()


@pytest.fixture(scope="module")
def jobs(tmp_path_factory: pytest.TempPathFactory) -> Jobs:
    return Jobs(tmp_path_factory.mktemp("places"))


@pytest.fixture(scope="module")
def back_end() -> BackEnd:
    return BackEnd()


@pytest.fixture(scope="module")
def full_disk(jobs: Jobs) -> Iterator[bool]:
    """A disk of 100 KB at ``full``; False where none can be mounted."""
    folder = jobs.folder / "full"
    folder.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=100k", "tmpfs", str(folder)]
    mounted = os.geteuid() == 0 and subprocess.run(mount, capture_output=True, check=False).returncode == 0
    yield mounted
    if mounted:
        subprocess.run(["umount", "-l", str(folder)], check=True)


ONLY_THERE = {"HEADWATER_EVENTS": ""}
PLACES = ["good", "corrupt", "foreign", "newer", "folder", "/sys/headwater", "locked", "away"]


@pytest.fixture(scope="module")
def ended(jobs: Jobs, back_end: BackEnd, full_disk: bool) -> Iterator[Ended]:
    """The job over all bad places; afterwards they are good again."""
    folder = jobs.folder
    for name in ("corrupt", "foreign", "newer", "folder/lineage.db", "locked"):
        (folder / name).mkdir(parents=True)
    (folder / "corrupt/lineage.db").write_bytes(b"no database" * 1000)
    with sqlite3.connect(folder / "foreign/lineage.db") as other:
        other.execute("CREATE TABLE mine (x)")
    other.close()
    for name in ("newer", "locked"):
        open_store(str(folder / name / "lineage.db")).close()
    set_revision(folder / "newer/lineage.db", "r9999")
    (folder / "away.yml").write_text(f"transport:\n  type: http\n  url: http://127.0.0.1:{back_end.port}\n")
    jobs.write(ATTACHED + "\nimport json\n" + ODDLY)
    holder = sqlite3.connect(folder / "locked/lineage.db", isolation_level=None)
    holder.execute("BEGIN IMMEDIATE")
    try:
        ended = jobs.plain("job.py", "first", *PLACES, *(["full"] if full_disk else []), environment=ONLY_THERE)
    finally:
        holder.close()
    repair(folder)
    back_end.start()
    yield ended
    back_end.stop()


def set_revision(path: Path, revision: str) -> None:
    with sqlite3.connect(path) as store:
        store.execute(f"UPDATE {VERSION_TABLE} SET version_num = ?", [revision])
    store.close()


def repair(folder: Path) -> None:
    (folder / "corrupt/lineage.db").unlink()
    (folder / "foreign/lineage.db").unlink()
    (folder / "folder/lineage.db").rmdir()
    set_revision(folder / "newer/lineage.db", REVISIONS[-1])
    if os.path.ismount(folder / "full"):
        subprocess.run(["mount", "-o", "remount,size=20m", str(folder / "full")], check=True)


def printed(ended: Ended, place: str) -> list[str]:
    """The lines of headwater on standard error about one place."""
    _, _, rest = ended.err.partition(f"--- {place}\n")
    return [line for line in rest.partition("--- ")[0].splitlines() if "ineage" in line or "headwater" in line]


def test_the_job_never_notices(ended: Ended) -> None:
    assert ended.code == 0, ended.err
    assert "Traceback" not in ended.err
    assert {line.rsplit(" ", 2)[1:] == ["3", "True"] for line in ended.out.splitlines()} == {True}


@pytest.mark.parametrize(
    ("place", "reason"),
    [
        ("corrupt", "it is not a headwater store or is damaged"),
        ("foreign", "is a database but not a headwater store"),
        ("newer", "has schema r9999, this headwater knows up to"),
        ("folder", "is no file: expected an SQLite file"),
        ("/sys/headwater", "Check the rights of its folders"),
        ("locked", "another process holds it"),
        ("away", "Connection refused"),
    ],
)
def test_one_line_says_what_is_wrong_and_one_where_the_events_are(ended: Ended, place: str, reason: str) -> None:
    lines = printed(ended, place)
    assert len(lines) == 2, "\n".join(lines)
    first, last = lines
    assert first.startswith(f"Lineage events cannot go to {'http' if place == 'away' else 'store'} now (")
    assert reason in first
    assert first.endswith("; they are kept and sent later.")
    assert "in 1 dataset; 4 events wait in " in last
    named = Path(last.partition(" wait in ")[2].partition(" and go with the next run")[0])
    key = "http" if place == "away" else "store"
    assert any(len(path.read_text().splitlines()) == 4 for path in named.glob(f"{key}*.ndjson")), (
        f"{named} holds no such events"
    )


def test_a_good_place_needs_one_line(ended: Ended) -> None:
    assert printed(ended, "good") == [
        "headwater: captured the lineage of 2 columns in 1 dataset. "
        "Look: headwater show --store good/lineage.db out/first"
    ]


def test_odd_names_arrive_as_they_are(ended: Ended, jobs: Jobs) -> None:
    complete = next(one for one in jobs.events("odd.ndjson") if one["outputs"] and one["eventType"] == "COMPLETE")
    (output,), (source,) = complete["outputs"], complete["inputs"]
    assert source["name"] == str(jobs.folder / "odd päth/tä'ble.x")
    assert output["name"] == str(jobs.folder / "odd päth/its copy")
    fields = output["facets"]["columnLineage"]["fields"]
    assert {name: [one["field"] for one in found["inputFields"]] for name, found in fields.items()} == {
        name: [name] for name in ODD
    }
    with open_store(str(jobs.folder / "odd/lineage.db"), read_only=True) as store:
        assert [event["eventType"] for event in store.events(complete["run"]["runId"])] == ["START", "COMPLETE"]
    answer = jobs.headwater("roots", "--store", "odd/lineage.db", "its copy.back`tick")
    assert answer.code == 0, answer.err


def test_the_next_run_delivers_waiting_events(ended: Ended, jobs: Jobs, back_end: BackEnd, full_disk: bool) -> None:
    places = [place for place in PLACES if place != "/sys/headwater"]
    again = jobs.plain("job.py", "second", *places, *(["full"] if full_disk else []), environment=ONLY_THERE)
    assert again.code == 0, again.err
    for place in [*places, *(["full"] if full_disk else [])]:
        assert len(printed(again, place)) == 1, place
        if place == "away":
            names = [event["outputs"][0]["name"] for event in back_end.events if event["outputs"]]
        else:
            names = datasets(jobs.folder / place / "lineage.db")
        assert {Path(name).name for name in names} == {"first", "second"}, place


def datasets(path: Path) -> list[str]:
    with sqlite3.connect(path) as store:
        found = [name for (name,) in store.execute("SELECT name FROM dataset")]
    store.close()
    return found
