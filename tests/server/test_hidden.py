"""Who sees some namespaces only: no answer to any GET has a word of the others in it."""

import re
from collections.abc import Iterator
from itertools import product
from typing import Any
from urllib.parse import quote, unquote

import pytest
from fastapi.testclient import TestClient
from tests.server.access import bearer
from tests.store.conftest import run_event, written

from headwater.server import ServerSettings, create_app
from headwater.store import open_store
from headwater.store.maintenance.keyring import issue

WORD = "zzhush"
"""Stands in every name and text of what is hidden, and in nothing else."""

LINEAGE = "/api/v1/lineage"
HIDDEN, SEEN = f"{WORD}-space", "sales"
RUNS = ("of sales", "of another", "of the hidden")
NAMED = {"description": f"the {WORD} one"}
PARENT = "00000000-0000-4000-8000-00000000beef"
"""A run of the hidden that its namespace has no event of."""
ENDLESS = {"Last-Event-ID": "none of ours"}


def transformations(description: str) -> list[dict[str, Any]]:
    return [{"type": "DIRECT", "subtype": "IDENTITY", "description": description, "masking": False}]


def field(namespace: str, name: str, column: str) -> dict[str, Any]:
    return {"namespace": namespace, "name": name, "field": column, "transformations": transformations(f"upper({WORD})")}


def hidden_dataset(*sources: dict[str, Any]) -> dict[str, Any]:
    """A dataset of the hidden namespace; all that can be said of one has the word in it."""
    column = f"{WORD}_salary"
    return {
        "namespace": HIDDEN,
        "name": f"{WORD}/people",
        "facets": {
            "schema": {"fields": [{"name": column, "type": f"struct<{WORD}:int>", "description": WORD}]},
            "documentation": NAMED,
            "dataSource": {"name": f"{WORD}-source", "uri": f"jdbc:{WORD}://db"},
            "ownership": {"owners": [{"name": f"team:{WORD}", "type": "OWNER"}]},
            "tags": {"tags": [{"key": f"{WORD}-tag", "value": WORD, "source": WORD, "field": column}]},
            "symlinks": {"identifiers": [{"namespace": f"{WORD}-hive", "name": f"{WORD}.people", "type": "TABLE"}]},
            "columnLineage": {"fields": {column: {"inputFields": list(sources)}}, "dataset": list(sources)},
            "version": {"datasetVersion": WORD},
            "custom": {"about": WORD},
        },
    }


def hidden_job(event: dict[str, Any]) -> dict[str, Any]:
    """An event as one of a job of the hidden namespace."""
    facets = {
        "sql": {"query": f"SELECT {WORD}"},
        "documentation": NAMED,
        "sourceCodeLocation": {"type": "git", "url": f"https://example.org/{WORD}"},
        "tags": {"tags": [{"key": f"{WORD}-job", "value": WORD, "source": WORD}]},
        "jobType": {"jobType": WORD, "processingType": "BATCH", "integration": WORD},
    }
    run = {
        "errorMessage": {"message": WORD, "programmingLanguage": WORD, "stackTrace": WORD},
        "processing_engine": {"name": WORD, "version": WORD},
        "headwater_coverage": {"gaps": [{"kind": "operator", "what": WORD, "why": WORD, "output": ""}]},
    }
    event["job"] = {"namespace": HIDDEN, "name": f"{WORD}-job", "facets": facets}
    event["run"]["facets"] = run
    return event


def of_sales(output: dict[str, Any]) -> dict[str, Any]:
    return output | {"namespace": SEEN}


