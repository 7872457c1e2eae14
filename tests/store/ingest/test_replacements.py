"""Current lineage after rows were replaced: by a plain model of the rules, and by cases."""

import random
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any
from uuid import NAMESPACE_OID, uuid5

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sqlalchemy import text
from tests.store.conftest import new_file

from headwater.answers.documents import of_roots
from headwater.store import Store, open_store, schema
from headwater.store.questions import (
    Bounds,
    DatasetQuery,
    Evidence,
    Overwrite,
    dataset_page,
    datasets,
    impact_of,
    moment_of,
    roots_of,
    walk_from,
)
from headwater.store.questions.paths import paths_between

MINUTES = 6
SUCCESSFUL = "COMPLETE"


@dataclass(frozen=True)
class Write:
    """A run that wrote one dataset: its job, name, end, how it ended, the column it says, and what it replaced."""

    job: str
    name: str
    minute: int
    state: str
    output: str
    source: str | None
    write: str
    early: bool

    @property
    def restores(self) -> str:
        """The version that it restored, after ``<``; empty where it restored none."""
        return next((word for word in self.write.split() if word.startswith("<")), "")

    @property
    def place(self) -> tuple[int, str]:
        return self.minute, str(uuid5(NAMESPACE_OID, self.name))

    def events(self, words: Any) -> Iterator[dict[str, Any]]:
        """The end of the run; its start says what it writes where ``early`` is true, and the end nothing then."""
        fields = None if self.source is None else {"x": [self.source]}
        output = words.written(self.output, fields, (), self.write)
        at = {"minute": self.minute, "run": self.name}
        if self.early:
            yield words.run_event(self.job, output, minute=max(self.minute - 1, 0), run=self.name, state="START")
        yield words.run_event(self.job, *([] if self.early else [output]), state=self.state, **at)


WRITES = [
    *("ALL_ROWS", "ALL_ROWS @0", "ALL_ROWS @1", "SOME_ROWS", "SOME_ROWS @1", "SOME_ROWS @2", "", "OVERWRITE", "CREATE"),
    *("SOME_ROWS <0", "SOME_ROWS @2 <1", "SOME_ROWS @1 <2", "SOME_ROWS <?"),
]


@st.composite
def histories(draw: st.DrawFn) -> list[Write]:
    """Runs of three jobs into two datasets, some at the same minute."""
    count = draw(st.integers(2, 8))
    return [
        Write(
            job=draw(st.sampled_from(["j1", "j2", "j3"])),
            name=f"r{number}",
            minute=draw(st.integers(1, MINUTES)),
            state=draw(st.sampled_from([SUCCESSFUL] * 4 + ["FAIL"])),
            output=draw(st.sampled_from(["a", "a", "b"])),
            source=draw(st.sampled_from([None, "raw.x IDENTITY", "raw.y IDENTITY", "a.x IDENTITY"])),
            write=draw(st.sampled_from(WRITES)),
            early=draw(st.booleans()),
        )
        for number in range(count)
    ]


class Rules:
    """The rules of docs/current.md and nothing else, over the runs of a history that succeeded."""

    def __init__(self, runs: Sequence[Write], *, believed: bool) -> None:
        self._runs = sorted((one for one in runs if one.state == SUCCESSFUL), key=lambda one: one.place)
        self._believed = believed

    def edges(self, minute: int) -> set[tuple[str, str, str]]:
        """The edges at the end of a minute as (job, output, source)."""
        known = [one for one in self._runs if one.minute <= minute]
        last = {(one.job, one.output): one for one in known if one.source is not None or one.restores}
        return {
            (one.job, f"{one.output}.x", source)
            for one in last.values()
            if not any(
                other.output == one.output and self._replaces(other) and other.place > one.place for other in known
            )
            for source in self._sources(one)
        }

    def _replaces(self, one: Write) -> bool:
        if one.restores:
            return self._restored_minute(one) is not None
        return one.write.startswith(("ALL_ROWS", "CREATE")) or (self._believed and one.write == "OVERWRITE")

    def _sources(self, one: Write) -> set[str]:
        """The sources of a run's output; a run that restored a version has those of the version."""
        own = set() if one.source is None else {one.source}
        if not one.restores:
            return own
        minute = self._restored_minute(one)
        before = [minute] if minute is not None else range(one.minute)
        found = {source for at in before for _, output, source in self.edges(at) if output == f"{one.output}.x"}
        return found if minute is not None else own | found

    def _restored_minute(self, one: Write) -> int | None:
        """When the last run before it had ended that made the version, and that said of rows anything."""
        made = [
            other.minute
            for other in self._runs
            if (other.minute < one.minute and other.output == one.output)
            and (other.source is not None or other.restores or other.write.startswith("ALL_ROWS"))
            and f"@{one.restores[1:]}" in other.write.split()
        ]
        return max(made, default=None)


