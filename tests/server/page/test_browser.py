"""A browser that hangs ends what waits for it, and the next test has another."""

import os
import signal
from collections.abc import Callable

import pytest
from playwright.sync_api import Browser, Error
from tests.server.page.browser import Chromium, visit


def test_one_that_hangs_is_ended_and_followed_by_another(running: Callable[[], Chromium]) -> None:
    first = running()
    with pytest.raises(Error, match="has been closed"), first.limited(1) as browser:
        _stop_and_ask(browser, first.pid)
    second = running()
    assert second.pid != first.pid
    with second.limited(60) as browser, visit(browser, "") as opened:
        assert opened.page.evaluate("1 + 1") == 2


def _stop_and_ask(browser: Browser, pid: int) -> None:
    with visit(browser, "") as opened:
        os.kill(pid, signal.SIGSTOP)
        opened.page.evaluate("1 + 1")
