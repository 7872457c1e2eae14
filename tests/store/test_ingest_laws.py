"""The store is a function of the set of events: their order and repetition do not matter."""

import random
import tempfile
from pathlib import Path
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from headwater.store import Store, open_store

NAMES = st.sampled_from(["a", "b", "c"])
COLUMNS = st.sampled_from(["x", "y"])
SOURCES = st.builds("{}.{} {}".format, NAMES, COLUMNS, st.sampled_from(["IDENTITY", "FILTER"]))
FIELDS = st.dictionaries(st.sampled_from(["x", "y", "*"]), st.lists(SOURCES, max_size=2))
OUTPUT = st.tuples(NAMES, st.none() | FIELDS, st.lists(st.sampled_from(["t1", "t2"]), max_size=1))
EVENT = st.fixed_dictionaries(
    {
        "job": st.sampled_from(["j1", "j2"]),
        "outputs": st.lists(OUTPUT, max_size=2),
        "minute": st.integers(0, 4),
        "run": st.sampled_from(["r1", "r2", "r3", "r4"]),
        "state": st.sampled_from(["START", "COMPLETE", "COMPLETE", "FAIL"]),
        "inputs": st.lists(NAMES, max_size=1),
    }
)


def event(words: Any, parts: dict[str, Any]) -> dict[str, Any]:
    # A run belongs to one job: the specification's, and every producer's.
    outputs = [words.written(name, fields, links) for name, fields, links in parts["outputs"]]
    job = "j1" if parts["run"] in ("r1", "r2") else "j2"
    rest = {key: parts[key] for key in ("minute", "run", "state", "inputs")}
    told: dict[str, Any] = words.told(job, *outputs, **rest)
    return told


def told_to(folder: Path, batches: list[list[dict[str, Any]]]) -> Store:
    store = open_store(str(folder / "lineage.db"))
    for batch in batches:
        store.ingest(batch)
    return store


@settings(max_examples=60, deadline=None)
@given(parts=st.lists(EVENT, min_size=1, max_size=7), seed=st.randoms(use_true_random=False))
def test_order_batches_and_repetition_do_not_matter(
    words: Any, parts: list[dict[str, Any]], seed: random.Random
) -> None:
    events = [event(words, one) for one in parts]
    mixed = events + seed.choices(events, k=2)
    seed.shuffle(mixed)
    with (
        tempfile.TemporaryDirectory() as one,
        tempfile.TemporaryDirectory() as other,
        told_to(Path(one), [events]) as together,
        told_to(Path(other), [[single] for single in mixed]) as apart,
    ):
        assert words.contents(together) == words.contents(apart)
