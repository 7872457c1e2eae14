"""Packages with extensions, installed where this process finds them."""

import json
import sys
import threading
import time
from collections.abc import Iterator, Mapping
from importlib import invalidate_caches
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from headwater.cli.main import app

MODULE = """\
from headwater.ext import API, Extension

print("a line that a package prints when it is imported")
shop = Extension("shop", "1.2", API, masking_functions=("pseudonym",), naming_rules=(lambda dataset: dataset,))
newer = Extension("newer", "9", API + 1)
older = Extension("older", "0", 0)
number = 7
nothing = lambda: None
wrong_hook = lambda: Extension("wrong", "1", API, operators=[1])
wrong_name = lambda: Extension("", "1", API)
unknown_hook = lambda: Extension("late", "1", API, dashboards=())


def made():
    return Extension("made", "1", API)


def leaves():
    raise SystemExit("I am off")
"""


class Installed:
    """A folder of packages with entry points, on the path of this process."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        (folder / "shop_lineage.py").write_text(MODULE)

    def package(self, name: str, version: str, entry_points: Mapping[str, str]) -> None:
        """Install a package, as pip leaves it behind."""
        info = self.folder / f"{name}-{version}.dist-info"
        info.mkdir()
        (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n")
        lines = "".join(f"{point} = {target}\n" for point, target in entry_points.items())
        (info / "entry_points.txt").write_text(f"[headwater.extensions]\n{lines}")
        invalidate_caches()

    def listed(self, *options: str, **environment: str) -> str:
        """The output of ``headwater extensions``; with notes, unless options make it a document."""
        done = CliRunner().invoke(app, ["extensions", *options], env=environment)
        assert done.exit_code == 0, done.output
        return done.stdout if options else done.output

    def found(self, **environment: str) -> dict[str, Any]:
        """The same as a document, the extensions by their names."""
        document = json.loads(self.listed("--json", **environment))
        return {one["name"]: one for one in document["extensions"]}


@pytest.fixture(autouse=True)
def _nothing_goes_on() -> Iterator[None]:
    """Work that took too long is ended, if not at once."""
    before = set(threading.enumerate())
    yield
    until = time.monotonic() + 60
    while (left := _at_work() - before) and time.monotonic() < until:
        time.sleep(0.01)
    assert not left


def _at_work() -> set[threading.Thread]:
    return {one for one in threading.enumerate() if one.name == "headwater-extension"}


@pytest.fixture
def installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Installed:
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "shop_lineage", raising=False)
    return Installed(tmp_path)
