"""Every method of Marquez's own Python client, against a server on a port."""

import socket
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import uvicorn
from tests.server.marquez.conftest import EVENTS

from headwater.server import ServerSettings, create_app
from headwater.store import open_store

marquez_client = pytest.importorskip("marquez_client")

# The client marks its methods as to be removed in a version that has long been.
pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore:unclosed:ResourceWarning")

LAKE, FLIGHTS = "s3://lake", "flights"


@pytest.fixture
def client(tmp_path: Path) -> Iterator[Any]:
    """The client of a server with the small world."""
    place = f"sqlite:///{tmp_path}/lineage.db"
    with open_store(place) as store:
        store.ingest(EVENTS)
    with socket.create_server(("127.0.0.1", 0)) as listening:
        server = uvicorn.Server(uvicorn.Config(create_app(ServerSettings(place)), log_level="error", lifespan="on"))
        thread = threading.Thread(target=server.run, args=([listening],), daemon=True)
        thread.start()
        while not server.started and thread.is_alive():
            time.sleep(0.05)
        yield marquez_client.MarquezClient(f"http://127.0.0.1:{listening.getsockname()[1]}", timeout_ms=120_000)
        server.should_exit = True
        thread.join()


def test_every_method(client: Any) -> None:
    _reads(client)
    _describes(client)
    _runs(client)


def _reads(client: Any) -> None:
    assert "spark" in [one["name"] for one in client.list_namespaces()["namespaces"]]
    assert client.get_namespace(LAKE)["ownerName"] == "anonymous"
    assert len(client.list_events()["events"]) == 3
    assert len(client.list_events("spark", limit=1)["events"]) == 1
    assert [one["name"] for one in client.list_sources()["sources"]] == ["default", "lake"]
    assert client.get_source("lake")["connectionUrl"] == LAKE
    assert client.list_datasets(LAKE)["totalCount"] == 2
    assert client.get_dataset(LAKE, "raw/flights")["currentVersion"] is None
    (version,) = client.list_dataset_versions(LAKE, FLIGHTS)["versions"]
    assert client.get_dataset_version(LAKE, FLIGHTS, version["version"]) == version
    assert client.list_jobs("spark")["totalCount"] == 2
    (run,) = client.list_job_runs("spark", "etl.clean")["runs"]
    assert client.get_job("spark", "etl.clean")["latestRun"] == client.get_job_run(run["id"]) == run
    assert len(client.get_column_lineage_by_dataset(LAKE, FLIGHTS)["graph"]) == 5
    assert len(client.get_column_lineage_by_dataset_field(LAKE, FLIGHTS, "km", depth=1)["graph"]) == 3
    assert len(client.get_column_lineage_by_dataset(LAKE, FLIGHTS, with_downstream=True)["graph"]) == 7
    assert len(client.get_column_lineage_by_job("dbt:prod", "carriers")["graph"]) == 7
    versioned = client.get_column_lineage_by_dataset(LAKE, FLIGHTS, version=version["version"])["graph"]
    assert versioned[0]["id"].endswith(f"#{version['version']}")
    assert [one["name"] for one in client.list_tags()["tags"]] == ["gold", "nightly", "pii"]
    with pytest.raises(marquez_client.errors.APIError):
        client.get_dataset(LAKE, "nothing")


def _describes(client: Any) -> None:
    assert client.create_namespace("a/b", "us", "ours")["description"] == "ours"
    assert client.create_source("db", "POSTGRESQL", "jdbc:postgresql://db/x")["name"] == "db"
    kind = marquez_client.models.DatasetType.DB_TABLE
    made = client.create_dataset(
        "a/b", "x y", kind, "x y", "db", "d", fields=[{"name": "f", "type": "INT"}], tags=["t"]
    )
    assert (made["description"], made["tags"], made["fields"][0]["type"]) == ("d", ["t"], "INT")
    assert client.create_tag("t", "a tag") == {"name": "t", "description": "a tag"}
    assert client.tag_dataset("a/b", "x y", "u")["tags"] == ["t", "u"]
    assert client.tag_dataset_field("a/b", "x y", "f", "v")["fields"][0]["tags"] == ["v"]
    read = [marquez_client.models.DatasetId("a/b", "x y")]
    job = client.create_job("a/b", "j", marquez_client.models.JobType.BATCH, "https://example.org", read, [], "jd")
    assert (job["description"], job["inputs"]) == ("jd", [{"namespace": "a/b", "name": "x y"}])


def _runs(client: Any) -> None:
    begun = client.create_job_run("a/b", "j", nominal_start_time="2026-01-01T00:00:00Z", mark_as_running=True)
    assert begun["state"] == "RUNNING"
    assert client.mark_job_run_as_completed(begun["id"])["state"] == "COMPLETED"
    for end, state in ((client.mark_job_run_as_failed, "FAILED"), (client.mark_job_run_as_aborted, "ABORTED")):
        run = client.create_job_run("a/b", "j", run_args={"k": "v"})
        assert (run["state"], run["args"]) == ("NEW", {"k": "v"})
        client.mark_job_run_as_started(run["id"])
        assert end(run["id"])["state"] == state