def events() -> list[dict[str, Any]]:
    """sales:/in → hidden → sales:/out, and jobs of both sides that read and write what is on the other."""
    out = of_sales(written("out", {"y": []}))
    out["facets"]["columnLineage"]["fields"]["y"]["inputFields"] = [
        field(HIDDEN, f"{WORD}/people", f"{WORD}_salary"),
        field(SEEN, "/in", "x"),
    ]
    alias = {"namespace": f"{WORD}-hive", "name": f"{WORD}.out", "type": "TABLE"}
    out["facets"]["symlinks"] = {"identifiers": [alias]}
    before = {"run": run_event("x", run=RUNS[2])["run"], "job": {"namespace": HIDDEN, "name": WORD}}
    other = {"run": {"runId": PARENT}, "job": {"namespace": HIDDEN, "name": WORD}}
    facets = {"parent": {**other, "root": before}, "jobDependencies": {"upstream": [before, other]}}
    mine = run_event("report", out, minute=2, run=RUNS[0], run_facets=facets)
    mine["job"]["namespace"] = SEEN
    mine["inputs"] = [hidden_dataset(), {"namespace": SEEN, "name": "/in"}]
    theirs = hidden_job(run_event("x", hidden_dataset(field(SEEN, "/in", "x")), minute=1, run=RUNS[2]))
    theirs["inputs"] = [{"namespace": SEEN, "name": "/in"}]
    into_mine = hidden_job(run_event("x", of_sales(written("late", None)), minute=3, run=RUNS[1]))
    into_mine["inputs"] = [hidden_dataset()]
    use = run_event("use", of_sales(written("used", {"z": []})), minute=4)
    use["job"]["namespace"] = SEEN
    use["outputs"][0]["facets"]["columnLineage"]["dataset"] = [field(SEEN, "/late", "w"), field(SEEN, "/out", "y")]
    return [theirs, mine, into_mine, use]


@pytest.fixture(scope="module")
def limited(tmp_path_factory: pytest.TempPathFactory) -> Iterator[TestClient]:
    """Requests with a key that sees sales."""
    url = f"sqlite:///{tmp_path_factory.mktemp('hidden')}/lineage.db"
    with TestClient(create_app(ServerSettings(url))) as anybody:
        assert anybody.post(LINEAGE, json=events()).status_code == 201
        texts = {"ownerName": WORD, "description": WORD}
        assert anybody.put(f"/api/v1/namespaces/{HIDDEN}", json=texts).is_success
        assert anybody.put(f"/api/v1/tags/{WORD}-tag", json=NAMED).is_success
    with open_store(url) as store:
        _, token = issue(store, "sales", "read", [SEEN])
    app = create_app(ServerSettings(url, auth=True))
    with TestClient(app, headers=bearer(token), raise_server_exceptions=False) as client:
        yield client


def ids(client: TestClient) -> dict[str, str]:
    """The ids of the runs, which whoever asks may have heard of."""
    return {name: run_event("x", run=name)["run"]["runId"] for name in RUNS}


