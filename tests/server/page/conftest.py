"""A browser, and servers with the lineage of ``lineage.py``, once for each module."""

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager

import pytest
from playwright.sync_api import Browser
from tests.server.page.browser import Visit, chromium, visit
from tests.server.page.lineage import EVENTS
from tests.server.processes import Forker, ServerProcess, serving

from headwater.store import open_store

Visiting = Callable[..., AbstractContextManager[Visit]]


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with chromium() as started:
        yield started


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
