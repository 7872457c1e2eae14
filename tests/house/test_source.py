"""The house rules of CONTRIBUTING.md that neither ruff nor mypy checks."""

import ast
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from statistics import median

ROOT = Path(__file__).resolve().parents[2]
MODULES = sorted((ROOT / "src" / "headwater").rglob("*.py"))
MAX_FILE = 400
MAX_FUNCTION = 40
OF_EVENTS = ("_producer", "_schemaURL", "schemaURL", "urn:headwater:", "https://openlineage.io/spec")
EMPTY_NAMES = {"utils", "util", "helpers", "helper", "manager", "managers", "common", "misc"}

Broken = dict[str, object]


def broken(rule: Callable[[Path], object]) -> Broken:
    """The breaches that a rule finds, by file."""
    found = {str(module.relative_to(ROOT)): rule(module) for module in MODULES}
    return {name: breach for name, breach in found.items() if breach}


@cache
def parsed(module: Path) -> ast.Module:
    return ast.parse(module.read_text())


def functions(module: Path) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef]:
    for node in ast.walk(parsed(module)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield node


def length(function: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    """Lines of code: from ``def`` to the end, the docstring not counted."""
    first = function.body[0]
    docstring = first if ast.get_docstring(function, clean=False) is not None else None
    spoken = docstring.end_lineno - docstring.lineno + 1 if docstring else 0  # type: ignore[operator]
    return function.end_lineno - function.lineno + 1 - spoken  # type: ignore[operator]


def long_functions(module: Path) -> Broken:
    return {function.name: length(function) for function in functions(module) if length(function) > MAX_FUNCTION}


def unexplained(module: Path) -> list[str]:
    documented = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
    named = [node for node in parsed(module).body if isinstance(node, documented) and not node.name.startswith("_")]
    return [node.name for node in named if not ast.get_docstring(node)]


def says_nothing(module: Path) -> bool:
    tree = parsed(module)
    return bool(tree.body) and not ast.get_docstring(tree)


def of_events(module: Path) -> list[str]:
    texts = (node.value for node in ast.walk(parsed(module)) if isinstance(node, ast.Constant))
    return [text for text in texts if isinstance(text, str) and text.startswith(OF_EVENTS)]


def test_producers_and_schemas_are_named_in_openlineage_alone() -> None:
    written = broken(of_events)
    assert written
    assert not [name for name in written if not name.startswith("src/headwater/openlineage/")]


def test_a_file_can_be_read_in_one_go() -> None:
    lines = broken(lambda module: max(0, len(module.read_text().splitlines()) - MAX_FILE))
    assert not lines, "lines too many: split them by the nouns in them"


def test_no_function_is_long() -> None:
    assert not broken(long_functions)


def test_the_median_function_is_short() -> None:
    assert median(length(function) for module in MODULES for function in functions(module)) < 10


def test_a_module_is_named_by_what_is_in_it() -> None:
    assert not broken(lambda module: EMPTY_NAMES & {module.stem, module.parent.name})


def test_a_module_says_what_it_is_for() -> None:
    assert not broken(says_nothing)


def test_public_names_say_what_you_get() -> None:
    assert not broken(unexplained)
