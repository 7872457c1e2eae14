"""For all tests: what Spark's processes find in their environment, and which tests stay together."""

import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings
from xdist.scheduler import LoadScopeScheduling
from xdist.workermanage import WorkerController

from .class_archive import options
from .java_names import look_up_once

HERE = Path(__file__).parent
PANDAS = {"PYARROW_IGNORE_TIMEZONE": "1"}
"""The pandas API of Spark asks for it, and warns when a Spark runs already."""

settings.register_profile("any machine", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("any machine")

LONG = ("server", "store")
TOGETHER = {"archive", "chains", "connect", "extract", "formats", "interfaces", "oracle", "sources", "streaming", "tpc"}
"""Folders whose tests share a Spark application, or a broker."""


class ByApplication(LoadScopeScheduling):
    """The tests of a file go to one process, and those of a folder that shares what takes long to start."""

    def _split_scope(self, nodeid: str) -> str:
        _, folder, *_ = file = nodeid.partition("::")[0].split("/")
        return folder if folder in TOGETHER else "/".join(file)

    def remove_node(self, node: WorkerController) -> str | None:
        """A test that its process ended in has failed: the process that follows goes on after it."""
        units = self.assigned_work[node].values()
        unit, ended = next(((unit, name) for unit in units for name in unit if not unit[name]), ({}, None))
        if ended:
            unit[ended] = True
        super().remove_node(node)
        return ended

    def _assign_work_unit(self, node: WorkerController) -> None:
        """A process runs a test once it knows the next one, or that there is none."""
        super()._assign_work_unit(node)
        if not self.workqueue:
            node.shutdown()
        elif self._pending_of(self.assigned_work[node]) < 2:
            self._assign_work_unit(node)


def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> ByApplication:
    return ByApplication(config, log)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Folders that need Spark first, then those that take minutes; the rest fills up the end."""
    folders = {item: item.path.relative_to(HERE).parts[0] for item in items}
    slow = {folders[item] for item in items if item.get_closest_marker("spark")}
    items.sort(key=lambda item: (folders[item] not in slow, folders[item] not in LONG))


def pytest_collection_finish(session: pytest.Session) -> None:
    if any(item.get_closest_marker("spark") for item in session.items) and not session.config.option.collectonly:
        os.environ.update({**PANDAS, **options()})
        look_up_once()


@pytest.fixture(autouse=True)
def _nothing_stays_attached() -> Iterator[None]:
    """A test that attaches in this process detaches too: the next Spark would be watched for it."""
    yield
    contexts = sys.modules.get("headwater.capture.application.contexts")
    assert contexts is None or not contexts._hooked, "headwater.detach() is missing: Spark would be watched from now on"
