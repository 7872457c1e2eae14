"""One room alone knows a database: what differs between SQLite and PostgreSQL is said in `store/sql/`."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

SOURCE = Path(__file__).resolve().parents[2] / "src" / "headwater"
ROOM = SOURCE / "store" / "sql"
NAMES = re.compile(r"sqlite|postgres|psycopg|pg_|fts5|dialect", re.IGNORECASE)


def sentences(tree: ast.Module) -> set[ast.AST]:
    """The docstrings of a module, which may speak of databases."""
    return {
        statement.value
        for node in ast.walk(tree)
        if hasattr(node, "body") and isinstance(node.body, list)
        for statement in node.body
        if isinstance(statement, ast.Expr)
    }


def written(module: Path) -> Iterator[tuple[int, str]]:
    """The names, imports and texts of a module, with their lines; texts of a command are its help."""
    tree = ast.parse(module.read_text())
    aside = sentences(tree)
    for node in ast.walk(tree):
        line = getattr(node, "lineno", 0)
        match node:
            case ast.Name(id=name) | ast.Attribute(attr=name) | ast.arg(arg=name) | ast.alias(name=name):
                yield line, name
            case ast.FunctionDef(name=name) | ast.ClassDef(name=name) | ast.keyword(arg=str(name)):
                yield line, name
            case ast.ImportFrom(module=str(name)):
                yield line, name
            case ast.Constant(value=str(text)) if node not in aside and "cli" not in module.parts:
                yield line, text


@pytest.mark.parametrize("package", ["answers", "archive", "cli", "server", "store"])
def test_no_database_is_named_outside_its_room(package: str) -> None:
    found = [
        f"{module.relative_to(SOURCE)}:{line}: {text}"
        for module in sorted((SOURCE / package).rglob("*.py"))
        if not module.is_relative_to(ROOM)
        for line, text in written(module)
        if NAMES.search(text)
    ]
    assert found == []


def test_a_database_is_named_in_its_room() -> None:
    assert any(NAMES.search(text) for module in ROOM.glob("*.py") for _, text in written(module))
