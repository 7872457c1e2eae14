"""The state of each class in extraction: from the tables of extraction, else from ``classes.toml``."""

import gzip
import json
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from tests.contract.jars import FOLDER, written

from headwater.extract.expressions.evaluate import VISITORS
from headwater.extract.extractor import OPERATORS
from headwater.extract.operators import opaque
from headwater.extract.operators.table import passes_through
from headwater.extract.writes import WRITES

TESTS = Path(__file__).resolve().parents[1]
TABLE = TESTS / "contract" / "classes.toml"
VERSIONS = tuple(sorted(folder.name for folder in FOLDER.iterdir()))
DISPATCH: Mapping[str, Mapping[str, Any]] = {"operators": {**WRITES, **OPERATORS}, "expressions": VISITORS}


@dataclass(frozen=True, slots=True)
class State:
    """The state of a class: ``handled``, ``passes through``, ``opaque``, a section of the table, or ``gaps``."""

    section: str
    why: str


@cache
def table(kind: str) -> Mapping[str, State]:
    """The states that are written down, by class.

    Raises:
        ValueError: a class is written twice.
    """
    found: dict[str, State] = {}
    for section, content in tomllib.loads(TABLE.read_text())[kind].items():
        listed = dict.fromkeys(content["names"], content["why"]) if "names" in content else content
        if twice := found.keys() & listed.keys():
            raise ValueError(f"{sorted(twice)} stand twice among the {kind} of {TABLE.name}; leave one of each.")
        found |= {name: State(section, why) for name, why in listed.items() if section not in ("others", "shown")}
    return found


@cache
def notes(section: str) -> Mapping[str, str]:
    """Notes on operators beside their state: those of ``others`` than Spark, those ``shown`` by other tests."""
    found: Mapping[str, str] = tomllib.loads(TABLE.read_text())["operators"][section]
    return found


def state(kind: str, name: str) -> State | None:
    """The state of a class; None for one that is in no table."""
    visitor = DISPATCH[kind].get(name)
    if visitor is None:
        return table(kind).get(name)
    why = (visitor.__doc__ or "").partition("\n")[0]
    if visitor is passes_through:
        return State("passes through", why)
    return State("opaque" if visitor.__module__ == opaque.__name__ else "handled", why)


@cache
def present(kind: str) -> Mapping[str, tuple[str, ...]]:
    """Each class of that kind with the versions of Spark that have it."""
    found: dict[str, list[str]] = {}
    for version in VERSIONS:
        for name in written(version)[kind]:
            found.setdefault(name, []).append(version)
    return {name: tuple(versions) for name, versions in sorted(found.items())}


@cache
def in_plans() -> Mapping[str, str]:
    """Each class in a recorded plan, with the first case by name whose plan has it."""
    found: dict[str, str] = {}
    for name, case in _in_plans():
        found[name] = min(found.get(name, case), case)
    return found


def _in_plans() -> Iterator[tuple[str, str]]:
    for path in sorted(TESTS.glob("plans/*.*/*.jsonl.gz")):
        for line in gzip.decompress(path.read_bytes()).decode().splitlines():
            recorded = json.loads(line)
            case = f"{path.name.removesuffix('.jsonl.gz')}/{recorded['case']}"
            yield from ((name, case) for name in {node[0].removesuffix("$") for node in recorded["plan"]["nodes"]})
