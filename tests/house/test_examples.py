"""The examples in docstrings give what they say."""

import doctest
from importlib import import_module
from pathlib import Path

import pytest

SOURCES = Path(__file__).resolve().parents[2] / "src"
WITH_EXAMPLES = sorted(path for path in (SOURCES / "headwater").rglob("*.py") if ">>> " in path.read_text())


def module_name(path: Path) -> str:
    parts = path.relative_to(SOURCES).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


@pytest.mark.parametrize("path", WITH_EXAMPLES, ids=module_name)
def test_an_example_gives_what_it_shows(path: Path) -> None:
    module = import_module(module_name(path))
    results = doctest.testmod(module, optionflags=doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE)
    assert results.attempted, "no example is found by doctest"
    assert not results.failed
