"""Namespaces hold against writers: who may write elsewhere changes nothing of an owner's, and learns nothing of it."""

import json
import re
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest
from fastapi.testclient import TestClient
from hypothesis import given
from hypothesis import strategies as st
from sqlalchemy import select
from tests.server.access import bearer
from tests.server.attacks import (
    DATASET_FACETS,
    FAMILIES,
    HIVE,
    LINEAGE,
    MINE,
    OWN,
    RUNS,
    Attack,
    event,
    field,
    lineage,
    mine,
    named,
    people,
    schema,
    world,
)

from headwater.errors import QuestionError
from headwater.model import Dataset, Job
from headwater.model.names import run_within
from headwater.server import ServerSettings, create_app
from headwater.server.auth.access import Caller, Scope
from headwater.server.columns.changes import event_of, stream_id
from headwater.store import schema as tables
from headwater.store.catalog.job_versions import job_version
from headwater.store.maintenance.keyring import issue, revoke
from headwater.store.questions import changes_after, latest_event
from headwater.store.read_model.versions import dataset_version

SPECIFICATION = Path(__file__).parents[1] / "openlineage" / "spec" / "facets"
FORMS = ("&collapse=dataset", "&guess=true", "&format=csv")
ENDLESS = {"Last-Event-ID": "none of ours"}
NOW = re.compile(r"20(?!26-01-01)\d\d-\d\d-\d\dT[\d:.]+Z")
"""A moment at which a request came, which the world has none of."""


class Neighbours:
    """A server with keys of every kind, and what each sees there."""

    def __init__(self, client: TestClient) -> None:
        self.client = client
        self.store = client.app.state.server.store  # type: ignore[attr-defined]
        self.keys = {
            "root": issue(self.store, "root", "admin")[1],
            "own": issue(self.store, "owner", "admin", [OWN, HIVE])[1],
            "a": issue(self.store, "attacker", "admin", [MINE])[1],
            "a*": issue(self.store, "attacker", "admin", ["a*"])[1],
            "read": issue(self.store, "attacker", "read", [MINE])[1],
            "other": issue(self.store, "attacker", "admin", ["zzz"])[1],
        }
        gone, self.keys["revoked"] = issue(self.store, "attacker", "admin", [MINE])
        revoke(self.store, gone.id)

    def ask(self, key: str, method: str, path: str, body: Any = None) -> Any:
        headers = bearer(self.keys[key]) if key != "none" else {}
        return self.client.request(method, path, json=body, headers=headers | ENDLESS)

    def send(self, key: str, body: Any) -> None:
        answer = self.ask(key, "POST", LINEAGE, body)
        assert answer.status_code == 201, answer.text

    def send_of_owner(self) -> None:
        for key, one in world():
            self.send(key, one)
        self.say("root")
        self.say("own")

    def say(self, who: str) -> None:
        for key, method, path, body in (one for one in SAID if one[0] == who):
            answer = self.ask(key, method, path, body)
            assert answer.is_success, (path, answer.text)

    def send_of_attacker(self) -> None:
        for one in mine():
            self.send("a", one)

    def sees(self, key: str, requests: list[str]) -> dict[str, tuple[Any, ...]]:
        """The answers that a key sees: status, tag and text of each, without ids of rows and times of today."""
        return {one: answer_of(self.ask(key, "GET", one)) for one in requests}

    def rows(self) -> dict[str, set[tuple[Any, ...]]]:
        """Every row of every table but of the log of written edges."""
        with self.store.read() as connection:
            return {
                table.name: {tuple(row) for row in connection.execute(select(table))}
                for table in tables.metadata.sorted_tables
                if table.name != "edge_change"
            }

    def under(self, key: str, attack: Attack) -> tuple[int, str]:
        answer = self.ask(key, attack.method, attack.path, attack.body)
        return answer.status_code, timeless(answer.text)


SAID = [
    ("own", "PUT", f"/api/v1/namespaces/{OWN}", {"ownerName": "owner", "description": "mine"}),
    ("root", "PUT", "/api/v1/sources/warehouse", {"type": "POSTGRESQL", "connectionUrl": "jdbc:postgresql://db"}),
    ("root", "PUT", "/api/v1/tags/PII", {"description": "personal"}),
    ("own", "POST", f"/api/v1/namespaces/{OWN}/datasets/%2Fpeople/tags/checked", None),
    ("own", "POST", f"/api/v1/namespaces/{OWN}/datasets/%2Fpeople/fields/name/tags/PII", None),
    ("own", "POST", f"/api/v1/namespaces/{OWN}/jobs/load/tags/gold", None),
]