VALUES = {
    "namespace": (SEEN, HIDDEN),
    "dataset": ("/out", "/in", "/late", f"{WORD}/people"),
    "job": ("report", "use", f"{WORD}-job"),
    "source": ("default", f"{WORD}-source"),
    "version": ("x",),
}
NODES = [
    *(f"dataset:{SEEN}:{name}" for name in ("/in", "/out", "/late")),
    *(f"job:{SEEN}:{name}" for name in ("report", "use")),
    *(f"datasetField:{SEEN}:{name}" for name in ("/out:y", "/in:x")),
    *(f"dataset:{HIDDEN}:{WORD}/people", f"job:{HIDDEN}:{WORD}-job"),
]
FORMS = ["", *(f"&format={form}" for form in ("csv", "mermaid", "dot", "graphml"))]
STARTS = [
    *(f"namespace={SEEN}&dataset=/{name}" for name in ("in", "out", "late", "used")),
    *(f"column={name}" for name in ("out.y", "in.x", "out", "late", f"{WORD}_salary", "people", f"{WORD}_salar")),
    f"namespace={HIDDEN}&dataset={WORD}/people",
    f"namespace={WORD}-hive&dataset={WORD}.out",
]
WALKED = ["", "&form=compact", "&form=ids", "&collapse=dataset", "&guess=true", "&limit=1", "&type=INDIRECT"]
QUERIES = {
    **{
        f"/api/v2/{transformations}": [f"{start}{more}" for start, more in product(STARTS, [*WALKED, *FORMS[1:]])]
        for transformations in ("upstream", "downstream", "lineage")
    },
    "/api/v2/roots": [f"{start}{more}" for start, more in product(STARTS, [*FORMS, "&guess=true"])],
    "/api/v2/impact": [
        f"{start}{more}" for start, more in product(STARTS, ["", "&by=job", "&format=csv", "&guess=true"])
    ],
    "/api/v2/paths": [
        f"source={source}&target={target}{form}"
        for (source, target), form in product(
            [("in.x", "out.y"), (f"{WORD}_salary", "out.y"), ("out.y", f"people.{WORD}_salary")], FORMS
        )
    ],
    "/api/v2/diff": [
        f"{about}&before=2020-01-01{form}"
        for about, form in product([*STARTS, f"job={WORD}-job", "job=use"], FORMS[:2])
    ],
    "/api/v2/view": [f"{start}&up={depth}" for start, depth in product(STARTS, (0, 9))],
    "/api/v2/columns": [
        f"q={text}&limit={limit}" for text, limit in product((WORD, "x", "y", "out", "salary"), (1, 9))
    ],
    "/api/v2/datasets": [
        f"q={text}&limit={limit}" for text, limit in product(("", WORD, "out"), (1, "9&as_of=2030-01-01"))
    ],
    "/api/v2/search": [f"q={text}" for text in (WORD, "select", "out", "the one")],
    "/api/v2/tags": ["", *STARTS],
    "/api/v2/tags/arriving": [f"{start}&influence=true" for start in STARTS],
    "/api/v2/tags/flow": [f"tag={WORD}-tag&value={text}&influence=true" for text in ("", WORD)],
    "/api/v2/versions": [
        *(f"namespace={space}&dataset={name}" for space, name in ((SEEN, "out"), (HIDDEN, f"{WORD}/people"))),
        f"column={WORD}/people",
    ],
    "/api/v2/coverage": ["", "format=csv", "limit=1", "run=0", *(f"run={{{place}}}" for place in range(len(RUNS)))],
    "/api/v1/lineage": [f"nodeId={node}&withColumnLineage=true&depth=9" for node in NODES],
    "/api/v1/column-lineage": [f"nodeId={node}&withDownstream=true&depth=9" for node in NODES],
    "/api/v1/search": [f"q={text}" for text in ("%25", WORD, "out", "job")],
    "/api/v2beta/search/jobs": [f"q={text}" for text in ("%25", WORD, "report")],
    "/api/v2beta/search/datasets": [f"q={text}" for text in ("%25", WORD, "out")],
    "/api/v1/runlineage/upstream": [f"runId={{{place}}}&depth=9" for place in range(len(RUNS))],
    "/api/v1/jobs/runs/{run}/facets": ["type=run", "type=job"],
}
WITHOUT_NAMES = {
    **{f"/api/v1/stats/{kind}": ["period=DAY"] for kind in ("lineage-events", "jobs", "datasets", "sources")},
    "/api/v2/step": [f"input={one}&output={other}&job={job}" for one, other, job in product(range(1, 6), repeat=3)],
}
"""Questions whose answers have numbers, times and runs only."""


def requests(client: TestClient) -> Iterator[str]:
    runs = list(ids(client).values())
    for path, operations in client.app.openapi()["paths"].items():  # type: ignore[attr-defined]
        if "get" not in operations:
            continue
        names = re.findall(r"\{(\w+)\}", path)
        for values in product(*(runs if name == "run" else VALUES[name] for name in names)):
            filled = path
            for name, value in zip(names, values, strict=True):
                filled = filled.replace(f"{{{name}}}", quote(value, safe=""))
            for query in (QUERIES | WITHOUT_NAMES).get(path, [""]):
                yield f"{filled}?{query.format(*runs)}"


