"""Several processes with one store: writers wait for one another, readers for nobody."""

import subprocess
import sys
from pathlib import Path

from headwater.store import Store, open_store
from headwater.store.questions import datasets, jobs

ROOT = Path(__file__).resolve().parents[3]
WRITER = """
import sys, uuid
from headwater.store import open_store

def event(name, place):
    output = {"namespace": "file", "name": f"/{name}{place % 5}", "facets": {"columnLineage": {"fields": {
        "x": {"inputFields": [{"namespace": "file", "name": "/shared", "field": f"x{place % 3}"}]}}}}}
    return {"eventType": "COMPLETE", "eventTime": f"2026-01-01T00:00:{place:02}Z", "run": {"runId": str(uuid.uuid4())},
            "job": {"namespace": "n", "name": f"{name}{place % 5}"}, "outputs": [output]}

with open_store(sys.argv[1]) as store:
    for place in range(30):
        store.ingest([event(sys.argv[2], place)])
"""


def write(url: str, name: str) -> subprocess.Popen[str]:
    environment = {"PYTHONPATH": ":".join(path for path in (str(ROOT / "src"), *sys.path) if path)}
    return subprocess.Popen(
        [sys.executable, "-c", WRITER, url, name], stderr=subprocess.PIPE, text=True, env=environment
    )


def test_two_writers_and_a_reader_do_not_disturb_each_other(url: str) -> None:
    writers = [write(url, name) for name in ("one", "two")]
    while any(writer.poll() is None for writer in writers):
        try_to_read(url)
    assert [writer.communicate()[1] for writer in writers] == ["", ""]
    with open_store(url) as store:
        assert [(job.runs, job.state) for job in jobs(store)] == [(6, "COMPLETE")] * 10
        assert len(datasets(store)) == 11


def try_to_read(url: str) -> None:
    with open_store(url) as store:
        assert consistent(store)


def consistent(store: Store) -> bool:
    """Whether every job that is listed has its output listed too, in one read."""
    with store.read() as connection:
        runs = connection.exec_driver_sql("SELECT count(*) FROM run").scalar()
        events = connection.exec_driver_sql("SELECT count(*) FROM event").scalar()
    return runs == events
