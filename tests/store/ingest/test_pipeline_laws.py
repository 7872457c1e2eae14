"""The store is a function of the set of events: their order and repetition do not matter."""

import os
import random
import tempfile
from itertools import permutations
from pathlib import Path
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st
from tests.store.conftest import new_store

from headwater.store import Store

SAME_EACH_TIME = "EVERY_CASE" not in os.environ
"""Whether histories in which names change are the same in each run: of thousands one may yet break a law."""

NAMES = st.sampled_from(["a", "b", "c"])
COLUMNS = st.sampled_from(["x", "y", "X", "Y"])
SOURCES = st.builds("{}.{} {}".format, NAMES, COLUMNS, st.sampled_from(["IDENTITY", "FILTER"]))
FIELDS = st.dictionaries(st.sampled_from(["x", "y", "X", "*"]), st.lists(SOURCES, max_size=2))
WRITE = st.sampled_from(
    [
        *("", "ALL_ROWS", "ALL_ROWS @1", "SOME_ROWS", "SOME_ROWS @2", "OVERWRITE", "TRUNCATE"),
        *("SOME_ROWS <1", "SOME_ROWS @1 <2", "SOME_ROWS <?"),
    ]
)
OUTPUT = st.tuples(NAMES, st.none() | FIELDS, st.lists(st.sampled_from(["t1", "t2"]), max_size=1), WRITE)
PARTS = {
    "job": st.sampled_from(["j1", "j2"]),
    "outputs": st.lists(OUTPUT, max_size=2),
    "minute": st.integers(0, 4),
    "run": st.sampled_from(["r1", "r2", "r3", "r4"]),
    "state": st.sampled_from(["START", "COMPLETE", "COMPLETE", "FAIL"]),
    "inputs": st.lists(NAMES, max_size=1),
}
EVENT = st.fixed_dictionaries(PARTS)
STREAMING = st.just({"jobType": {"processingType": "STREAMING"}})
OF_STREAM = st.fixed_dictionaries(
    {**PARTS, "state": st.sampled_from(["START", "RUNNING", "COMPLETE", "FAIL"]), "job_facets": STREAMING}
)

RENAME = st.fixed_dictionaries(
    {
        "former": NAMES,
        "present": st.none() | NAMES,
        "fields": st.dictionaries(COLUMNS, st.sampled_from(["x", "y", "z", "X", "Z"]), max_size=2),
        "symlinks": st.dictionaries(st.just("t1"), st.sampled_from(["t1", "t2"]), max_size=1),
    }
)
CHANGE = st.tuples(RENAME, st.integers(0, 4), st.sampled_from(["COMPLETE", "COMPLETE", "FAIL"]))


def change(words: Any, parts: tuple[dict[str, Any], int, str]) -> dict[str, Any]:
    """The event of a statement that changes names: a dropped dataset's end, and fields do not change with it."""
    names, minute, state = parts
    if names["present"] is None:
        names = {**names, "fields": {}, "symlinks": dict.fromkeys(names["symlinks"])}
    event: dict[str, Any] = words.run_event(
        "ddl", words.renamed(**names), minute=minute, state=state, run=str(parts), inputs=[names["former"]]
    )
    return event


def event(words: Any, parts: dict[str, Any]) -> dict[str, Any]:
    # A run belongs to one job, and ends in one way: the specification's, and every producer's.
    end = "FAIL" if parts["run"] == "r4" else "COMPLETE"
    parts = {**parts, "state": "START" if parts["state"] == "START" else end}
    outputs = [words.written(*output) for output in parts["outputs"]]
    if parts["minute"] % 2:
        describe_columns(outputs)
    job = "j1" if parts["run"] in ("r1", "r2") else "j2"
    rest = {key: parts[key] for key in ("minute", "run", "state", "job_facets") if key in parts}
    # A producer lists what it read, also where that is in lineage only.
    event: dict[str, Any] = words.run_event(job, *outputs, **rest, inputs=sorted({*parts["inputs"], *sources(outputs)}))
    return event


def sources(outputs: list[dict[str, Any]]) -> set[str]:
    """The names of the datasets that the lineage of outputs reads."""
    facets = [output["facets"].get("columnLineage", {"fields": {}, "dataset": []}) for output in outputs]
    read = [source for facet in facets for field in facet["fields"].values() for source in field["inputFields"]]
    return {source["name"][1:] for source in (*read, *(one for facet in facets for one in facet["dataset"]))}


def describe_columns(outputs: list[dict[str, Any]]) -> None:
    """Describe the columns of outputs, each by the number of them."""
    for output in outputs:
        fields = output["facets"].get("schema", {"fields": []})["fields"]
        for one in fields:
            one["description"] = f"{one['name']} of {len(fields)}"


def store_of(folder: Path, batches: list[list[dict[str, Any]]]) -> Store:
    store = new_store(folder)
    for batch in batches:
        store.ingest(batch)
    return store


@settings(max_examples=40)
@given(parts=st.lists(EVENT | OF_STREAM, min_size=1, max_size=7), seed=st.randoms(use_true_random=False))
def test_order_batches_and_repetition_do_not_matter(
    words: Any, parts: list[dict[str, Any]], seed: random.Random
) -> None:
    agree(words, [event(words, one) for one in parts], seed)


