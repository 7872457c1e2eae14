"""Names and docstrings are in the field's words: OpenLineage's, Spark's, SQL's, graph theory's and Python's."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]

BANNED = {
    "told": "an event has, a facet contains, an extension answers",
    "telling": "events are written or read, lineage is produced",
    "given": "name the thing: options, an input column, arguments",
    "way": "a transformation, along a path a path transformation",
    "ways": "transformations",
    "met": "seen digests, visited nodes",
    "heard": "an event that was read",
    "settle": "the current lineage is recomputed",
    "stamp": "a run's summary is updated",
    "asked": "a query, its parameters",
    "sought": "a query, a search text",
}
"""Words that only whoever wrote the code understands, and what is meant instead."""

GENERIC = frozenset({"found", "known", "named", "one", "own", "some", "wanted"})
"""Parameters that say nothing of their values: each had up to forty types. ``one`` is beside an ``other``."""

FOLDERS = (
    *(f"src/headwater/{package.parent.name}" for package in sorted(ROOT.glob("src/headwater/*/__init__.py"))),
    *("tests", "bench", "examples"),
)


def named(module: Path) -> Iterator[tuple[int, str]]:
    """Names of a module, its types, functions, parameters, constants and variables, with their lines."""
    yield 0, module.stem
    for node in ast.walk(ast.parse(module.read_text())):
        if isinstance(node, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            yield node.lineno, node.name
        if isinstance(node, ast.arg):
            yield node.lineno, node.arg
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield node.lineno, node.id
        if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store):
            yield node.lineno, node.attr


def words(name: str) -> set[str]:
    """The words of a name in snake_case, CamelCase or capitals, in lower case."""
    return {word.lower() for word in re.findall(r"[A-Z]?[a-z]+|[A-Z]+", name)}


def documented(module: Path) -> Iterator[tuple[int, str]]:
    """Docstrings of a module and all that it defines, with their lines."""
    for node in ast.walk(ast.parse(module.read_text())):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            yield getattr(node, "lineno", 1), ast.get_docstring(node) or ""


@pytest.mark.parametrize("folder", FOLDERS)
def test_names_have_no_words_of_our_own(folder: str) -> None:
    found = {
        f"{module.relative_to(ROOT)}:{line}: {name}": [BANNED[word] for word in words(name) & BANNED.keys()]
        for module in sorted((ROOT / folder).rglob("*.py"))
        for line, name in named(module)
        if words(name) & BANNED.keys()
    }
    assert found == {}


def parameters(module: Path) -> Iterator[tuple[int, str]]:
    """Parameters of the functions of a module, with their lines; one of two of a kind is left out."""
    for node in ast.walk(ast.parse(module.read_text())):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            arguments = [*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs]
            pair = {"one"} if "other" in [each.arg for each in arguments] else set()
            yield from ((each.lineno, each.arg) for each in arguments if each.arg not in pair)


def test_parameters_say_what_they_are() -> None:
    found = [
        f"{module.relative_to(ROOT)}:{line}: {name}"
        for module in sorted((ROOT / "src").rglob("*.py"))
        for line, name in parameters(module)
        if name in GENERIC
    ]
    assert found == []


@pytest.mark.parametrize("folder", FOLDERS)
def test_docstrings_begin_with_a_verb_or_a_noun(folder: str) -> None:
    found = [
        f"{module.relative_to(ROOT)}:{line}"
        for module in sorted((ROOT / folder).rglob("*.py"))
        for line, docstring in documented(module)
        if docstring.startswith("What ")
    ]
    assert found == []