def timeless(text: str) -> str:
    """An answer without the moments of requests, and the versions that are made of these."""
    found = NOW.sub("NOW", text)
    return re.sub(r'"(currentV|v)ersion":"[\w-]+"', '"version":""', found) if "NOW" in found else found


def answer_of(answer: Any) -> tuple[Any, ...]:
    text = re.sub(r'"id":(\d+|\[[\d,]*])', '"id":0', timeless(answer.text))
    tag = "" if text != answer.text else answer.headers.get("etag", "")
    return answer.status_code, tag, text


WORDS = ("e", "PII", "gold", "checked", "loads", "people", "the+salary", "evil", "select", "stolen")
"""Words of names, tags, SQL and descriptions, of the owner and of the attacker."""


def views(own: str, datasets: tuple[str, ...], jobs: tuple[str, ...], columns: tuple[str, ...]) -> list[str]:
    """Every GET of both interfaces about what a caller has."""
    runs, v1 = list(RUNS.values()), "/api/v1"
    spaces = f"{v1}/namespaces/{quote(own, safe='')}"
    found = [
        f"{v1}/{one}" for one in ("namespaces", "sources", "tags", "jobs", "events", "events/lineage", f"events/{own}")
    ]
    found += [f"{v1}/sources/{one}" for one in ("warehouse", "default", "evil")]
    found += [spaces, f"{spaces}/datasets", f"{spaces}/jobs", f"{v1}/jobs?lastRunStates=FAILED"]
    for name in datasets:
        one = f"{spaces}/datasets/{quote(name, safe='')}"
        found += [one, f"{one}/versions", f"{v1}/lineage?nodeId=dataset:{own}:{name}&withColumnLineage=true&depth=9"]
        found.append(f"{v1}/column-lineage?nodeId=dataset:{own}:{name}&withDownstream=true&depth=9")
        made = [dataset_version(Dataset(own, name), one) for run in runs[:2] for one in (run, run_within(run, own))]
        found += [f"{one}/versions/{version}" for version in made]
        about = f"namespace={own}&dataset={quote(name, safe='')}"
        directions = ("upstream", "downstream", "lineage")
        found += [f"/api/v2/{direction}?{about}{more}" for direction, more in zip(directions, FORMS, strict=True)]
        found += [f"/api/v2/{direction}?{about}" for direction in directions]
        found += [
            f"/api/v2/impact?{about}",
            f"/api/v2/diff?{about}&before=2020-01-01",
            f"/api/v2/lineage?{about}&as_of=2040-01-01",
            f"/api/v2/versions?{about}",
            f"/api/v2/tags?{about}",
            f"/api/v2/tags/arriving?{about}&influence=true",
            f"/api/v2/view?{about}",
            f"/api/v2/view?{about}&as_of=2040-01-01&up=9",
        ]
    for name in jobs:
        one = f"{spaces}/jobs/{quote(name, safe='')}"
        ends = (frozenset({Dataset(own, end)}) for end in ("/raw", "/people"))
        found.append(f"{one}/versions/{job_version(Job(own, name), *ends, '')}")
        found += [one, f"{one}/versions", f"{one}/runs", f"/api/v2/diff?job={own}/{name}&before=2020-01-01"]
        found += [f"{v1}/lineage?nodeId=job:{own}:{name}&depth=9", f"{v1}/column-lineage?nodeId=job:{own}:{name}"]
    for run in runs:
        found += [f"{v1}/jobs/runs/{run}", *(f"{v1}/jobs/runs/{run}/facets?type={kind}" for kind in ("run", "job"))]
        found += [f"{v1}/runlineage/upstream?runId={run}&depth=9", f"/api/v2/coverage?run={run}"]
        found.append(f"/api/v2/upstream?namespace={own}&dataset={quote(datasets[0], safe='')}&as_of={run}")
    for column in columns:
        found += [
            f"/api/v2/{one}?column={column}" for one in ("upstream", "downstream", "roots", "impact", "view", "tags")
        ]
        found += [f"/api/v2/paths?source={one}&target={column}" for one in columns]
        found += [f"/api/v2/columns?q={column}", f"{v1}/search?q={column.partition('.')[0]}"]
    found += [
        f"/api/v2/{one}" for one in ("datasets", "datasets?q=e", "columns?q=e", "coverage", "coverage?run=0", "changes")
    ]
    found += [f"/api/v2/tags/flow?tag={one}&influence=true" for one in ("PII", "gold", "checked", "evil")]
    found += ["/api/v2/tags", *(f"/api/v2/search?q={one}" for one in ("salry", "evill", "stolem", "checkd", "peeple"))]
    found += [f"/api/v2/search?q={one}" for one in WORDS] + [f"{v1}/search?q={one}" for one in WORDS]
    found += [f"{v1}/search?q=%25", *(f"/api/v2beta/search/{kind}?q=%25" for kind in ("jobs", "datasets"))]
    found += [
        f"{v1}/stats/{kind}?period=WEEK&timezone=UTC" for kind in ("lineage-events", "jobs", "datasets", "sources")
    ]
    return list(dict.fromkeys(found))


