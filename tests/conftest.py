"""For all tests: what Spark's processes find in their environment, and which tests stay together."""

import os
from pathlib import Path
from typing import Any

import pytest
from xdist.scheduler import LoadScopeScheduling

from .class_archive import options

HERE = Path(__file__).parent
PANDAS = {"PYARROW_IGNORE_TIMEZONE": "1"}
"""The pandas API of Spark asks for it, and warns when a Spark runs already."""


LONG = ("server", "store")


class ByFolder(LoadScopeScheduling):
    """The tests of a folder go to one process: they share the applications and servers that they have started."""

    def _split_scope(self, nodeid: str) -> str:
        return nodeid.split("/")[1]


def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> ByFolder:
    return ByFolder(config, log)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Folders that need Spark first, then those that take minutes; the rest fills up the end."""
    folders = {item: item.path.relative_to(HERE).parts[0] for item in items}
    slow = {folders[item] for item in items if item.get_closest_marker("spark")}
    items.sort(key=lambda item: (folders[item] not in slow, folders[item] not in LONG))


def pytest_collection_finish(session: pytest.Session) -> None:
    if any(item.get_closest_marker("spark") for item in session.items) and not session.config.option.collectonly:
        os.environ.update({**PANDAS, **options()})