def edges_at(store: Store, minute: int) -> set[tuple[str, str, str]]:
    """The edges that the store has at the end of a minute."""
    names = "JOIN field o ON o.id = e.output_field JOIN dataset d ON d.id = o.dataset_id "
    names += "JOIN field i ON i.id = e.input_field JOIN dataset s ON s.id = i.dataset_id "
    names += "JOIN transformation w ON w.id = e.transformation_id JOIN job j ON j.id = e.job_id"
    shown = "j.name, d.name || '.' || o.name, s.name || '.' || i.name || ' ' || w.subtype"
    moment = 1_767_225_600_000_000 + minute * 60_000_000
    parts = (f"SELECT {shown} FROM edge e {names} WHERE e.valid_from <= {moment}",)
    parts += (f"SELECT {shown} FROM edge_history e {names} WHERE e.valid_from <= {moment} AND e.valid_to > {moment}",)
    with store.read() as connection:
        rows = connection.execute(text(" UNION ALL ".join(parts))).all()
    assert len(rows) == len(set(rows))
    return {(job, output[1:], source[1:]) for job, output, source in rows}


Opener = Callable[[], Any]


@pytest.fixture(params=["sqlite", "postgres"])
def opened(request: pytest.FixtureRequest) -> Iterator[Opener]:
    """Opens a store without events, again and again."""
    if request.param == "sqlite":
        yield sqlite_store
        return
    url = request.getfixturevalue("new_database")()
    with believing(False), open_store(url) as doubting, believing(True), open_store(url) as trusting:

        @contextmanager
        def emptied(believed: bool) -> Iterator[Store]:
            with doubting.write() as connection:
                for table in reversed(schema.metadata.sorted_tables):
                    connection.execute(table.delete())
            yield trusting if believed else doubting

        yield emptied


@contextmanager
def believing(believed: bool) -> Iterator[None]:
    """Sets whether an OVERWRITE of others is one of all rows, for stores that are opened meanwhile."""
    with pytest.MonkeyPatch.context() as environment:
        environment.setenv("HEADWATER_BELIEVE_OVERWRITE", "on" if believed else "off")
        yield


@contextmanager
def sqlite_store(believed: bool) -> Iterator[Store]:
    with tempfile.TemporaryDirectory() as folder:
        file = new_file(folder)
        with believing(believed), open_store(str(file)) as store:
            yield store


@settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(runs=histories(), seed=st.randoms(use_true_random=False), believed=st.booleans())
def test_current_lineage_follows_from_the_events_whatever_their_order(
    words: Any, opened: Opener, runs: list[Write], seed: random.Random, believed: bool
) -> None:
    events = [event for one in runs for event in one.events(words)]
    events += seed.choices(events, k=2)
    seed.shuffle(events)
    size = seed.choice([1, 2, 4, len(events)])
    with opened(believed=believed) as store:
        for begin in range(0, len(events), size):
            store.ingest(events[begin : begin + size])
        rules = Rules(runs, believed=believed)
        for minute in range(MINUTES + 1):
            assert edges_at(store, minute) == rules.edges(minute), f"minute {minute}"


def night(words: Any, day: int, columns: dict[str, list[str]], write: str = "ALL_ROWS", **more: Any) -> dict[str, Any]:
    """The end of a nightly run whose job is called by its day."""
    output = words.written("out", columns, (), write)
    found: dict[str, Any] = words.run_event(f"nightly_2026-11-{day}", output, minute=day, **more)
    return found


