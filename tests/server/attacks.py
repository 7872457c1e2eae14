"""Two neighbours on one server: what an owner has there, and all that a writer with another key may try against it."""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product
from typing import Any
from urllib.parse import quote, urlencode

from tests.store.conftest import run_event

Json = dict[str, Any]

OWN, HIVE, MINE = "own", "own-hive", "a"
"""The owner's namespaces, and the attacker's."""

LINEAGE = "/api/v1/lineage"
FOREVER = "9000-01-01T00:00:00Z"
EARLY = "2025-01-01T00:00:00Z"


def run_id(name: str) -> str:
    """The id of a run; deterministic ids are what some producers send, and others may guess."""
    return str(run_event("x", run=name)["run"]["runId"])


RUNS = {name: run_id(name) for name in ("load", "report", "nightly", "legacy", "app", "future")}


def named(name: str, namespace: str = OWN, **facets: Any) -> Json:
    return {"namespace": namespace, "name": name, "facets": facets}


def field(name: str, column: str, namespace: str = OWN, kind: str = "DIRECT", subtype: str = "IDENTITY") -> Json:
    transformation = {"type": kind, "subtype": subtype, "description": "copy", "masking": False}
    return {"namespace": namespace, "name": name, "field": column, "transformations": [transformation]}


def lineage(*rows: Json, **fields: Json) -> Json:
    return {"fields": {name: {"inputFields": [one]} for name, one in fields.items()}, "dataset": list(rows)}


def event(job: str, namespace: str, *outputs: Json, inputs: tuple[Json, ...] = (), **more: Any) -> Json:
    made = run_event(
        job,
        *outputs,
        run=more.get("run", f"{job} {more}"),
        minute=more.get("minute", 0),
        state=more.get("state", "COMPLETE"),
    )
    made["job"] |= {"namespace": namespace, "facets": more.get("job_facets", {})}
    made["run"]["facets"] = more.get("run_facets", {})
    made["inputs"] = list(inputs)
    return made | ({"eventTime": more["at"]} if "at" in more else {})


def schema(*columns: str) -> Json:
    return {"fields": [{"name": one, "type": "string", "description": f"the {one}"} for one in columns]}


def people() -> Json:
    """A dataset of the owner with every kind of facet."""
    return named(
        "/people",
        schema=schema("name", "salary"),
        documentation={"description": "people"},
        dataSource={"name": "warehouse", "uri": "jdbc:postgresql://db"},
        ownership={"owners": [{"name": "team:own", "type": "OWNER"}]},
        tags={"tags": [{"key": "PII", "value": "", "source": "S", "field": "salary"}, {"key": "gold", "value": "1"}]},
        symlinks={"identifiers": [{"namespace": HIVE, "name": "db.people", "type": "TABLE"}]},
        columnLineage=lineage(field("/raw", "k", kind="INDIRECT", subtype="FILTER"), salary=field("/raw", "x")),
        version={"datasetVersion": "7"},
        lifecycleStateChange={"lifecycleStateChange": "OVERWRITE"},
    )


def world() -> Iterator[tuple[str, Json]]:
    """The owner's events, each with who sends it: a key of the owner's, or one for all namespaces."""
    parent = {"run": {"runId": RUNS["app"]}, "job": {"namespace": OWN, "name": "app"}}
    facets = {"sql": {"query": "SELECT 1"}, "documentation": {"description": "loads"}}
    yield "own", event("app", OWN, run="app", minute=1, state="START")
    yield "own", event("load", OWN, run="load", minute=1, state="START", run_facets={"parent": parent})
    raw = named("/raw", schema=schema("x", "k", "unused"))
    yield "own", event("load", OWN, people(), inputs=(raw,), run="load", minute=2, job_facets=facets)
    made = named("/report", schema=schema("paid"), columnLineage=lineage(paid=field("/people", "salary")))
    yield "own", event("report", OWN, made, inputs=(named("/people"),), run="report", minute=3)
    yield "own", event("nightly", OWN, run="nightly", minute=4, state="START")
    former = {"names": [{"previous": named("/old"), "current": named("/new")}], "fields": []}
    yield (
        "own",
        event("make", OWN, named("/old", schema=schema("o"), columnLineage=lineage(o=field("/raw", "x"))), minute=5),
    )
    yield "own", event("move", OWN, named("/new", headwater_names=former), minute=6)
    yield (
        "own",
        event("make", OWN, named("/gone", schema=schema("g"), columnLineage=lineage(g=field("/raw", "x"))), minute=5),
    )
    gone = {"names": [{"previous": named("/gone")}], "fields": []}
    drop = {"lifecycleStateChange": "DROP"}
    yield "own", event("drop", OWN, named("/gone", headwater_names=gone, lifecycleStateChange=drop), minute=7)
    change = {"lifecycleStateChange": "ALTER"}
    altered = named("/report", schema=schema("paid", "more"), lifecycleStateChange=change)
    yield "own", event("alter", OWN, altered, minute=8)
    old = named("/legacy", schema=schema("l"), columnLineage=lineage(l=field("/raw", "x")))
    yield "root", event("legacy", OWN, old, inputs=(named("/raw"),), run="legacy", minute=8)