OWNERS = views(
    OWN,
    ("/people", "/raw", "/report", "/new", "/old", "/gone", "/legacy", "/made-up", "/nowhere"),
    ("load", "report", "nightly", "app", "legacy", "made up"),
    ("people.salary", "people.evil", "raw.x", "made-up.c", "gone.g", "db.people.salary", "evil", "salary", "stolen"),
)
ATTACKERS = views(
    MINE,
    ("/mine", "/out", "/copy", "/quiet", "/stolen"),
    ("attack", "mine", "put"),
    ("copy.y", "people.salary", "mine.m", "evil"),
)


@pytest.fixture(scope="module")
def neighbours(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callable[[str], Neighbours]]:
    """Makes servers that ask for keys."""
    with ExitStack() as running:

        def make(name: str) -> Neighbours:
            return running.enter_context(serving(f"sqlite:///{tmp_path_factory.mktemp('n')}/{name}.db"))

        yield make


@contextmanager
def serving(url: str) -> Iterator[Neighbours]:
    with TestClient(create_app(ServerSettings(url, auth=True)), raise_server_exceptions=False) as client:
        yield Neighbours(client)


def changed(before: dict[str, Any], after: dict[str, Any]) -> dict[str, Any]:
    """The answers that are others, each from where they differ."""
    found = {one: (before[one], after[one]) for one in before if before[one] != after[one]}
    return {
        one: tuple(map(str, both)) if before[one][2] == after[one][2] else _cut(*both) for one, both in found.items()
    }


def _cut(*both: tuple[Any, ...]) -> tuple[str, str]:
    (one, *_, text), (other, *_, after) = both
    place = max(
        next((place for place, pair in enumerate(zip(text, after, strict=False)) if len(set(pair)) > 1), 0) - 60, 0
    )
    return f"{one} {text[place : place + 160]}", f"{other} {after[place : place + 160]}"


def lost(before: dict[str, set[Any]], after: dict[str, set[Any]]) -> dict[str, set[Any]]:
    return {name: rows - after[name] for name, rows in before.items() if rows - after[name]}


@dataclass(slots=True)
class Attacked:
    """A server after all attacks: what they were answered by, what was lost of the owner's rows, what was seen."""

    here: Neighbours
    rows: dict[str, set[tuple[Any, ...]]]
    seen: dict[str, tuple[Any, ...]]
    answers: dict[str, list[tuple[int, str]]]
    lost: dict[str, dict[str, set[Any]]]
    seen_after: dict[str, tuple[Any, ...]]
    learned: dict[str, tuple[Any, ...]]


@pytest.fixture(scope="module")
def beside(neighbours: Callable[[str], Neighbours]) -> Attacked:
    """The owner was there before the attacker came."""
    here = neighbours("beside")
    here.send_of_owner()
    rows, seen = here.rows(), here.sees("own", OWNERS)
    here.send_of_attacker()
    answers, gone = {}, {}
    for family, attacks in FAMILIES.items():
        answers[family] = [here.under("a", one) for one in attacks]
        gone[family] = lost(rows, here.rows())
    after, learned = here.sees("own", OWNERS), here.sees("a", [*ATTACKERS, *OWNERS])
    return Attacked(here, rows, seen, answers, gone, after, learned)


