"""dbt in an environment of its own, wrapped by openlineage-dbt, sends the lineage of models to a server."""

import os
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
from tests.senders.conftest import Place, documented, steps, variables
from tests.server.processes import ROOT

BIN = ROOT / ".venv-dbt" / "bin"
SHOP = "duckdb://shop.duckdb"

pytestmark = [
    pytest.mark.skipif(not (BIN / "dbt-ol").exists(), reason="needs the environment that make .venv-dbt/.ready makes"),
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
]

SALES = {"sales.order_id <- orders.order_id", "sales.customer <- orders.customer", "sales.gross <- orders.amount"}
CITIES = {"cities.city <- people.city", "cities.total <- sales.gross"}


def dbt(place: Place, folder: Path, lines: str) -> "subprocess.CompletedProcess[str]":
    """dbt on a copy of the shop, without word to its makers."""
    shutil.copytree(Path(__file__).parent / "shop", folder, dirs_exist_ok=True)
    path = os.pathsep.join([str(BIN), os.environ["PATH"]])
    environment = variables(
        place, PATH=path, DBT_SEND_ANONYMOUS_USAGE_STATS="false", DO_NOT_TRACK="1", HOME=str(folder)
    )
    environment.pop("PYTHONPATH", None)
    return subprocess.run(
        ["bash", "-c", lines], cwd=folder, env=environment, capture_output=True, text=True, check=False, timeout=500
    )


def test_dbt_sends_a_server_its_lineage(place: Place, server: Any, tmp_path: Path) -> None:
    ended = dbt(place, tmp_path / "shop", documented("dbt, by openlineage-dbt"))
    assert ended.returncode == 0, ended.stdout + ended.stderr
    assert "Completed successfully" in ended.stdout
    assert place.upstream("cities.total") == {
        "cities.total <- sales.gross TRANSFORMATION",
        "sales.gross <- orders.amount TRANSFORMATION",
    }
    assert place.column_lineage(SHOP, "shop.main.cities") == CITIES | {"sales.gross <- orders.amount"}
    client = place.marquez()
    assert steps(client.get_column_lineage_by_dataset(SHOP, "shop.main.sales")) == SALES
    assert steps(client.get_column_lineage_by_dataset(SHOP, "shop.main.sales", with_downstream=True)) == SALES | {
        "cities.total <- sales.gross"
    }
    assert [field["name"] for field in client.get_dataset(SHOP, "shop.main.cities")["fields"]] == ["city", "total"]
    jobs = {job["name"]: job["latestRun"] for job in client.list_jobs("dbt")["jobs"]}
    models = {"shop.main.shop.cities.build.run", "shop.main.shop.sales.build.run"}
    assert {name: run["state"] for name, run in jobs.items()} == dict.fromkeys(models | {"dbt-run-shop"}, "COMPLETED")
    assert {jobs[name]["args"]["run_id"] for name in models} == {jobs["dbt-run-shop"]["id"]}
