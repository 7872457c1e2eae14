"""A real Chromium, and what a test may not see in it: errors, and requests to other hosts."""

import fcntl
import json
import os
import signal
import subprocess
import tempfile
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from playwright.sync_api import Browser, BrowserType, Locator, Page, expect, sync_playwright

ROOT = Path(__file__).resolve().parents[3]
WEB = ROOT / "web"
PATIENCE = 20_000  # milliseconds, on a machine that has other work
MOST_SECONDS = 200  # of a start of the browser, and of one test in it
CRASH_MESSAGES = ["Target crashed", "has been closed", "BrowserType.launch", "net::ERR_ABORTED"]
"""Patterns for the errors that Playwright raises when Chromium crashes, is killed or does not start."""
EXECUTABLE = "import chromium from '@sparticuz/chromium'; console.log(await chromium.executablePath())"
# Without a GPU and without the sandbox of a system package.
ARGUMENTS = ("--no-sandbox", "--disable-gpu", "--font-render-hinting=none")


@dataclass(frozen=True, slots=True)
class Chromium:
    """A running Chromium, and the process that all of its others end with."""

    browser: Browser
    pid: int

    @contextmanager
    def limited(self, seconds: float) -> Iterator[Browser]:
        """End the browser where it is used for longer: Playwright, which waits for one that hangs, then raises."""
        timer = threading.Timer(seconds, os.kill, (self.pid, signal.SIGKILL))
        timer.start()
        try:
            yield self.browser
        finally:
            timer.cancel()


@contextmanager
def chromiums() -> Iterator[Callable[[], Chromium]]:
    """Give a function that returns a Chromium: that of the call before, or where that one has ended, a new one.

    It is among the development packages of ``web/``; ``make page`` installs these.
    """
    node = ["node", "--input-type=module", "--eval", EXECUTABLE]
    # It is unpacked where it is not yet: one process at a time, as no other may start what is still being written.
    with Path(tempfile.gettempdir(), "headwater-tests-chromium.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        path = subprocess.run(node, cwd=WEB, capture_output=True, text=True, check=True).stdout.strip()
    expect.set_options(timeout=PATIENCE)
    with sync_playwright() as playwright:
        started: list[Chromium] = []

        def running() -> Chromium:
            if not started or not started[-1].browser.is_connected():
                started.append(_start(playwright.chromium, path))
            return started[-1]

        yield running


def _start(kind: BrowserType, path: str) -> Chromium:
    browser = kind.launch(executable_path=path, args=ARGUMENTS, timeout=MOST_SECONDS * 1000)
    processes = browser.new_browser_cdp_session().send("SystemInfo.getProcessInfo")["processInfo"]
    return Chromium(browser, next(one["id"] for one in processes if one["type"] == "browser"))


@dataclass(slots=True)
class Visit:
    """A page at a server, in a profile of its own."""

    page: Page
    url: str
    faults: list[str] = field(default_factory=list)

    def go(self, query: str = "") -> Page:
        self.page.goto(f"{self.url}/{query}")
        return self.page

    def require_clean(self) -> None:
        """Nothing failed in the page, and it asked no other host for anything."""
        assert self.faults == []


@dataclass(slots=True)
class CountedClicks:
    """Clicks of a person: each counts as one, and so does each field that is filled in."""

    page: Page
    clicks: int = 0

    def click(self, on: Locator) -> None:
        self.clicks += 1
        on.click()

    def fill(self, field: Locator, text: str) -> None:
        self.clicks += 1
        field.fill(text)


@contextmanager
def visit(browser: Browser, url: str, **options: Any) -> Iterator[Visit]:
    """Open a profile with options of Playwright (``color_scheme``, ``viewport``)."""
    context = browser.new_context(**{"viewport": {"width": 1280, "height": 800}, "locale": "en-GB"} | options)
    context.set_default_timeout(PATIENCE)
    page = context.new_page()
    seen = Visit(page, url)
    page.on("pageerror", lambda error: seen.faults.append(str(error)))
    page.on("console", lambda message: seen.faults.append(message.text) if _is_fault(message) else None)
    page.on("request", lambda request: seen.faults.append(request.url) if _is_foreign(request.url, url) else None)
    try:
        yield seen
    finally:
        context.close()


def _is_fault(message: Any) -> bool:
    # The browser itself logs each answer that is a refusal, which the page shows.
    return message.type in ("error", "warning") and "Failed to load resource" not in message.text


def _is_foreign(request: str, url: str) -> bool:
    return urlsplit(request).scheme.startswith("http") and urlsplit(request).netloc != urlsplit(url).netloc


def breaches(page: Page, *rules: str) -> list[str]:
    """Return the rules of WCAG 2.2 AA, all or some, that axe finds broken, each with the elements."""
    if not page.evaluate("'axe' in window"):
        page.evaluate((WEB / "node_modules" / "axe-core" / "axe.min.js").read_text())
    only = rules or ("wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice")
    found = page.evaluate(f"axe.run(document, {json.dumps({'runOnly': only})})")
    return [f"{one['id']}: {[node['html'][:200] for node in one['nodes']]}" for one in found["violations"]]
