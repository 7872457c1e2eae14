"""A store over three jobs: a customers table, a copy with a hash, and a report."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from click.testing import Result
from tests.store.conftest import new_file, run_event, written
from typer.testing import CliRunner

from headwater.cli.main import app
from headwater.store import Store, open_store

EVENTS = [
    run_event(
        "load",
        written(
            "lake/customers",
            {"id": ["landing/people.id"], "email": ["landing/people.mail"], "city": ["landing/people.city"]},
            ["warehouse.customers"],
        ),
    ),
    run_event(
        "clean",
        written(
            "lake/contacts",
            {
                "who": ["lake/customers.email TRANSFORMATION masked"],
                "domain": ["lake/customers.email TRANSFORMATION"],
                "n": ["lake/customers.email AGGREGATION masked"],
                "*": ["lake/customers.city FILTER"],
            },
        ),
        minute=1,
    ),
    run_event(
        "report",
        written("reports/daily", {"domain": ["lake/contacts.domain"], "who": ["lake/contacts.who"]}),
        minute=2,
    ),
]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """A file with the events above in it."""
    file = new_file(tmp_path)
    with open_store(str(file)) as opened:
        opened.ingest(EVENTS)
    return file


@pytest.fixture
def store(path: Path) -> Iterator[Store]:
    """That store, open."""
    with open_store(str(path)) as opened:
        yield opened


Run = Callable[..., Result]


@pytest.fixture
def headwater(path: Path) -> Run:
    """Runs a command on the store."""

    def run(*arguments: object) -> Result:
        environment = {"HEADWATER_STORE": str(path), "COLUMNS": "200", "TERM": "dumb", "NO_COLOR": "1"}
        return CliRunner().invoke(app, [str(one) for one in arguments], env=environment)

    return run
