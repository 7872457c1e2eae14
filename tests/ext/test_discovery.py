"""Where extensions come from, which are taken, and what is said of the others."""

import sys
from pathlib import Path
from typing import Any

import pytest
from tests.ext.conftest import MODULE, Installed
from tests.ext.extensions import extension

from headwater.capture.settings import capture_settings, installed_extensions
from headwater.errors import SettingError
from headwater.ext import API, Extension
from headwater.ext.discovery import find_extensions
from headwater.ext.runtime import Extensions


def test_installed_packages_are_found_by_their_entry_points(installed: Installed) -> None:
    installed.package("shop-lineage", "1.2.3", {"shop": "shop_lineage:shop", "made": "shop_lineage:made"})
    installed.package("gone", "1", {"gone": "no_such_module:x"})
    found = installed.found()
    assert (found["shop"]["state"], found["shop"]["version"]) == ("loaded", "1.2")
    assert (found["shop"]["distribution"], found["shop"]["distributionVersion"]) == ("shop-lineage", "1.2.3")
    assert (found["shop"]["source"], found["shop"]["target"]) == ("entry point", "shop_lineage:shop")
    assert found["shop"]["hooks"] == {"masking_functions": 1, "naming_rules": 1}
    assert found["made"]["state"] == "loaded"
    assert (found["gone"]["state"], found["gone"]["distribution"]) == ("failed", "gone")
    assert "ModuleNotFoundError" in found["gone"]["why"]


def test_a_person_reads_what_is_loaded_and_why_something_is_not(installed: Installed) -> None:
    assert "No extension is installed" in installed.listed()
    installed.package("shop-lineage", "1.2.3", {"shop": "shop_lineage:shop", "newer": "shop_lineage:newer"})
    header, shop, *rest = installed.listed().splitlines()
    assert header.split() == ["NAME", "VERSION", "FROM", "HOOKS"]
    assert shop.split(maxsplit=2)[:2] == ["shop", "1.2"]
    assert "shop-lineage 1.2.3, entry point shop_lineage:shop" in shop
    assert "newer (shop-lineage 1.2.3, entry point shop_lineage:newer) failed: it was written for version" in rest[-1]


def test_one_that_is_not_wanted_is_not_even_imported(installed: Installed) -> None:
    installed.package("shop-lineage", "1", {"shop": "shop_lineage:shop", "gone": "no_such_module:x"})
    found = installed.found(HEADWATER_EXTENSIONS_DISABLED="gone")
    assert (found["shop"]["state"], found["gone"]["state"]) == ("loaded", "off")
    assert {one["state"] for one in installed.found(HEADWATER_EXTENSIONS_DISABLED="*").values()} == {"off"}


def test_a_setting_names_one_that_is_not_installed_as_a_package(installed: Installed) -> None:
    installed.package("shop-lineage", "1", {"shop": "shop_lineage:shop"})
    found = installed.found(HEADWATER_EXTENSIONS="shop_lineage:made")
    assert {name: one["source"] for name, one in found.items()} == {"made": "setting", "shop": "entry point"}


def test_a_broken_one_is_imported_once_however_many_questions_there_are(installed: Installed) -> None:
    tries = installed.folder / "tries"
    (installed.folder / "breaks.py").write_text(
        f"with open({str(tries)!r}, 'a') as file:\n    file.write('x')\nraise ValueError\n"
    )
    installed.package("breaking", "1", {"breaking": "breaks:extension"})
    first, second = installed_extensions(), installed_extensions()
    assert [gap.what for gap in first.gaps] == [gap.what for gap in second.gaps] == ["breaking"]
    assert tries.read_text() == "x"
    installed.package("shop-lineage", "1", {"shop": "shop_lineage:shop"})
    assert [one.name for one in installed_extensions().loaded] == ["shop"]


@pytest.fixture
def module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    (tmp_path / "shop_of_a_test.py").write_text(MODULE)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "shop_of_a_test", raising=False)
    return "shop_of_a_test"


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("newer", f"version {API + 1} of headwater.ext, and this headwater has version {API}: upgrade headwater"),
        ("older", f"version 0 of headwater.ext, and this headwater has version {API}: upgrade the extension"),
        ("number", "a int was met; expected a headwater.ext.Extension"),
        ("nothing", "a NoneType was met; expected a headwater.ext.Extension"),
        ("wrong_hook", "operators is a list; expected a tuple"),
        ("wrong_name", "name is ''; expected a text"),
        ("unknown_hook", "dashboards"),
        ("leaves", "it raised SystemExit: I am off"),
        ("no_such_name", "AttributeError"),
    ],
)
def test_one_that_cannot_be_used_says_why(module: str, name: str, why: str) -> None:
    (found,) = find_extensions([f"{module}:{name}"], installed=False)
    assert (found.extension, found.broken) == (None, True)
    assert why in found.why


def hangs() -> Extension:
    while True:
        pass


def test_an_import_that_does_not_return_is_abandoned() -> None:
    hanging, good = find_extensions([extension("good"), hangs], seconds=0.2, installed=False)[::-1]
    assert "more than 0.2 seconds" in hanging.why
    assert good.extension == extension("good")


class NoClasses:
    """A visitor that does not say what it is for."""

    def inputs(self, node: object) -> None: ...

    outputs = dependencies = children = datasets = inputs


class WrongClasses(NoClasses):
    classes = "Project"


@pytest.mark.parametrize(
    ("hook", "value"),
    [
        ("operators", (NoClasses(),)),
        ("operators", (WrongClasses(),)),
        ("operators", (WrongClasses,)),
        ("expressions", (NoClasses(),)),
        ("datasets", (NoClasses(),)),
        ("dataset_facets", (1,)),
        ("run_facets", ("x",)),
        ("job_facets", {}),
        ("masking_functions", ("",)),
        ("naming_rules", lambda one: one),
        ("event_filters", (None,)),
        ("transports", {"a": 1}),
        ("transports", {"": print}),
        ("transports", (print,)),
    ],
)
def test_a_hook_of_the_wrong_kind_is_refused_with_what_is_expected(hook: str, value: Any) -> None:
    (found,) = find_extensions([extension("bad", **{hook: value})], installed=False)
    assert found.broken
    assert f"{hook} " in found.why
    assert "expected" in found.why


def test_of_two_with_one_name_the_first_counts() -> None:
    first, second = extension("a"), Extension("a", "2.0", API)
    loaded, passed_over = find_extensions([first, second], installed=False)
    assert (loaded.extension, passed_over.extension, passed_over.broken) == (first, None, False)
    assert "another one of that name" in passed_over.why


def test_what_could_not_be_loaded_is_a_gap_of_the_run() -> None:
    run = Extensions(lambda: find_extensions(["no_such_module:x", extension("good")], installed=False))
    (gap,) = run.gaps
    assert (gap.kind, gap.what) == ("extension", "no_such_module:x")
    assert [one.name for one in run.loaded] == ["good"]


def test_settings_take_extensions_and_names() -> None:
    shop = extension()
    found = capture_settings({"extensions": [shop, "a:b"]}, {"HEADWATER_EXTENSIONS_DISABLED": "x, y"})
    assert (found.extensions, found.extensions_disabled) == ((shop, "a:b"), ("x", "y"))
    assert capture_settings({}, {"HEADWATER_EXTENSIONS": "a:b,c:d"}).extensions == ("a:b", "c:d")
    with pytest.raises(SettingError, match="extensions"):
        capture_settings({"extensions": shop}, {})