@settings(max_examples=40, derandomize=SAME_EACH_TIME)
@given(
    parts=st.lists(EVENT, min_size=1, max_size=6),
    changes=st.lists(CHANGE, min_size=1, max_size=4),
    seed=st.randoms(use_true_random=False),
)
def test_order_does_not_matter_where_names_change(
    words: Any, parts: list[dict[str, Any]], changes: list[tuple[dict[str, Any], int, str]], seed: random.Random
) -> None:
    agree(words, [*(event(words, one) for one in parts), *(change(words, one) for one in changes)], seed)


def agree(words: Any, events: list[dict[str, Any]], seed: random.Random) -> None:
    """Events taken in at once, and one by one in another order with repetitions, make equal stores."""
    mixed = events + seed.choices(events, k=2)
    seed.shuffle(mixed)
    with (
        tempfile.TemporaryDirectory() as one,
        tempfile.TemporaryDirectory() as other,
        store_of(Path(one), [events]) as together,
        store_of(Path(other), [[single] for single in mixed]) as apart,
    ):
        assert words.contents(together) == words.contents(apart)


def test_order_does_not_matter_where_a_table_takes_the_name_of_another_at_once(words: Any, tmp_path: Path) -> None:
    """One is dropped, and at the same moment another gets its name, and its column one that comes again later."""
    events = [
        words.run_event("ddl", words.renamed("a", None), minute=1, run="1"),
        words.run_event("ddl", words.renamed("b", "a", {"x": "y"}), minute=1, run="2"),
        words.run_event("make", words.written("a", {"x": ["raw.x"], "y": []}), minute=4, run="3"),
    ]
    assert len(contents_by_order(words, events, tmp_path)) == 1


def test_order_does_not_matter_where_lineage_comes_after_the_end_of_its_run(words: Any, tmp_path: Path) -> None:
    """Its input is dropped between the two, by the clocks of those who say so."""
    output = words.written("a", {"x": ["b.x"]})
    events = [
        words.run_event("make", output, minute=1, run="1", state="START"),
        words.run_event("make", minute=0, run="1"),
        words.run_event("ddl", words.renamed("b", None), minute=1, run="2"),
    ]
    assert len(contents_by_order(words, events, tmp_path)) == 1


def test_order_does_not_matter_where_a_run_ends_later_than_a_restoration(words: Any, tmp_path: Path) -> None:
    """By its first event alone it ended before it, and its lineage may be what was restored."""
    events = [
        words.run_event("make", words.written("a", {"x": ["raw.x"]}), minute=0, run="1", inputs=["raw"]),
        words.run_event("make", minute=4, run="1"),
        words.run_event("restore", words.written("a", None, (), "SOME_ROWS <1"), minute=1, run="2"),
    ]
    assert len(contents_by_order(words, events, tmp_path)) == 1


def test_order_does_not_matter_where_two_columns_get_one_name_at_once(words: Any, tmp_path: Path) -> None:
    """The first of them in the alphabet gets it, and the other keeps its own; so does a column that gets two names."""
    events = [
        words.run_event("make", words.written("a", {"x": ["raw.x"], "y": ["raw.y"]}), minute=0, run="1"),
        words.run_event("ddl", words.renamed("a", "a", {"y": "Z"}), minute=1, run="2"),
        words.run_event("ddl", words.renamed("a", "a", {"x": "z"}), minute=1, run="3"),
        words.run_event("ddl", words.renamed("a", "a", {"X": "w"}), minute=1, run="4"),
    ]
    assert len(contents_by_order(words, events, tmp_path)) == 1
    with store_of(tmp_path, [events]) as store:
        assert words.edges(store) == {"a.w <- raw.x IDENTITY", "a.Z <- raw.y IDENTITY"}
        store.ingest([words.run_event("use", words.written("b", {"c": ["a.z", "a.w"]}), minute=2, run="5")])
        assert words.edges(store) >= {"b.c <- a.Z IDENTITY", "b.c <- a.w IDENTITY"}


def test_order_does_not_matter_where_a_column_gets_the_name_that_another_keeps(words: Any, tmp_path: Path) -> None:
    """One event says both, and another the next name; or two events of one moment say it."""
    names = [("b", "c", {"X": "x", "Y": "x"}), ("a", "b", {"X": "z"}), ("a", "a", {"X": "x"}), ("a", "a", {"Y": "x"})]
    made = words.run_event("make", words.written("a", {"x": ["raw.x"], "y": ["raw.y"]}), minute=0, run="1")
    renames = [
        words.run_event("ddl", words.renamed(former, present, fields), minute=minute, run=str(minute) + str(fields))
        for minute, (present, former, fields) in zip((1, 2, 1, 1), names, strict=True)
    ]
    for number, events in enumerate([renames[:2], [made, *renames[2:]]]):
        (tmp_path / str(number)).mkdir()
        assert len(contents_by_order(words, events, tmp_path / str(number))) == 1
    with store_of(tmp_path, [[made, *renames[2:]]]) as store:
        assert words.edges(store) == {"a.x <- raw.x IDENTITY", "a.y <- raw.y IDENTITY"}