@pytest.fixture(scope="module")
def alone(neighbours: Callable[[str], Neighbours]) -> Attacked:
    """There was no owner yet when the attacker came."""
    here = neighbours("alone")
    here.say("root")
    here.send_of_attacker()
    answers = {family: [here.under("a", one) for one in attacks] for family, attacks in FAMILIES.items()}
    learned = here.sees("a", [*ATTACKERS, *OWNERS])
    here.send_of_owner()
    return Attacked(here, {}, {}, answers, {}, here.sees("own", OWNERS), learned)


@pytest.mark.parametrize("family", FAMILIES)
def test_attacks_are_refused_or_change_nothing(family: str, beside: Attacked) -> None:
    for attack, (status, text) in zip(FAMILIES[family], beside.answers[family], strict=True):
        assert (attack.name, status) == (attack.name, attack.status), text
        assert status != 403 or "may not" in text
    assert beside.lost[family] == {}


def test_an_owner_sees_the_same_before_and_after(beside: Attacked) -> None:
    assert {one for one, (status, *_) in beside.seen.items() if status >= 500} == set()
    assert changed(beside.seen, beside.seen_after) == {}


def test_a_key_for_a_pattern_is_no_other(beside: Attacked) -> None:
    for family, attacks in FAMILIES.items():
        for attack in attacks:
            status, text = beside.here.under("a*", attack)
            assert status < 500, text
            assert status == 403 or attack.status != 403 or attack.name == "a namespace that begins so", attack.name
        assert lost(beside.rows, beside.here.rows()) == {}, family
    assert changed(beside.seen, beside.here.sees("own", OWNERS)) == {}


@pytest.mark.parametrize("key", ["none", "revoked", "read", "other"])
def test_keys_that_may_not_write_here_change_no_row(key: str, beside: Attacked) -> None:
    rows = beside.here.rows()
    for attack in (one for family in FAMILIES.values() for one in family[::7]):
        status, text = beside.here.under(key, attack)
        if attack.status not in (200, 207) or key != "other":
            assert status in {"none": {401}, "revoked": {401}, "read": {403}}.get(key, {403, 404}), (attack.name, text)
    assert beside.here.rows() == rows


def test_an_attacker_learns_nothing(beside: Attacked, alone: Attacked) -> None:
    """Every answer, to attacks and to questions, is the same where there is no owner at all."""
    for family, attacks in FAMILIES.items():
        for attack, one, other in zip(attacks, alone.answers[family], beside.answers[family], strict=True):
            assert one == other, attack.name
    assert changed(nameless(alone.learned), nameless(beside.learned)) == {}


def nameless(seen: dict[str, tuple[Any, ...]]) -> dict[str, tuple[Any, ...]]:
    """Answers without what depends on a store's secret and on the ids of rows."""
    return {
        one: (status, "", re.sub(r"(hidden-|event )\w+", "hidden", text)) for one, (status, _, text) in seen.items()
    }


def test_who_comes_first_is_no_matter(beside: Attacked, alone: Attacked) -> None:
    """An attacker who knows names and ids beforehand takes none of them."""
    # Columns are found in the order of their ids, and of nothing else.
    assert changed(sorted_columns(beside.seen), sorted_columns(alone.seen_after)) == {}


def sorted_columns(seen: dict[str, tuple[Any, ...]]) -> dict[str, tuple[Any, ...]]:
    lists = ("/api/v2/columns", "/api/v2/search", "/api/v2/tags")
    found = {
        one: "".join(sorted(re.split("[{}]+,?", text))) for one, (_, _, text) in seen.items() if one.startswith(lists)
    }
    shown = {one: text for one, (status, _, text) in seen.items() if one.startswith("/api/v2/view") and status == 200}
    found |= {one: str(in_names(json.loads(text))) for one, text in shown.items()}
    return seen | {one: (0, "", text) for one, text in found.items()}


