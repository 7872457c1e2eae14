"""Runs the streaming cases, once a session: those without connectors, and those with Kafka and table formats."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack
from pathlib import Path

import pytest

from ..connectors import KAFKA_JARS, LAKE
from ..openlineage.conftest import check
from ..sources.case_file import source_cases
from ..sources.watched import Application, Plan, once_each
from .broker import running_broker

__all__ = ["check"]

CASES = source_cases(Path(__file__).parent / "cases")
INPUTS = {
    "customers": "VALUES (1, 'Ann', 'DE'), (2, 'Bob', 'FR') AS t(id, name, country)",
    "orders": "VALUES (10, 1, 5.0D, TIMESTAMP '2026-01-01 00:00:00'), (11, 2, 7.5D, TIMESTAMP '2026-01-01 00:05:00')"
    " AS t(id, customer, amount, at)",
    "carts": "VALUES (1, named_struct('code', 'a', 'price', 2.0D), 'DE') AS t(id, item, country)",
    "clicks": "VALUES (10, 'shop', TIMESTAMP '2026-01-01 00:00:00') AS t(order_id, page, seen)",
}
OWN = {"spark.master": "local[2]", "spark.app.name": "streams", "spark.sql.catalogImplementation": "in-memory"}
CONF: Mapping[str, Mapping[str, str]] = {"streams": OWN, "kafka": {**OWN, **LAKE}}
PASSWORD = "hunter2-of-the-broker"


def run_application(kind: str, folder: Path, running: ExitStack) -> Application:
    """The application of a kind after its run, with the broker that it needs."""
    cases = [case for case in CASES if case.application == kind]
    if kind == "streams":
        return Application(Plan(cases, INPUTS, CONF[kind]), folder, {})
    if not KAFKA_JARS:
        pytest.skip("there is no Kafka connector for this Spark")
    broker = running.enter_context(running_broker(folder))
    scope = {"kafka": {"kafka.bootstrap.servers": broker}, "password": PASSWORD}
    plan = Plan(cases, INPUTS, CONF[kind], scope, KAFKA_JARS)
    return Application(plan, folder, {"broker": broker, "password": PASSWORD})


@pytest.fixture(scope="session")
def streaming(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callable[[str], Application]]:
    """The application of a kind; it runs when the first test asks for it."""
    yield from once_each(run_application, tmp_path_factory)
