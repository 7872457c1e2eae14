"""A file of what each seed and each case has shown, so that a long run goes on where it was broken off.

A seed has one line, written when all its queries were looked at.
"""

import json
from collections import Counter
from collections.abc import Iterator
from dataclasses import fields
from pathlib import Path
from typing import Any

from tests.oracle.tally import Tally

from headwater.model import Subtype

COUNTERS = ("claims", "shown", "idle", "unshown")
SKIPPED = "seen"

Key = int | str
"""A seed of pipelines, or the name of something else."""


def append(path: Path, key: Key, tally: Tally) -> None:
    """Add the line of a seed or a case."""
    counted = {each.name: getattr(tally, each.name) for each in fields(tally) if each.name != SKIPPED}
    for name in COUNTERS:
        counted[name] = [[key, count] for key, count in counted[name].items()]
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("a") as file:
        file.write(json.dumps({"seed": key, **counted}) + "\n")


def read(path: Path) -> Iterator[tuple[Key, Tally]]:
    """The seeds and cases that have a line, with what each has shown."""
    for line in path.read_text().splitlines() if path.exists() else ():
        counted: dict[str, Any] = json.loads(line)
        seed = counted.pop("seed")
        for name in ("invalid", "discarded", "used"):
            counted[name] = Counter(counted[name])
        for name in COUNTERS:
            counted[name] = Counter({_key(key): count for key, count in counted[name]})
        yield seed, Tally(**counted)


def _key(key: Any) -> Any:
    """A subtype, or a subtype and a form."""
    return Subtype(key) if isinstance(key, str) else (Subtype(key[0]), key[1])