def in_names(view: Any) -> list[str]:
    """The rows of a view's columns and edges, by names instead of places."""
    columns, edges, jobs = view["columns"], view["edges"], view["jobs"]
    datasets = list(zip(*(view["datasets"][one] for one in ("namespace", "name", "width")), strict=True))
    ends = [(datasets[at], name) for at, name in zip(columns["dataset"], columns["field"], strict=True)]
    ends += [(one, "*") for one in reversed(datasets)]  # a whole dataset has a place below 0
    steps = list(zip(*(view["transformations"][one] for one in ("subtype", "masking", "opaque")), strict=True))
    of_columns = zip(ends, *(columns[one] for one in ("dataType", "up", "down", "moreUp", "moreDown")), strict=False)
    of_edges = zip(*(edges[one] for one in ("input", "output", "transformation", "job")), strict=True)
    named = ((ends[at], ends[to], steps[how], jobs["name"][by]) for at, to, how, by in of_edges)
    return sorted(map(str, (*of_columns, *named, datasets[view["focus"]["dataset"]])))


def test_every_writing_route_is_attacked(beside: Attacked) -> None:
    paths = beside.here.client.app.openapi()["paths"]  # type: ignore[attr-defined]
    writing = {
        (method.upper(), re.compile(re.sub(r"\{\w+\}", "[^/]+", path)))
        for path, operations in paths.items()
        for method in operations
        if method not in ("get", "head")
    }
    attacked = {(one.method, one.path.partition("?")[0]) for family in FAMILIES.values() for one in family}
    missing = [
        (method, path.pattern)
        for method, path in writing
        if not any(method == one and path.fullmatch(at) for one, at in attacked)
    ]
    assert missing == []


def test_every_route_that_reads_is_compared(beside: Attacked) -> None:
    paths = beside.here.client.app.openapi()["paths"]  # type: ignore[attr-defined]
    compared = {one.partition("?")[0] for one in OWNERS}
    reading = {path for path, operations in paths.items() if "get" in operations and path.startswith("/api/")}
    missing = {
        path for path in reading if not any(re.fullmatch(re.sub(r"\{\w+\}", "[^/]+", path), at) for at in compared)
    }
    assert missing == {"/api/v2/step"}  # which is asked by ids, below
    for path in (
        f"/api/v1/namespaces/{OWN}/datasets/%2Fpeople/versions/",
        f"/api/v1/namespaces/{OWN}/jobs/load/versions/",
    ):
        assert 200 in {status for one, (status, *_) in beside.seen.items() if one.startswith(path)}


def test_a_step_is_for_who_may_see_both_ends_and_the_job(beside: Attacked) -> None:
    """Whoever guesses ids gets the answer of ids that there are none of."""
    field, job, dataset = (tables.metadata.tables[one] for one in ("field", "job", "dataset"))
    with beside.here.store.read() as connection:
        spaces = {row.id: row.namespace for row in connection.execute(select(dataset))}
        owner = {row.id: spaces[row.dataset_id] for row in connection.execute(select(field))}
        owner |= {-id_: namespace for id_, namespace in spaces.items()}
        jobs = {row.id: row.namespace for row in connection.execute(select(job))}
        steps = set()
        for name, output, sign in (("edge", "output_field", 1), ("dataset_edge", "output_dataset", -1)):
            for table in (tables.metadata.tables[name], tables.metadata.tables[f"{name}_history"]):
                edges = select(table.c.input_field, table.c[output], table.c.job_id)
                steps |= {(row[0], sign * row[1], row[2]) for row in connection.execute(edges)}
    seen: dict[str, set[bool]] = {}
    for key, own in (("a", {MINE}), ("own", {OWN, HIVE}), ("other", {"zzz"})):
        nothing = beside.here.ask(key, "GET", "/api/v2/step?input=999999&output=999999&job=999999")
        for input_, output_, by in sorted(steps):
            answer = beside.here.ask(key, "GET", f"/api/v2/step?input={input_}&output={output_}&job={by}")
            visible = {owner[input_], owner[output_], jobs[by]} <= own
            seen.setdefault(key, set()).add(visible)
            assert answer.status_code == (200 if visible else 404), (key, input_, output_, by)
            assert visible or answer.text == nothing.text
    assert seen == {"a": {True, False}, "own": {True, False}, "other": {False}}