def parts(request: str) -> set[str]:
    """The caller's own words in a request, which an answer may repeat."""
    path, _, query = request.partition("?")
    texts = [*path.split("/"), *(one.partition("=")[2] for one in query.split("&"))]
    return {unquote(one) for one in texts if WORD in one}


def test_no_answer_says_a_word_or_a_run_of_what_is_hidden(limited: TestClient) -> None:
    """No run of a hidden job even where it wrote what may be seen: by its id one may ask for lineage as of it."""
    found: dict[str, str] = {}
    _, *hidden = [*ids(limited).values(), PARENT]
    answered = 0
    for request in requests(limited):
        answer = limited.get(request, headers=ENDLESS)
        expected = (403,) if request == "/metrics?" else (200, 304, 400, 404, 409)
        assert answer.status_code in expected, (request, answer.text)
        answered += answer.status_code == 200
        text = f"{answer.headers} {answer.text}"
        # A refusal may repeat what was asked for, and the search of Marquez marks it.
        for part in sorted(parts(request), key=len, reverse=True) if answer.status_code >= 400 else ():
            text = text.replace(part, "")
        for word in (WORD, *(run for run in hidden if run not in request)):
            if word in text:
                found[request] = text[max(text.index(word) - 200, 0) : text.index(word) + 100]
    assert found == {}
    assert answered > 200


def test_the_word_is_there_for_who_sees_all(limited: TestClient) -> None:
    store = limited.app.state.server.store  # type: ignore[attr-defined]
    paths: dict[str, bool] = {}
    _, *hidden = [*ids(limited).values(), PARENT]
    runs: set[str] = set()
    with TestClient(create_app(ServerSettings(store.url))) as client:
        for request in requests(limited):
            answer = client.get(request, headers=ENDLESS)
            path = request.partition("?")[0]
            paths[path] = paths.get(path, False) or (answer.status_code == 200 and WORD in answer.text)
            runs.update(run for run in hidden if run in answer.text and run not in request)
    assert runs == set(hidden)
    leaking = {path for path, texts in paths.items() if texts}
    assert {path for path in QUERIES if "{" not in path} <= leaking, "a question that could not leak anything"


@pytest.mark.parametrize(
    "question",
    [
        "upstream?column={word}.out",
        "upstream?column={word}.out&as_of=2027-01-01",
        "upstream?namespace={word}-hive&dataset={word}.out",
        "upstream?namespace=sales&dataset=/out&within={word}*",
        "upstream?namespace=sales&dataset=/out&job={word}-job",
        "downstream?column={word}_salary",
        "impact?column=people.{word}_salary",
        "paths?source={word}_salary&target=out.y",
        "diff?job={word}-job&before=2020-01-01",
        "diff?column={word}.out&before=2020-01-01",
        "columns?q={word}",
        "columns?q={word}.y",
        "datasets?q={word}",
    ],
)
def test_what_is_hidden_is_answered_as_what_is_not_there(limited: TestClient, question: str) -> None:
    there, nowhere = (limited.get(f"/api/v2/{question.format(word=word)}") for word in (WORD, "qqnone"))
    assert (there.status_code, there.text.replace(WORD, "qqnone")) == (nowhere.status_code, nowhere.text)


def test_hidden_names_do_not_make_an_ending_ambiguous(limited: TestClient) -> None:
    """An ending that one visible name has, and hidden ones, means the visible one."""
    store = limited.app.state.server.store  # type: ignore[attr-defined]
    with TestClient(create_app(ServerSettings(store.url))) as client:
        other = written("used", {"z": ["raw.z"]}) | {"namespace": f"{WORD}-other"}
        assert client.post(LINEAGE, json=run_event(f"{WORD}-other", other)).status_code == 201
        assert client.get("/api/v2/upstream?column=used.z").status_code == 409
    for question in (
        "upstream?column=used.z",
        "roots?column=used.z",
        "upstream?column=z",
        "paths?source=z&target=out.y",
    ):
        assert limited.get(f"/api/v2/{question}").status_code == 200