def mine() -> Iterator[Json]:
    """The attacker's own events."""
    made = named("/mine", MINE, schema=schema("m"), columnLineage=lineage(m=field("/source", "s", MINE)))
    yield event("mine", MINE, made, inputs=(named("/source", MINE, schema=schema("s")),), run="mine", minute=1)


@dataclass(frozen=True, slots=True)
class Attack:
    """A request against the owner, and the status that it is to be answered by."""

    name: str
    method: str
    path: str
    body: Json | None
    status: int


DATASET_FACETS: dict[str, Json] = {
    "schema": schema("salary", "evil", "SALARY"),
    "documentation": {"description": "defaced"},
    "dataSource": {"name": "evil", "uri": "jdbc:evil://x"},
    "ownership": {"owners": [{"name": "team:evil", "type": "OWNER"}]},
    "tags": {"tags": [{"key": "evil", "value": "1", "field": "salary"}, {"key": "gold", "value": "2"}]},
    "symlinks": {"identifiers": [{"namespace": MINE, "name": "/stolen", "type": "TABLE"}]},
    "columnLineage": lineage(salary=field("/x", "evil", MINE)),
    "lineage": {
        "fields": {"salary": {"inputs": [{"namespace": MINE, "name": "/x", "field": "evil", "type": "DATASET"}]}}
    },
    "version": {"datasetVersion": "666"},
    "datasetVersion": {"datasetVersion": "666"},
    "datasetType": {"datasetType": "STREAM"},
    "catalog": {"framework": "evil", "type": "evil", "name": "evil"},
    "storage": {"storageLayer": "evil", "fileFormat": "evil"},
    "custom": {"_deleted": True, "about": "evil"},
    "documentation_deleted": {"_deleted": True},
    "headwater_names": {
        "names": [{"previous": named("/people"), "current": named("/taken", MINE)}],
        "fields": [{"previous": "salary", "current": "evil"}],
    },
}
STATES = ("DROP", "TRUNCATE", "ALTER", "CREATE", "OVERWRITE", "RENAME")
ENDINGS = ("START", "COMPLETE", "RUNNING", "FAIL", "OTHER", "ABORT")


def _send(name: str, body: Json, status: int = 201) -> Attack:
    return Attack(name, "POST", LINEAGE, body, status)


def _facets() -> Iterator[tuple[str, Json]]:
    yield from ((name, {name.removesuffix("_deleted"): facet}) for name, facet in DATASET_FACETS.items())
    for state in STATES:
        change = {"lifecycleStateChange": state, "previousIdentifier": named("/people")}
        yield f"lifecycle {state}", {"lifecycleStateChange": change}


def _of_kinds(facets: Json, name: str, at: str = FOREVER) -> Iterator[tuple[str, Json, int]]:
    """A dataset of the owner with facets as everything that an event can make of it."""
    foreign = named(name, **facets)
    output = named("/out", MINE, schema=schema("y"), columnLineage=lineage(y=field(name, "salary")))
    yield "an input", event("attack", MINE, output, inputs=(foreign,), at=at), 201
    of_job = {"eventTime": at, "job": {"namespace": MINE, "name": "of_job"}, "inputs": [foreign], "outputs": []}
    yield "a job's input", of_job, 201
    yield "an output", event("attack", MINE, foreign, at=at), 403
    yield "a job's output", of_job | {"inputs": [], "outputs": [foreign]}, 403
    yield "a dataset event", {"eventTime": at, "dataset": foreign}, 403


def facets() -> Iterator[Attack]:
    """Every facet on what is the owner's."""
    for what, content in _facets():
        for kind, body, status in _of_kinds(content, "/people"):
            yield _send(f"{what} of {kind}", body, status)
    for (name, content), at in product(
        {"/gone": {}, "/old": {}, "/nowhere": {}, "/people": DATASET_FACETS}.items(), (EARLY, "2026-01-01T00:05:30Z")
    ):
        for kind, body, status in _of_kinds(content, name, at):
            yield _send(f"{name} at {at} as {kind}", body, status)