def test_every_dataset_facet_of_the_specification_is_tried() -> None:
    names = {path.stem.removesuffix("DatasetFacet") for path in SPECIFICATION.glob("*DatasetFacet.json")}
    tried = {name.casefold() for name in (*DATASET_FACETS, "lifecycleStateChange")}
    assert {name.casefold() for name in names} <= tried


def test_a_batch_says_of_each_event_why_it_was_refused(neighbours: Callable[[str], Neighbours]) -> None:
    here = neighbours("batch")
    batch = [event("job", MINE, named("/x", MINE)), event("job", MINE, named("/people")), event("load", OWN)]
    answer = here.ask("a", "POST", LINEAGE, batch)
    assert answer.json()["summary"] == {"received": 3, "successful": 1, "failed": 2}
    assert [one["reason"].partition(": its key")[0] for one in answer.json()["failed_events"]] == [
        "attacker may not write to the namespace 'own' (the dataset '/people' is in it)",
        "attacker may not write to the namespace 'own' (the job 'load' is in it)",
    ]


def test_who_may_see_both_sides_sees_references(neighbours: Callable[[str], Neighbours]) -> None:
    here = neighbours("both")
    here.send_of_owner()
    copy = named("/copy", MINE, schema=schema("y"), columnLineage=lineage(y=field("/people", "salary")))
    here.send("a", event("copy", MINE, copy, inputs=(named("/people"),), minute=9))
    here.keys["both"] = issue(here.store, "both", "read", [OWN, MINE])[1]

    def datasets(key: str, direction: str, name: str, namespace: str) -> set[str]:
        answer = here.ask(key, "GET", f"/api/v2/{direction}?namespace={namespace}&dataset={quote(name, safe='')}")
        return {one["name"] for one in answer.json()["columns"]}

    for key in ("root", "both"):
        assert datasets(key, "downstream", "/raw", OWN) >= {"/people", "/report", "/copy"}
        assert datasets(key, "upstream", "/copy", MINE) == {"/copy", "/people", "/raw"}
        job = here.ask(key, "GET", f"/api/v1/namespaces/{MINE}/jobs/copy").json()
        assert job["inputs"] == [{"namespace": OWN, "name": "/people"}]
    assert "/copy" not in datasets("own", "downstream", "/raw", OWN)

    def sources(key: str) -> set[str]:
        answer = here.ask(key, "GET", f"/api/v1/namespaces/{MINE}/datasets/%2Fcopy").json()
        return {one["dataset"] for column in answer["columnLineage"] or () for one in column["inputFields"]}

    assert sources("root") == sources("both") == {"/people"}
    assert sources("a") == set()
    assert datasets("a", "upstream", "/copy", MINE) == {"/copy"}
    (end,) = here.ask("a", "GET", f"/api/v2/roots?namespace={MINE}&dataset=/copy&field=y").json()["roots"] or [None]
    assert end is None


def test_when_a_dataset_was_known_is_no_matter_of_who_refers_to_it(neighbours: Callable[[str], Neighbours]) -> None:
    """Of one that only the lineage of its owner names, too."""
    here = neighbours("moments")
    made = named("/made", columnLineage=lineage(y=field("/raw", "x")))
    here.send("own", event("make", OWN, made, minute=3))
    question = f"/api/v1/namespaces/{OWN}/datasets/%2Fraw"
    before = here.ask("own", "GET", question).json()
    assert before["createdAt"].startswith("2026-01-01T00:03")
    for minute in (1, 9):
        copy = named("/copy", MINE, columnLineage=lineage(y=field("/raw", "x")))
        here.send("a", event(f"copy {minute}", MINE, copy, minute=minute))
    assert here.ask("own", "GET", question).json() == before


EXPRESSION = "sha2(salary, 256)"
"""The description of a transformation of an owner's, as an attacker may guess it."""


def described_steps(job: str, namespace: str, *texts: str) -> Any:
    """An event by which a column is copied into several, each by a step of its own description and masking."""
    fields = {f"c{place}": field("/source", "s", namespace) for place in range(len(texts))}
    for text, one in zip(texts, fields.values(), strict=True):
        one["transformations"][0] |= {"description": text, "masking": text != EXPRESSION}
    return event(job, namespace, named("/made", namespace, columnLineage=lineage(**fields)), minute=1)


