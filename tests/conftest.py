"""For all tests: what Spark's processes find in their environment, and which tests stay together."""

import os
import signal
from pathlib import Path

import pytest

from .class_archive import options

HERE = Path(__file__).parent
PANDAS = {"PYARROW_IGNORE_TIMEZONE": "1"}
"""The pandas API of Spark asks for it, and warns when a Spark runs already."""


def pytest_configure() -> None:
    """Let interrupts reach the jobs of tests: a shell starts what runs in the background, and its children, without."""
    signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Folders that need Spark first, the rest fills up the end; tests of a folder share what has been started."""
    folders = {item: item.path.relative_to(HERE).parts[0] for item in items}
    slow = {folders[item] for item in items if item.get_closest_marker("spark")}
    for item in items:
        item.add_marker(pytest.mark.xdist_group(folders[item]))
    items.sort(key=lambda item: folders[item] not in slow)


def pytest_collection_finish(session: pytest.Session) -> None:
    if any(item.get_closest_marker("spark") for item in session.items) and not session.config.option.collectonly:
        os.environ.update({**PANDAS, **options()})