def test_order_does_not_matter_where_two_tables_are_made_of_one_at_once(words: Any, tmp_path: Path) -> None:
    """Both statements rename columns of it to one name, which one of the two gets."""
    events = [
        words.run_event("ddl", words.renamed("a", "b", {"x": "z"}), minute=1, run="1"),
        words.run_event("ddl", words.renamed("a", "c", {"y": "Z"}), minute=1, run="2"),
    ]
    assert len(contents_by_order(words, events, tmp_path)) == 1


def test_order_does_not_matter_where_an_event_joins_a_table_with_another_of_its_names(
    words: Any, tmp_path: Path
) -> None:
    """The later schema counts, also where the table is new in the same batch under the first name alone."""
    events = [
        words.run_event("make", words.written("a", {"y": ["raw.x"]}), minute=0, run="1", inputs=["raw"]),
        words.run_event("make", words.written("a", {"x": ["raw.x"]}, ["t"]), minute=1, run="2", inputs=["raw"]),
    ]
    assert len(contents_by_order(words, events, tmp_path)) == 1
    with store_of(tmp_path, [events]) as store:
        assert [one for one in words.contents(store)["fields"] if "/a" in one] == [
            "('/a', 'x', 'string', 0)",
            "('/a', 'y', '', None)",
        ]


def test_order_does_not_matter_where_a_rename_joins_a_table_that_has_columns(words: Any, tmp_path: Path) -> None:
    """The statement names the table by its catalog name, under which only another event knows its path."""
    described = words.written("b", {"y": ["raw.x"]}, ["t1"])
    describe_columns([described])
    events = [
        words.run_event("make", described, minute=1, run="1", inputs=["raw"]),
        words.run_event("use", words.written("c", None), minute=2, run="2"),
        words.run_event("ddl", words.renamed("c", "c", {"Y": "Z"}, {"t1": "t1"}), minute=0, run="3"),
    ]
    for number, some in enumerate((events, events[::2])):
        (tmp_path / str(number)).mkdir()
        assert len(contents_by_order(words, some, tmp_path / str(number))) == 1


def test_a_column_is_spelled_as_the_last_rename_has_it(words: Any, tmp_path: Path) -> None:
    """Also where that changes the case of its name alone."""
    events = [
        words.run_event("ddl", words.renamed("b", "a", {"Y": "x"}), minute=2, run="1"),
        words.run_event("ddl", words.renamed("a", "c", {"x": "X"}), minute=4, run="2"),
    ]
    assert len(contents_by_order(words, events, tmp_path)) == 1
    with store_of(tmp_path, [[one] for one in events]) as store:
        assert words.contents(store)["fields"] == ["('/c', 'X', '', None)"]


def test_columns_that_changed_places_have_the_places_of_the_last_schema(words: Any, tmp_path: Path) -> None:
    """A schema that is equal to the one before is of other columns."""
    schema = {"x": ["raw.x"], "y": ["raw.y"]}
    renames = [{"x": "z"}, {"y": "x"}, {"z": "y"}]
    events = [
        words.run_event("make", words.written("a", schema), minute=0, run="1", inputs=["raw"]),
        *(
            words.run_event("ddl", words.renamed("a", "a", fields), minute=minute, run=str(fields))
            for minute, fields in enumerate(renames, start=1)
        ),
        words.run_event("make", words.written("a", schema), minute=4, run="2", inputs=["raw"]),
    ]
    assert len(contents_by_order(words, events, tmp_path)) == 1
    for number, batches in enumerate([[events], [[one] for one in events]]):
        (tmp_path / f"places{number}").mkdir()
        with store_of(tmp_path / f"places{number}", batches) as store:
            found = [one for one in words.contents(store)["fields"] if "/a" in one]
            assert found == ["('/a', 'x', 'string', 0)", "('/a', 'y', 'string', 1)"]


def test_order_does_not_matter_for_columns_of_lineage_that_never_held(words: Any, tmp_path: Path) -> None:
    """Another event of the run has other lineage of that moment, and the table that it read was renamed before."""
    events = [
        words.run_event("make", words.written("b", {"y": []}), minute=1, run="1"),
        words.run_event("make", words.written("b", {"y": ["c.y"]}), minute=1, run="1", inputs=["c"]),
        words.run_event("ddl", words.renamed("c", "a", {"X": "y", "x": "y"}), minute=1, run="2"),
        words.run_event("ddl", words.renamed("c", "c", {"X": "w"}), minute=2, run="3"),
    ]
    assert len(contents_by_order(words, events, tmp_path)) == 1


def contents_by_order(words: Any, events: list[dict[str, Any]], folder: Path) -> set[str]:
    """The contents of stores that ingest events together, and one by one in each order."""
    found = set()
    for number, batches in enumerate([[events], *([[one] for one in order] for order in permutations(events))]):
        (folder / str(number)).mkdir()
        with store_of(folder / str(number), batches) as store:
            found.add(str(words.contents(store)))
    return found