@pytest.mark.parametrize("form", ["upstream?form=compact&", "lineage?form=compact&nested=true&", "view?"])
def test_ids_of_steps_do_not_verify_a_guessed_description(neighbours: Callable[[str], Neighbours], form: str) -> None:
    """A step that anybody described so before was known by its lower number, and one on a hidden edge by being it."""
    question = f"/api/v2/{form}namespace={MINE}&dataset=/made"
    seen = []
    for others in ("other", EXPRESSION):
        here = neighbours(f"{form[:4]} {form.count('nested')} {others[:4]}")
        here.send("own", described_steps("load", OWN, others))
        here.send("a", described_steps("guess", MINE, "fresh", EXPRESSION))
        found = here.ask("a", "GET", question).json()
        seen.append((found["transformations"], found["edges"]["transformation"]))
    assert seen[0] == seen[1]


def test_steps_of_hidden_edges_are_numbered_by_what_is_shown_of_them(
    neighbours: Callable[[str], Neighbours],
) -> None:
    here = neighbours("numbers")
    hidden = event("load", OWN, named("/people", columnLineage=lineage(x=field("/raw", "x"))), minute=1)
    mine = event("copy", MINE, named("/copy", MINE, columnLineage=lineage(y=field("/people", "x"))), minute=2)
    mine["outputs"][0]["facets"]["columnLineage"]["fields"]["y"]["inputFields"][0]["transformations"][0][
        "description"
    ] = "y"
    for one in (hidden, mine):
        here.send("root", one)
    found = here.ask("a", "GET", f"/api/v2/upstream?namespace={MINE}&dataset=/copy&form=compact").json()
    assert (found["transformations"]["id"], found["edges"]["transformation"]) == ([1], [1, 1])


def test_changes_do_not_reveal_that_two_names_of_others_are_one_dataset(
    neighbours: Callable[[str], Neighbours],
) -> None:
    """The numbers of edges did, and that nothing had changed where a column was read by its other name."""
    columns = (field("/people", "salary"), field("db.people", "salary", HIVE))
    seen: list[list[tuple[Any, ...]]] = []
    for joined in (True, False):
        here = neighbours(f"joined {joined}")
        theirs = people()
        if not joined:
            del theirs["facets"]["symlinks"]
        here.send("own", event("load", OWN, theirs, minute=1))
        before = latest_event(here.store)
        for minute, inputs in enumerate((columns[:1], columns[1:], columns, ()), 2):
            facet = {"fields": {"y": {"inputFields": [*inputs, field("/mine", "m", MINE)]}}}
            here.send("a", event("copy", MINE, named("/copy", MINE, columnLineage=facet), minute=minute))
        _, changes = changes_after(here.store.seen_by(lambda namespace: namespace == MINE), before)
        seen.append([(one.first, one.edges, one.added, one.removed) for one in changes])
        assert len(changes_after(here.store, before)[1]) == (2 if joined else 4)
    assert seen == [[(True, 1, 1, 0)]] * 2


def reads_whole(job: str, output: str, source: str, owner: str) -> Any:
    """An event by which all columns of a dataset, none of them named, feed the column ``y`` of an attacker's output."""
    inputs = [{"namespace": owner, "name": source, "type": "DATASET"}]
    made = named(output, MINE, schema=schema("y"), lineage={"fields": {"y": {"inputs": inputs}}, "inputs": inputs})
    return event(job, MINE, made, inputs=(named(source, owner),), minute=9)


