"""A browser, and servers with the lineage of ``lineage.py``, once for each module; where the browser ends, another."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser
from tests.server.page.browser import CRASH_MESSAGES, MOST_SECONDS, Chromium, Visit, chromiums, visit
from tests.server.page.lineage import EVENTS
from tests.server.processes import Forker, ServerProcess, serving

from headwater.store import open_store

HERE = Path(__file__).parent


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if item.path.is_relative_to(HERE):
            item.add_marker(pytest.mark.flaky(reruns=2, only_rerun=CRASH_MESSAGES))


@pytest.fixture(scope="module")
def running() -> Iterator[Callable[[], Chromium]]:
    with chromiums() as started:
        yield started


@pytest.fixture
def browser(running: Callable[[], Chromium]) -> Iterator[Browser]:
    with running().limited(MOST_SECONDS) as opened:
        yield opened


@pytest.fixture(scope="module")
def filled(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The URL of an SQLite store with the lineage."""
    url = f"sqlite:///{tmp_path_factory.mktemp('page')}/lineage.db"
    with open_store(url) as store:
        store.ingest(EVENTS)
    return url


@pytest.fixture(scope="module")
def server(forker: Forker, filled: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServerProcess]:
    with serving(forker, filled, tmp_path_factory.mktemp("server") / "log") as started:
        yield started


@pytest.fixture
def visiting(browser: Browser, server: ServerProcess) -> Iterator[Visit]:
    """A fresh profile at the server; in the end nothing may have failed in it."""
    with visit(browser, server.url) as opened:
        yield opened
        opened.require_clean()