def names() -> Iterator[Attack]:
    """Other names of the attacker's datasets, that are the owner's or were."""
    for namespace, name in (
        (OWN, "/people"),
        (HIVE, "db.people"),
        (OWN, "/gone"),
        (OWN, "/nowhere"),
        ("OWN", "/people"),
    ):
        other = named(name, namespace)
        links = {"identifiers": [{"namespace": namespace, "name": name, "type": "TABLE"}]}
        for at in (EARLY, FOREVER):
            yield _send(f"symlink {namespace}{name}", event("attack", MINE, named("/out", MINE, symlinks=links), at=at))
            declared = {"eventTime": at, "dataset": named("/out", MINE, symlinks=links, schema=schema("y", "evil"))}
            yield _send(f"declared symlink {namespace}{name}", declared)
            source = event("attack", MINE, inputs=(named("/out", MINE, symlinks=links),), at=at)
            yield _send(f"symlink of an input {namespace}{name}", source)
            change = {"lifecycleStateChange": "RENAME", "previousIdentifier": other}
            taken = named("/out", MINE, lifecycleStateChange=change)
            yield _send(f"RENAME {namespace}{name}", event("attack", MINE, taken, at=at))
            for pair in (
                {"previous": other, "current": named("/out", MINE)},
                {"previous": named("/out", MINE), "current": other},
                {"previous": other},
            ):
                changed = named("/out", MINE, headwater_names={"names": [pair], "fields": []})
                yield _send(f"headwater_names {namespace}{name}", event("attack", MINE, changed, at=at))


def references() -> Iterator[Attack]:
    """Edges from the owner's columns, real ones and made up, in each form; and runs without columns."""
    for column in ("salary", "SALARY", "evil", "name"):
        for facet in (
            lineage(y=field("/people", column)),
            lineage(field("/people", column, kind="INDIRECT", subtype="JOIN")),
        ):
            out = named("/copy", MINE, schema=schema("y"), columnLineage=facet)
            yield _send(f"edge of {column}", event("attack", MINE, out, inputs=(named("/people"),), at=FOREVER))
            yield _send(f"explicit edge of {column}", {"eventTime": FOREVER, "dataset": out})
    for name, namespace in (("db.people", HIVE), ("/made-up", OWN), ("/gone", OWN), ("/old", OWN), ("/new", OWN)):
        out = named("/copy", MINE, columnLineage=lineage(y=field(name, "c", namespace)))
        yield _send(
            f"edge of {namespace}{name}", event("attack", MINE, out, inputs=(named(name, namespace),), at=FOREVER)
        )
    entry = {**named("/people"), "fields": {"salary": {"inputs": [{**named("/x", MINE), "field": "evil"}]}}}
    facet = {"lineage": {"entries": [entry]}}
    yield _send("a job's lineage", event("attack", MINE, named("/copy", MINE), at=FOREVER, job_facets=facet))
    yield _send(
        "inputs without columns", event("quiet", MINE, named("/quiet", MINE), inputs=(named("/people"),), at=FOREVER)
    )


def runs() -> Iterator[Attack]:
    """The owner's runs and jobs, taken over, ended, or claimed as parents."""
    for name, run in RUNS.items():
        for state, at in zip(ENDINGS, (EARLY, FOREVER) * 3, strict=True):
            made = event("attack", MINE, named("/out", MINE), at=at, state=state)
            yield _send(f"run {name} {state}", made | {"run": {"runId": run}})
        facet = {"errorMessage": {"message": "evil", "programmingLanguage": "x"}}
        yield _send(
            f"run {name} of the job", event("load", OWN, at=FOREVER, run_facets=facet) | {"run": {"runId": run}}, 403
        )
        for job in ("app", "load", "made up"):
            parent = {"run": {"runId": run}, "job": {"namespace": OWN, "name": job}}
            yield _send(f"parent {name} of {job}", event("attack", MINE, run_facets={"parent": parent}, at=FOREVER))
    gaps = {"headwater_coverage": {"gaps": [{"kind": "error", "what": "x", "why": "y", "output": "own/people"}]}}
    yield _send("gaps of others", event("attack", MINE, run_facets=gaps, at=FOREVER))
    yield _send(
        "a job of the owner", {"eventTime": FOREVER, "job": {"namespace": OWN, "name": "load"}, "inputs": []}, 403
    )
    yield _send("a job in another case", event("load", "OWN", at=FOREVER), 403)
    yield _send("a namespace that begins so", event("load", "aa", at=FOREVER), 403)
    forged = event("attack", MINE, inputs=(people(),), at=FOREVER) | {"headwater_grant": ["*"]}
    yield _send("a forged grant", forged)


def _path(*parts: str) -> str:
    return "/api/v1/" + "/".join(quote(one, safe="") for one in parts)


def batches() -> Iterator[Attack]:
    """The same events many at once: each is judged by itself."""
    every = [one.body for family in (facets, references, runs) for one in family()]
    yield Attack("a batch", "POST", f"{LINEAGE}/batch", every, 200)  # type: ignore[arg-type]
    yield _send("an array", every, 207)  # type: ignore[arg-type]


