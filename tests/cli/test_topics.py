"""``headwater ingest kafka://…`` on a real broker: each event once, whatever happens between."""

import json
import os
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest
from click.testing import Result
from confluent_kafka import Producer
from confluent_kafka.admin import AdminClient, NewTopic
from openlineage.client import OpenLineageClient
from openlineage.client.event_v2 import Job, Run, RunEvent, RunState
from openlineage.client.transport.kafka import KafkaConfig, KafkaTransport
from tests.cli.conftest import event, inputs, lineage
from tests.streaming.broker import running_broker
from typer.testing import CliRunner

from headwater.cli.main import app

Ask = Callable[..., Result]
EVENTS = [
    event(run, "gold", f"/gold/{run}", lineage([], km=inputs("/silver/flights distance AGGREGATION")))
    for run in range(1, 4)
]


@pytest.fixture(scope="module")
def broker(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with running_broker(tmp_path_factory.mktemp("broker")) as address:
        yield address


@pytest.fixture
def topic(broker: str, request: pytest.FixtureRequest) -> str:
    """The address of a topic of the test's own, with two partitions."""
    name = request.node.name.replace("[", "_").replace("]", "")[:60]
    admin = AdminClient({"bootstrap.servers": broker})
    admin.create_topics([NewTopic(name, 2)])[name].result(30)
    return f"kafka://{broker}/{name}"


@pytest.fixture
def ask(tmp_path: Path) -> Ask:
    """Runs a command on a store without events."""
    environment = {**os.environ, "HEADWATER_STORE": str(tmp_path / "lineage.db"), "COLUMNS": "80", "NO_COLOR": "1"}
    return lambda *arguments: CliRunner().invoke(app, arguments, env=environment)


def send(topic: str, *texts: str | bytes | None) -> None:
    brokers, name = topic.removeprefix("kafka://").split("/")
    producer = Producer({"bootstrap.servers": brokers})
    for place, text in enumerate(texts):
        producer.produce(name, text, partition=place % 2)
    assert producer.flush(30) == 0


@pytest.mark.spark
def test_what_the_openlineage_client_sends_is_in_the_store(topic: str, ask: Ask, tmp_path: Path) -> None:
    brokers, name = topic.removeprefix("kafka://").split("/")
    transport = KafkaTransport(KafkaConfig(config={"bootstrap.servers": brokers}, topic=name, flush=True))
    client = OpenLineageClient(transport=transport)
    run = Run("01900000-0000-7000-8000-000000000001")
    now = datetime.now(UTC).isoformat()
    client.emit(RunEvent(eventTime=now, eventType=RunState.COMPLETE, run=run, job=Job("airflow", "daily")))
    client.close()
    assert ask("ingest", topic, "--until-end").stdout == "events: 1 added, 0 known already, 0 rejected\n"
    assert "airflow" in ask("jobs").stdout


@pytest.mark.spark
def test_a_group_gets_each_event_once_and_another_group_all_of_them(topic: str, ask: Ask) -> None:
    send(topic, *map(json.dumps, EVENTS))
    assert "3 added, 0 known" in ask("ingest", topic, "--until-end").stdout
    assert "0 added, 0 known" in ask("ingest", topic, "--until-end").stdout
    assert "0 added, 3 known" in ask("ingest", topic, "--until-end", "--group", "other").stdout


@pytest.mark.spark
def test_what_is_no_event_is_named_by_its_place_and_keeps_nothing_out(topic: str, ask: Ask) -> None:
    send(topic, "{", json.dumps(EVENTS[0]), None, json.dumps(EVENTS[1]))
    answer = ask("ingest", topic, "--until-end")
    assert answer.exit_code == 1
    assert "2 added, 0 known already, 1 rejected" in answer.stdout
    assert "partition 0, offset 0: " in answer.stderr


@pytest.mark.spark
def test_what_the_store_did_not_take_comes_again(topic: str, ask: Ask, tmp_path: Path) -> None:
    send(topic, *map(json.dumps, EVENTS))
    broken = tmp_path / "broken.db"
    broken.write_text("no database at all, but long enough for one to be looked for in it")
    assert ask("ingest", topic, "--until-end", "--store", str(broken)).exit_code == 1
    assert "3 added" in ask("ingest", topic, "--until-end").stdout


@pytest.mark.spark
def test_a_topic_that_is_not_there(broker: str, ask: Ask) -> None:
    answer = ask("ingest", f"kafka://{broker}/nothing")
    assert answer.exit_code == 1
    assert f"{broker} has no topic 'nothing' to read" in answer.stderr


@pytest.mark.parametrize(
    ("address", "properties", "message"),
    [
        ("kafka://127.0.0.1:1/t", "", "No Kafka broker answers at 127.0.0.1:1"),
        ("kafka://127.0.0.1:1", "", "expected kafka://HOST:PORT"),
        ("kafka:///t", "", "expected kafka://HOST:PORT"),
        ("kafka://127.0.0.1:1/t", "security.protocol", "has a line without '='"),
        ("kafka://127.0.0.1:1/t", "what.is.this=1", "The settings for Kafka cannot be used"),
    ],
)
def test_an_unreadable_topic_is_reported(address: str, properties: str, message: str, ask: Ask, tmp_path: Path) -> None:
    file = tmp_path / "client.properties"
    file.write_text(f"# of the tests\n{properties}\n")
    answer = ask("ingest", address, "--kafka-properties", str(file))
    assert answer.exit_code == 1
    assert message in answer.stderr


def test_settings_without_a_file_are_refused(ask: Ask, tmp_path: Path) -> None:
    answer = ask("ingest", "kafka://127.0.0.1:1/t", "--kafka-properties", str(tmp_path / "none"))
    assert "cannot be read (No such file or directory)" in answer.stderr