def test_a_replacement_ends_the_lineage_of_the_night_before(words: Any, store: Store) -> None:
    store.ingest([night(words, 23, {"v": ["people.email"], "old": ["people.id"]})])
    store.ingest([night(words, 24, {"v": ["shop.name"]})])
    assert words.edges(store) == {"out.v <- shop.name IDENTITY"}


def test_an_append_ends_no_lineage(words: Any, store: Store) -> None:
    store.ingest([night(words, 23, {"v": ["people.email"]})])
    store.ingest([night(words, 24, {"v": ["shop.name"]}, write="SOME_ROWS")])
    assert words.edges(store) == {"out.v <- people.email IDENTITY", "out.v <- shop.name IDENTITY"}


def test_a_write_without_lineage_ends_that_of_others(words: Any, store: Store) -> None:
    store.ingest([night(words, 23, {"v": ["people.email"]})])
    store.ingest([words.run_event("clean", words.written("out", None, (), "ALL_ROWS"), minute=24)])
    assert words.edges(store) == set()
    store.ingest([night(words, 25, {"v": ["people.email"]})])
    assert words.edges(store) == {"out.v <- people.email IDENTITY"}


def test_the_same_run_again_after_a_replacement_makes_its_edges_again(words: Any, store: Store) -> None:
    for minute in (1, 3):
        store.ingest([words.run_event("daily", words.written("out", {"v": ["a.x"]}, (), "SOME_ROWS"), minute=minute)])
        store.ingest([words.run_event("clean", words.written("out", None, (), "ALL_ROWS"), minute=minute + 1)])
        assert words.edges(store) == set()
    store.ingest([words.run_event("daily", words.written("out", {"v": ["a.x"]}, (), "SOME_ROWS"), minute=5)])
    assert words.edges(store) == {"out.v <- a.x IDENTITY"}


def test_a_failed_run_replaces_nothing(words: Any, store: Store) -> None:
    store.ingest([night(words, 23, {"v": ["people.email"]})])
    store.ingest([night(words, 24, {"v": ["shop.name"]}, state="FAIL")])
    assert words.edges(store) == {"out.v <- people.email IDENTITY"}