def routes() -> Iterator[Attack]:
    """Every writing route of Marquez's API on what is the owner's, or shared."""
    owned, dataset = _path("namespaces", OWN), _path("namespaces", OWN, "datasets", "/people")
    job, mine_, content = _path("namespaces", OWN, "jobs", "load"), _path("namespaces", MINE), {"ownerName": "evil"}
    table = {
        "type": "DB_TABLE",
        "physicalName": "x",
        "sourceName": "warehouse",
        "fields": [{"name": "evil"}],
        "tags": ["evil"],
    }
    yield Attack("describe a namespace", "PUT", owned, content, 403)
    yield Attack("delete a namespace", "DELETE", owned, None, 404)
    yield Attack(
        "overwrite a source", "PUT", _path("sources", "warehouse"), {"type": "X", "connectionUrl": "evil"}, 403
    )
    yield Attack("make a source", "PUT", _path("sources", "other"), {"type": "X", "connectionUrl": "evil"}, 403)
    yield Attack("overwrite a tag", "PUT", _path("tags", "PII"), {"description": "evil"}, 403)
    yield Attack("make a tag", "PUT", _path("tags", "other"), {"description": "evil"}, 403)
    yield Attack("describe a dataset", "PUT", dataset, table, 403)
    yield Attack("delete a dataset", "DELETE", dataset, None, 404)
    for place in ("tags", "fields/salary/tags"):
        yield Attack(f"put {place}", "POST", f"{dataset}/{place}/evil", None, 404)
        yield Attack(f"take {place}", "DELETE", f"{dataset}/{place}/PII", None, 404)
        yield Attack(
            f"put {place} of a copy", "POST", f"{mine_}/datasets/%2Fmine/{place.replace('salary', 'm')}/PII", None, 200
        )
    for place in ({"field": "salary"}, {}):
        on = {"namespace": OWN, "dataset": "/people", **place}
        yield Attack("put a tag by its whole name", "POST", "/api/v2/tags", on | {"tag": "evil"}, 403)
        taken = urlencode(on | {"tag": "PII"})
        yield Attack("take a tag by its whole name", "DELETE", f"/api/v2/tags?{taken}", None, 403)
    on = {"namespace": MINE, "dataset": "/mine", "tag": "gold"}
    yield Attack("put a tag on a copy", "POST", "/api/v2/tags", on, 201)
    yield Attack("put a tag on nothing", "POST", "/api/v2/tags", on | {"dataset": "/people"}, 404)
    body = {"type": "BATCH", "inputs": [named("/people")], "outputs": [], "description": "evil"}
    yield Attack("describe a job", "PUT", job, body, 403)
    yield Attack("a job's foreign output", "PUT", f"{mine_}/jobs/put", body | {"outputs": [named("/people")]}, 403)
    yield Attack("a job's foreign input", "PUT", f"{mine_}/jobs/put", body, 200)
    yield Attack("delete a job", "DELETE", job, None, 404)
    yield Attack("tag a job", "POST", f"{job}/tags/evil", None, 404)
    yield Attack("untag a job", "DELETE", f"{job}/tags/gold", None, 404)
    yield Attack("make a run of a job", "POST", f"{job}/runs", {}, 404)
    for run in RUNS.values():
        yield Attack("a job's foreign run", "PUT", f"{mine_}/jobs/put", body | {"runId": run}, 200)
        unseen = run_id(f"unseen {run}")
        yield Attack("a run of a known id", "POST", f"{mine_}/jobs/mine/runs", {"id": unseen}, 201)
        yield Attack("dataset of a run", "PUT", f"{mine_}/datasets/put", table | {"runId": run_id(f"of {run}")}, 404)
    for action in ("start", "complete", "fail", "abort"):
        yield Attack(f"{action} a run", "POST", _path("jobs", "runs", run_id("never begun"), action), None, 404)
    yield Attack("a dataset of a hidden source", "PUT", f"{mine_}/datasets/put", table, 200)


def unknown_runs() -> Iterator[Attack]:
    """The owner's runs over Marquez's routes, before anything else gave the attacker runs of these ids."""
    mine_ = _path("namespaces", MINE)
    table = {"type": "DB_TABLE", "physicalName": "x", "sourceName": "warehouse", "fields": [{"name": "evil"}]}
    for run in RUNS.values():
        for action in ("start", "complete", "fail", "abort"):
            yield Attack(f"{action} a run", "POST", _path("jobs", "runs", run, action), None, 404)
        yield Attack("dataset of a run", "PUT", f"{mine_}/datasets/put", table | {"runId": run}, 404)
        yield Attack("make a run of that id", "POST", f"{mine_}/jobs/mine/runs", {"id": run}, 201)
        yield Attack("complete that", "POST", _path("jobs", "runs", run, "complete"), None, 200)


FAMILIES = {one.__name__: tuple(one()) for one in (unknown_runs, facets, names, references, runs, routes, batches)}
