"""Every hook has a test, a use, and a section in the documentation that runs; no section is about another."""

import doctest
import re
from pathlib import Path

import pytest
from tests.ext.documented import PAGE, USES, documented

from headwater import ext
from headwater.ext.extension import HOOKS


def test_the_examples_run() -> None:
    assert doctest.testfile(str(PAGE), module_relative=False).failed == 0


def sections() -> dict[str, str]:
    """The sections about hooks, by the names in their headings."""
    parts = re.split(r"^### `(\w+)`$", PAGE.read_text(), flags=re.MULTILINE)[1:]
    return {
        name: re.split(r"^## ", text, flags=re.MULTILINE)[0] for name, text in zip(parts[::2], parts[1::2], strict=True)
    }


def test_the_documented_hooks_are_those_that_there_are() -> None:
    assert tuple(sections()) == HOOKS


@pytest.mark.parametrize("hook", HOOKS)
def test_every_hook_has_an_example_that_makes_an_extension_of_it(hook: str) -> None:
    assert re.search(rf"^>>> shop = Extension\(.*\b{hook}=", sections()[hook], re.MULTILINE)


@pytest.mark.parametrize("hook", HOOKS)
def test_every_hook_is_used_and_does_what_its_example_says(hook: str) -> None:
    shop = documented()[hook]
    assert shop.hooks == (hook,)
    assert USES[hook](shop)


def test_the_page_leads_to_a_whole_package() -> None:
    (path,) = set(re.findall(r"\]\((\.\./examples/[^)]*)\)", PAGE.read_text()))
    assert (PAGE.parent / path / "pyproject.toml").exists()


@pytest.mark.parametrize("hook", HOOKS)
def test_every_hook_is_tested_here(hook: str) -> None:
    tests = [path.read_text() for path in sorted(Path(__file__).parent.glob("test_*.py")) if path != Path(__file__)]
    assert any(re.search(rf"extension\(.*\b{hook}=", text) for text in tests)
    assert any(f'"{hook}"' in text for text in tests), "nothing breaks it"


def test_every_name_that_authors_import_is_there() -> None:
    assert sorted(ext.__all__) == sorted(set(ext.__all__))
    assert all(hasattr(ext, name) for name in ext.__all__)
