"""A program of its own sends by openlineage-python; another asks by marquez-python."""

import subprocess
import sys
from typing import Any

import pytest
from tests.senders.conftest import Place, documented, steps, variables

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning")
SENDING = documented("Python, by openlineage-python")


def sent(place: Place, **more: str) -> "subprocess.CompletedProcess[str]":
    command = [sys.executable, "-c", SENDING]
    return subprocess.run(
        command, env=variables(place, **more), capture_output=True, text=True, check=False, timeout=300
    )


def test_a_program_sends_a_server_its_lineage(place: Place, server: Any) -> None:
    ended = sent(place)
    assert ended.returncode == 0, ended.stderr
    assert place.upstream("totals.total") == {"totals.total <- orders.amount AGGREGATION"}
    client = place.marquez()
    assert steps(client.get_column_lineage_by_dataset_field("file", "/data/totals", "total")) == {
        "totals.total <- orders.amount"
    }
    assert client.get_job("demo", "totals")["latestRun"]["state"] == "COMPLETED"


def test_without_the_key_it_is_refused_and_sees_nothing(place: Place, server: Any) -> None:
    ended = sent(place, OPENLINEAGE_API_KEY=place.key[:-1])
    assert (ended.returncode, "401" in ended.stderr) == (1, True)
    assert place.get("/api/v1/events")["events"] == []
    errors = pytest.importorskip("marquez_client.errors")
    place.key = place.key[:-1]
    with pytest.raises(errors.APIError) as refused:
        place.marquez().list_jobs("demo")
    assert "401" in str(refused.value.__context__)
