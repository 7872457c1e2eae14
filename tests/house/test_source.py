"""The house rules of CONTRIBUTING.md that neither ruff nor mypy checks."""

import ast
from collections.abc import Iterator
from pathlib import Path
from statistics import median

import pytest

ROOT = Path(__file__).resolve().parents[2]
MODULES = sorted((ROOT / "src" / "headwater").rglob("*.py"))
MAX_FILE = 250
MAX_FUNCTION = 40
EMPTY_NAMES = {"utils", "util", "helpers", "helper", "manager", "managers", "common", "misc"}

every_module = pytest.mark.parametrize("module", MODULES, ids=lambda path: str(path.relative_to(ROOT)))


def functions(module: Path) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef]:
    for node in ast.walk(ast.parse(module.read_text())):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield node


def length(function: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    """Lines of code: from ``def`` to the end, the docstring not counted."""
    first = function.body[0]
    docstring = first if ast.get_docstring(function, clean=False) is not None else None
    spoken = docstring.end_lineno - docstring.lineno + 1 if docstring else 0  # type: ignore[operator]
    return function.end_lineno - function.lineno + 1 - spoken  # type: ignore[operator]


@every_module
def test_a_file_can_be_read_in_one_go(module: Path) -> None:
    assert len(module.read_text().splitlines()) <= MAX_FILE, "split it by the nouns in it"


@every_module
def test_no_function_is_long(module: Path) -> None:
    long = {function.name: length(function) for function in functions(module) if length(function) > MAX_FUNCTION}
    assert not long


def test_the_median_function_is_short() -> None:
    assert median(length(function) for module in MODULES for function in functions(module)) < 10


@every_module
def test_a_module_is_named_by_what_is_in_it(module: Path) -> None:
    assert not EMPTY_NAMES & {module.stem, module.parent.name}


@every_module
def test_a_module_says_what_it_is_for(module: Path) -> None:
    tree = ast.parse(module.read_text())
    assert ast.get_docstring(tree) or not tree.body


@every_module
def test_public_names_say_what_you_get(module: Path) -> None:
    documented = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
    public = [
        node
        for node in ast.parse(module.read_text()).body
        if isinstance(node, documented) and not node.name.startswith("_")
    ]
    assert [node.name for node in public if not ast.get_docstring(node)] == []
