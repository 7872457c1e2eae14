import ast
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


def test_imports_follow_the_contract() -> None:
    lint_imports = Path(sys.executable).with_name("lint-imports")
    result = subprocess.run([lint_imports, "--no-cache"], cwd=ROOT, capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stdout + result.stderr


def test_to_watch_a_job_loads_no_database_and_no_reader_of_sql() -> None:
    """It takes half of the time of an import; the thread that delivers loads it. Nor is SQL to be read in most jobs."""
    loaded = "[name for name in ('sqlalchemy', 'alembic', 'fastapi', 'sqlglot') if name in sys.modules]"
    code = f"import sys, headwater.capture.application.contexts; print({loaded})"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"


def test_to_ask_a_store_loads_no_client_that_sends_events() -> None:
    """It takes a third of the time of an import, and its objects are looked through with each collection of garbage."""
    loaded = "[name for name in ('openlineage.client', 'requests') if name in sys.modules]"
    code = f"import sys, headwater.store.questions, headwater.answers; print({loaded})"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"


@pytest.mark.parametrize("command", ["run", "roots"])
def test_a_command_does_not_load_what_others_need(command: str) -> None:
    loaded = (
        "[name for name in ('sqlglot', 'fastapi', 'headwater.archive', 'headwater.policies') if name in sys.modules]"
    )
    code = f"""
import atexit, sys
from headwater.cli.main import main
atexit.register(lambda: print({loaded}))
sys.argv = ["headwater", "{command}", "--help"]
main()
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.endswith("[]\n")


IMPORTED_FIRST = """
import importlib, os, pkgutil, sys
import headwater.store

modules = [one.name for one in pkgutil.walk_packages(headwater.store.__path__, "headwater.store.")]
for loaded in [name for name in sys.modules if name.startswith("headwater")]:
    del sys.modules[loaded]
for name in modules:
    if "migrations" not in name:
        child = os.fork()
        if not child:
            importlib.import_module(name)
            os._exit(0)
        if os.waitpid(child, 0)[1]:
            sys.exit(f"{name} cannot be the first")
"""


def test_each_module_of_the_store_may_be_the_first_that_is_imported() -> None:
    """In a process that has the libraries already, which takes most of the time."""
    done = subprocess.run([sys.executable, "-c", IMPORTED_FIRST], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def is_private(name: str) -> bool:
    return name.startswith("_") and not name.endswith("__")


def private_names(module: ast.Module) -> Iterator[str]:
    """The private names that a module imports from headwater, or takes from what it imports from there."""
    imported = set()
    for node in ast.walk(module):
        if isinstance(node, ast.ImportFrom) and str(node.module).split(".")[0] == "headwater":
            imported |= {one.asname or one.name for one in node.names}
            yield from (f"{node.module}.{one.name}" for one in node.names if is_private(one.name))
            yield from filter(is_private, str(node.module).split("."))
        if isinstance(node, ast.Import):
            imported |= {one.asname or "headwater" for one in node.names if one.name.split(".")[0] == "headwater"}
    for node in ast.walk(module):
        if isinstance(node, ast.Attribute) and is_private(node.attr):
            place = ast.unparse(node.value)
            yield from [f"{place}.{node.attr}"] if place.split(".")[0] in imported else []


def test_private_names_are_seen_however_they_are_reached() -> None:
    module = """
import headwater.store
from headwater.cli import serve
from headwater.store import _x, open_store
headwater.store._engine, serve._run, serve.__doc__, open_store, other._name
"""
    assert sorted(private_names(ast.parse(module))) == ["headwater.store._engine", "headwater.store._x", "serve._run"]


def test_tests_benches_and_examples_use_public_names_only() -> None:
    modules = (path for folder in ("tests", "bench", "examples") for path in sorted((ROOT / folder).rglob("*.py")))
    found = {str(path.relative_to(ROOT)): [*private_names(ast.parse(path.read_text()))] for path in modules}
    assert {path: names for path, names in found.items() if names} == {}
