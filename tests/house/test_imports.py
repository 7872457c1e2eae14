import subprocess
import sys
from pathlib import Path

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


IMPORTED_FIRST = """
import importlib, pkgutil, sys
import headwater.store

for module in list(pkgutil.walk_packages(headwater.store.__path__, "headwater.store.")):
    if "migrations" not in module.name:
        for loaded in [name for name in sys.modules if name.startswith("headwater")]:
            del sys.modules[loaded]
        importlib.import_module(module.name)
"""


def test_each_module_of_the_store_may_be_the_first_that_is_imported() -> None:
    done = subprocess.run([sys.executable, "-c", IMPORTED_FIRST], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