def test_a_step_to_a_whole_dataset_is_for_who_may_see_both_sides(neighbours: Callable[[str], Neighbours]) -> None:
    """Who names a dataset of an owner's as a source without a column learns and changes nothing of it."""
    here, nobody = neighbours("whole"), neighbours("whole-alone")
    here.send_of_owner()
    rows, seen = here.rows(), here.sees("own", OWNERS)
    whole = [
        f"/api/v2/{direction}?namespace={OWN}&dataset=/people&field=*"
        for direction in ("downstream", "impact", "roots")
    ]
    whole += ["/api/v2/columns?q=*", f"/api/v2/columns?q={OWN}", "/api/v2/columns?q=people"]
    owners = here.sees("own", whole)
    for one in (here, nobody):
        one.send_of_attacker()
        one.send("a", reads_whole("whole", "/copy", "/people", OWN))
        one.send("a", reads_whole("whole", "/stolen", "/nowhere", OWN))
        one.send("a", reads_whole("own", "/out", "/mine", MINE))
    assert changed(seen, here.sees("own", OWNERS)) == {}
    assert changed(owners, here.sees("own", whole)) == {}
    assert lost(rows, here.rows()) == {}
    everything = [*ATTACKERS, *OWNERS, *whole]
    assert changed(nameless(nobody.sees("a", everything)), nameless(here.sees("a", everything))) == {}

    def reached(key: str, question: str) -> set[tuple[str, str]]:
        columns = here.ask(key, "GET", f"/api/v2/{question}").json()["columns"]
        return {(one["name"], one["field"]) for one in columns}

    here.keys["both"] = issue(here.store, "both", "read", [OWN, MINE])[1]
    of_owner, of_attacker = (f"namespace={OWN}&dataset=/people&field=salary", f"namespace={MINE}&dataset=/mine&field=m")
    for key in ("root", "both"):
        assert ("/copy", "y") in reached(key, f"downstream?{of_owner}")
        upstream = reached(key, f"upstream?namespace={MINE}&dataset=/copy&field=y")
        assert {("/people", "salary"), ("/people", "name"), ("/raw", "x")} <= upstream
    assert ("/out", "y") in reached("a", f"downstream?{of_attacker}")
    assert {one for one, _ in reached("a", f"upstream?namespace={MINE}&dataset=/copy&field=y")} == {"/copy"}
    assert {one for one, _ in reached("own", f"downstream?{of_owner}")} == {"/people", "/report"}


def test_a_dataset_that_others_mentioned_is_the_owners_once_the_owner_describes_it(
    neighbours: Callable[[str], Neighbours],
) -> None:
    here = neighbours("later")
    copy = named("/copy", MINE, columnLineage=lineage(y=field("/late", "Column")))
    here.send("a", event("copy", MINE, copy, inputs=(named("/late"),), minute=9))
    about = f"/api/v1/namespaces/{OWN}/datasets/%2Flate"
    assert here.ask("own", "GET", about).status_code == 404
    assert here.ask("own", "GET", "/api/v2/columns?q=column").json()["columns"] == []
    here.send("own", event("make", OWN, named("/late", schema=schema("cOLUMN")), minute=1))
    assert [one["name"] for one in here.ask("own", "GET", about).json()["fields"]] == ["cOLUMN"]
    upstream = here.ask("root", "GET", f"/api/v2/upstream?namespace={MINE}&dataset=/copy").json()["columns"]
    assert {(one["name"], one["field"]) for one in upstream} == {("/copy", "y"), ("/late", "cOLUMN")}


def test_a_run_of_one_id_is_a_run_of_each_key_that_sends_it(neighbours: Callable[[str], Neighbours]) -> None:
    here = neighbours("ids")
    for key, namespace, state in (("own", OWN, "START"), ("a", MINE, "COMPLETE"), ("own", OWN, "FAIL")):
        here.send(key, event("job", namespace, run="shared", state=state, minute=1))
    shared = RUNS["report"] and event("job", OWN, run="shared")["run"]["runId"]
    seen = {key: here.ask(key, "GET", f"/api/v1/jobs/runs/{shared}").json() for key in ("own", "a")}
    assert {key: (one["id"], one["state"], one["jobVersion"]["namespace"]) for key, one in seen.items()} == {
        "own": (shared, "FAILED", OWN),
        "a": (shared, "COMPLETED", MINE),
    }


@given(st.integers(0, 2**63 - 1), st.binary(min_size=1, max_size=32), st.sampled_from(["*", "sales"]))
def test_ids_of_the_stream_come_back_as_what_they_were(number: int, secret: bytes, pattern: str) -> None:
    caller = Caller("one", Scope.READ, (pattern,), secret)
    assert event_of(stream_id(number, caller), caller) == number
    if pattern != "*" and number:
        other = replace(caller, secret=b"of another store")
        for unknown in (str(number), stream_id(number, other)):
            with pytest.raises(QuestionError):
                event_of(unknown, caller)