def test_an_overwrite_of_others_ends_nothing_unless_it_is_believed(
    words: Any, url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    both = {"out.v <- people.email IDENTITY", "out.v <- shop.name IDENTITY"}
    nights = [night(words, 23, {"v": ["people.email"]}, ""), night(words, 24, {"v": ["shop.name"]}, "OVERWRITE")]
    with open_store(url) as store:
        store.ingest(nights)
        assert words.edges(store) == both
    monkeypatch.setenv("HEADWATER_BELIEVE_OVERWRITE", "on")
    with open_store(url) as store:
        store.ingest([night(words, 25, {"v": ["shop.town"]}, "OVERWRITE")])
        assert words.edges(store) == {"out.v <- shop.town IDENTITY"}


def test_a_stream_that_runs_is_not_ended_by_a_replacement(words: Any, store: Store) -> None:
    """It may write again after it; once it has ended, what replaced the rows after that ends its lineage."""
    streams = {"jobType": {"processingType": "STREAMING"}}
    written = words.written("out", {"v": ["clicks.x"]}, (), "SOME_ROWS")
    store.ingest([words.run_event("stream", written, minute=1, run="s", state="RUNNING", job_facets=streams)])
    store.ingest([words.run_event("clean", words.written("out", None, (), "ALL_ROWS"), minute=5)])
    assert words.edges(store) == {"out.v <- clicks.x IDENTITY"}
    store.ingest([words.run_event("stream", written, minute=3, run="s", job_facets=streams)])
    assert words.edges(store) == set()


def test_lineage_that_others_may_have_replaced_is_marked_with_the_run(words: Any, store: Store) -> None:
    nights = [night(words, 23, {"v": ["people.email"]}, ""), night(words, 24, {"v": ["shop.name"]}, "OVERWRITE")]
    store.ingest(nights)
    by = [("nightly_2026-11-24", nights[1]["run"]["runId"])]
    roots = roots_of(store, "out.v").roots
    assert {one.column.name: _marks(one.possibly_replaced) for one in roots} == {"email": by, "name": []}
    hops = walk_from(store, "out.v").hops
    assert {one.input.name: one.possibly_replaced is not None for one in hops} == {"email": True, "name": False}
    assert [_marks(one.possibly_replaced) for one in impact_of(store, "people.email").datasets] == [by]
    (document,) = (one for one in of_roots(roots_of(store, "out.v"))["roots"] if one["column"]["field"] == "email")
    assert document["possiblyReplaced"][0]["at"] == "2026-01-01T00:24:00Z"


def _marks(runs: Sequence[Overwrite]) -> list[tuple[str, str]]:
    return [(one.job.name, one.run) for one in runs]


def test_a_run_of_the_job_after_the_overwrite_is_not_replaced_by_it(words: Any, store: Store) -> None:
    for day, write in ((23, ""), (24, "OVERWRITE"), (25, "")):
        store.ingest([night(words, day, {"v": ["people.email"]}, write)])
    store.ingest([words.run_event("nightly_2026-11-23", words.written("out", {"v": ["people.email"]}), minute=30)])
    jobs = {one.jobs[0].name: bool(one.possibly_replaced) for one in roots_of(store, "out.v").roots}
    hops = {one.job.name: one.possibly_replaced is not None for one in walk_from(store, "out.v").hops}
    assert hops == {"nightly_2026-11-23": False, "nightly_2026-11-24": False, "nightly_2026-11-25": False}
    assert set(jobs.values()) == {False}


def test_a_column_that_the_new_rows_lack_is_no_current_column(words: Any, store: Store) -> None:
    store.ingest([night(words, 23, {"v": ["people.email"], "old": ["people.id"]})])
    store.ingest([words.run_event("copy", words.written("copied", {"w": ["out.old"]}), minute=23)])
    store.ingest([night(words, 24, {"v": ["shop.name"]})])
    page = dataset_page(store, 10, DatasetQuery("out"))
    assert [[column.name for column in columns] for _, columns in page.datasets] == [["v"]]
    assert {one.dataset.dataset.name: one.columns for one in datasets(store)}["/out"] == 1
    assert roots_of(store, "out.old").evidence is Evidence.REPLACED
    before = roots_of(store, "out.old", Bounds(as_of=moment_of(store, "2026-01-01T00:23:30Z")))
    assert [str(root.column) for root in before.roots] == ["file:/people.id"]


def test_a_column_stays_where_the_replacing_run_has_no_schema(words: Any, store: Store) -> None:
    store.ingest([night(words, 23, {"v": ["people.email"]})])
    store.ingest([words.run_event("clean", words.written("out", None, (), "TRUNCATE"), minute=24)])
    page = dataset_page(store, 10, DatasetQuery("out"))
    assert [[column.name for column in columns] for _, columns in page.datasets] == [["v"]]
    assert roots_of(store, "out.v").evidence is Evidence.REPLACED


def _roots(store: Store, name: str) -> list[str]:
    return sorted(str(root.column).rpartition("/")[2] for root in roots_of(store, name).roots)


def test_columns_made_of_rows_that_are_gone_lead_to_their_sources(words: Any, store: Store) -> None:
    """A stage is filled, read, and emptied or used for something else."""
    store.ingest(
        [
            words.run_event("fill", words.written("stage", {"x": ["people.email"]}, (), "ALL_ROWS"), minute=1),
            words.run_event("load", words.written("v", {"y": ["stage.x"]}, (), "ALL_ROWS"), minute=2),
            words.run_event("empty", words.written("stage", None, (), "ALL_ROWS"), minute=3),
        ]
    )
    assert _roots(store, "v.y") == ["people.email"]
    store.ingest([words.run_event("other", words.written("stage", {"x": ["shop.name"]}, (), "ALL_ROWS"), minute=4)])
    assert "people.email" in _roots(store, "v.y")
    assert _roots(store, "stage.x") == ["shop.name"]
    store.ingest([words.run_event("load", words.written("v", {"y": ["stage.x"]}, (), "ALL_ROWS"), minute=5)])
    assert _roots(store, "v.y") == ["shop.name"]


def test_rows_that_were_added_each_day_lead_to_the_sources_of_each_day(words: Any, store: Store) -> None:
    for day in (1, 2, 3):
        source = {"x": [f"source{day}.a"]}
        store.ingest(
            [
                words.run_event(f"fill_{day}", words.written("stage", source, (), "ALL_ROWS"), minute=day * 2),
                words.run_event("add", words.written("v", {"y": ["stage.x"]}, (), "SOME_ROWS"), minute=day * 2 + 1),
            ]
        )
    assert _roots(store, "v.y") == ["source1.a", "source2.a", "source3.a"]


def test_what_nobody_read_leads_nowhere(words: Any, store: Store) -> None:
    """Between two readers a stage was filled once more: what came of that is in none of the two."""

    def fill(minute: int) -> Any:
        return words.run_event(
            f"fill {minute}", words.written("stage", {"x": [f"raw{minute}.a"]}, (), "ALL_ROWS"), minute=minute
        )

    def copy(source: str, output: str, minute: int) -> Any:
        return words.run_event(f"to {output}", words.written(output, {"y": [source]}, (), "ALL_ROWS"), minute=minute)

    store.ingest([fill(1), copy("stage.x", "first", 2), fill(3), fill(5), copy("stage.x", "third", 6), fill(7)])
    both = words.written("both", {"y": ["first.y", "third.y"]}, (), "ALL_ROWS")
    store.ingest([words.run_event("join", both, minute=8)])
    assert _roots(store, "both.y") == ["raw1.a", "raw5.a", "raw7.a"]


def test_paths_lead_only_through_who_read_a_stage_while_a_source_was_in_it(words: Any, store: Store) -> None:
    """One reader copies the first source of a stage, another hides the second: neither has what the other has."""
    hidden = "stage.x TRANSFORMATION masked"
    store.ingest(
        [
            words.run_event("fill 1", words.written("stage", {"x": ["shop.name"]}, (), "ALL_ROWS"), minute=1),
            words.run_event("copy", words.written("copy", {"y": ["stage.x"]}, (), "ALL_ROWS"), minute=2),
            words.run_event("fill 3", words.written("stage", {"x": ["people.email"]}, (), "ALL_ROWS"), minute=3),
            words.run_event("hash", words.written("hash", {"y": [hidden]}, (), "ALL_ROWS"), minute=4),
            words.run_event("more", words.written("more", {"y": ["hash.y"]}, (), "ALL_ROWS"), minute=5),
            words.run_event("empty", words.written("stage", None, (), "ALL_ROWS"), minute=6),
            words.run_event("join", words.written("both", {"y": ["copy.y", "more.y"]}, (), "ALL_ROWS"), minute=7),
        ]
    )
    (path,) = paths_between(store, "people.email", "both.y").paths
    assert [str(one).rpartition("/")[2] for one in path.columns] == [
        "people.email", "stage.x", "hash.y", "more.y", "both.y",
    ]  # fmt: skip
    assert [hop.job.name for step in path.steps for hop in step] == ["fill 3", "hash", "more", "join"]
    (path,) = paths_between(store, "shop.name", "both.y").paths
    assert len(path.steps) == 3
    root = next(one for one in roots_of(store, "both.y").roots if one.column.name == "email")
    assert root.distance == 4
    assert [one.transformation.masking for one in root.transformations] == [True]
    assert "copy" not in {job.name for job in root.jobs}


def test_a_source_that_was_read_as_a_whole_leads_to_who_filled_it(words: Any, store: Store) -> None:
    output = words.written("v", None, (), "ALL_ROWS")
    output["facets"]["lineage"] = {"inputs": [{"namespace": "file", "name": "/stage", "type": "DATASET"}]}
    output["facets"]["schema"] = {"fields": [{"name": "y", "type": "string"}]}
    store.ingest(
        [
            words.run_event("fill", words.written("stage", {"x": ["people.email"]}, (), "ALL_ROWS"), minute=1),
            words.run_event("load", output, minute=2),
            words.run_event("empty", words.written("stage", None, (), "ALL_ROWS"), minute=3),
        ]
    )
    assert _roots(store, "v.y") == ["people.email"]


def test_a_table_that_is_overwritten_by_itself_leads_to_who_filled_it(words: Any, store: Store) -> None:
    store.ingest([words.run_event("fill", words.written("t", {"x": ["people.email"]}, (), "ALL_ROWS"), minute=1)])
    for minute in (2, 3, 4):
        store.ingest([words.run_event("tidy", words.written("t", {"x": ["t.x"]}, (), "ALL_ROWS"), minute=minute)])
    store.ingest([words.run_event("copy", words.written("c", {"x": ["t.x"]}, (), "ALL_ROWS"), minute=5)])
    assert "people.email" in _roots(store, "t.x")
    assert "people.email" in _roots(store, "c.x")


def test_a_restored_version_has_the_lineage_that_it_had(words: Any, store: Store) -> None:
    store.ingest([night(words, 23, {"v": ["people.email"]}, "ALL_ROWS @0")])
    store.ingest([night(words, 24, {"v": ["shop.name"]}, "ALL_ROWS @1")])
    store.ingest([words.run_event("restore", words.written("out", {"v": ["out.v"]}, (), "SOME_ROWS @2 <0"), minute=25)])
    assert words.edges(store) == {"out.v <- people.email IDENTITY"}
    assert [str(one.column) for one in roots_of(store, "out.v").roots] == ["file:/people.email"]
    assert [str(one.dataset.dataset) for one in impact_of(store, "people.email").datasets] == ["file:/out"]
    assert impact_of(store, "shop.name").datasets == ()
    store.ingest([words.run_event("restore again", words.written("out", None, (), "SOME_ROWS <1"), minute=26)])
    assert words.edges(store) == {"out.v <- shop.name IDENTITY"}


def test_all_former_lineage_may_be_in_a_restored_version_without_a_name(words: Any, store: Store) -> None:
    store.ingest([night(words, 23, {"v": ["people.email"]}), night(words, 24, {"v": ["shop.name"]})])
    restoring = words.run_event("restore", words.written("out", {"v": ["out.v"]}, (), "SOME_ROWS <?"), minute=25)
    store.ingest([restoring])
    assert words.edges(store) == {f"out.v <- {one} IDENTITY" for one in ("out.v", "people.email", "shop.name")}
    by = [("restore", restoring["run"]["runId"])]
    hops = walk_from(store, "out.v").hops
    marks = {one.job.name: one.possibly_replaced and _marks([one.possibly_replaced]) for one in hops}
    assert marks == {"restore": None, "nightly_2026-11-24": by}


def test_the_latest_application_of_appends_of_one_job_counts_with_all_its_writes(words: Any, store: Store) -> None:
    """The earlier appends of the application come with its last run (``earlier``)."""

    def append(minute: int, source: str, before: str = "") -> dict[str, Any]:
        output = words.written("out", {"v": [source]}, (), "SOME_ROWS")
        if before:
            fields = words.written("out", {"v": [before]})["facets"]["columnLineage"]["fields"]
            output["outputFacets"]["headwater_write"]["earlier"] = {"fields": fields, "dataset": []}
        event: dict[str, Any] = words.run_event("shop.out", output, minute=minute)
        return event

    store.ingest([append(1, "web.x"), append(2, "shop.x", before="web.x")])
    assert words.edges(store) == {"out.v <- web.x IDENTITY", "out.v <- shop.x IDENTITY"}
    store.ingest([append(30, "app.x")])
    assert words.edges(store) == {"out.v <- app.x IDENTITY"}
    day_before = roots_of(store, "out.v", Bounds(as_of=moment_of(store, "2026-01-01T00:20:00Z")))
    assert {str(one.column) for one in day_before.roots} == {"file:/web.x", "file:/shop.x"}
