"""Fields within hidden columns: a limited key gets the same answers whether there are any or not.

Two stores have the same events, but that in one of them the hidden columns are structs with lineage leaf by leaf, and
tags on leaves where the other has them on columns.
"""

import re
import shutil
from collections.abc import Iterable, Iterator
from itertools import product
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest
from fastapi.testclient import TestClient
from tests.server.access import bearer
from tests.server.processes import LINEAGE
from tests.store.conftest import nested, run_event

from headwater.answers.saved_page import saved_page
from headwater.policies.assignments import add_tag
from headwater.policies.tag_file import TagName
from headwater.server import ServerSettings, create_app
from headwater.store import open_store
from headwater.store.maintenance.keyring import issue, secret_of
from headwater.store.questions import ExactName

Json = dict[str, Any]
Answer = tuple[int, str]
WORD = "zzhush"
"""Stands in the names of hidden leaves and in nothing else, as `SALARY` in those of hidden columns."""

SALARY = "qqpay"
HIDDEN, SEEN = "people-space", "sales"
TYPE = f"struct<{WORD}_base:double,{WORD}_bonus:double>"
NESTED = "headwater_nestedLineage"


def in_space(output: Json) -> Json:
    """An output whose datasets are in the hidden namespace where they are called so, and in the seen one elsewhere."""
    for facet in ("columnLineage", NESTED):
        lineage = output["facets"].get(facet, {"fields": {}})
        inputs = [one for field in lineage["fields"].values() for one in field["inputFields"]]
        for one in (*inputs, *lineage.get("dataset", ())):
            one["namespace"] = HIDDEN if one["name"] == "/people" else SEEN
            one["transformations"][0]["description"] = f"{WORD} * 2" if HIDDEN in str(one) else ""
    return output | {"namespace": HIDDEN if output["name"] == "/people" else SEEN}


def without_leaves(output: Json) -> Json:
    """The same output as a job reports it that knows of no field within the hidden columns."""
    facets = output["facets"]
    if output["namespace"] == HIDDEN:
        facets.pop(NESTED, None)
        for field in facets["schema"]["fields"]:
            field["type"] = "string"
    lineage = facets.get(NESTED, {"fields": {}})
    for inputs in (*(one["inputFields"] for one in lineage["fields"].values()), lineage.get("dataset", [])):
        hidden = [one for one in inputs if one["namespace"] == HIDDEN]
        inputs[:] = [one for one in inputs if one not in hidden[1:]]
        for one in hidden:
            one["field"] = SALARY
    return output


def events(*, leaves: bool) -> list[Json]:
    """sales.in → hidden.people (two leaves) → sales.out (a struct of its own), and sales.out → sales.used."""
    people = nested(
        "people",
        {f"{SALARY}.{WORD}_base": ["in.x.a"], f"{SALARY}.{WORD}_bonus": ["in.z"], "*": ["in.x.b FILTER"]},
        {SALARY: TYPE},
    )
    out = nested(
        "out",
        {
            "y.part": [f"people.{SALARY}.{WORD}_base", f"people.{SALARY}.{WORD}_bonus"],
            "y.rest": [f"people.{SALARY}.{WORD}_bonus"],
            "plain": ["in.x.a"],
            "*": [f"people.{SALARY}.{WORD}_bonus FILTER"],
        },
        {"y": "struct<part:double,rest:double>"},
    )
    used = nested("used", {"u": ["out.y.part"], "v": ["out.y.rest"]})
    raw = nested("in", {"x.a": ["raw.a"], "x.b": ["raw.b"], "z": ["raw.c"]}, {"x": "struct<a:double,b:double>"})
    outputs = [in_space(one) for one in (raw, people, out, used)]
    outputs = outputs if leaves else list(map(without_leaves, outputs))
    return [
        run_event(f"j{place}", one, minute=place, run=f"run {place}")
        | {"job": {"namespace": HIDDEN if one["namespace"] == HIDDEN else SEEN, "name": f"j{place}", "facets": {}}}
        for place, one in enumerate(outputs)
    ]


KEYS = {"read": ("read", [SEEN]), "write": ("write", [SEEN]), "all": ("read", ["*"])}
LEAF = f"{SALARY}.{WORD}_base"


@pytest.fixture(scope="module")
def stores(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """A store with hidden leaves and one without, copies of one that has keys and the secret of tokens and ids."""
    empty = tmp_path_factory.mktemp("hidden") / "empty.db"
    with open_store(str(empty)) as store:
        secret_of(store)
        for name, (scope, namespaces) in KEYS.items():
            empty.with_name(name).write_text(issue(store, name, scope, namespaces)[1])
    made = []
    for leaves in (True, False):
        made.append(Path(shutil.copy(empty, empty.with_name(f"{leaves}.db"))))
        with open_store(str(made[-1])) as store:
            store.ingest(events(leaves=leaves))
            add_tag(store, ExactName(SEEN, "/in", "x.a"), TagName("of-a"))
            add_tag(store, ExactName(SEEN, "/in", "z"), TagName("of-z"))
            add_tag(store, ExactName(HIDDEN, "/people", LEAF if leaves else SALARY), TagName("hushed"))
    return made[0], made[1]


@pytest.fixture(scope="module")
def clients(stores: tuple[Path, Path]) -> Iterator[tuple[TestClient, TestClient]]:
    """Clients of both stores; the key sees one namespace."""
    one, other = (create_app(ServerSettings(f"sqlite:///{path}", auth=True)) for path in stores)
    key = bearer(stores[0].with_name("read").read_text())
    with (
        TestClient(one, headers=key, raise_server_exceptions=False) as with_leaves,
        TestClient(other, headers=key, raise_server_exceptions=False) as with_columns,
    ):
        yield with_leaves, with_columns


STARTS = [
    *(f"namespace={SEEN}&dataset=/{name}" for name in ("in", "out", "used", "raw")),
    *(f"column={name}" for name in ("out.y", "out.y.part", "out.plain", "in.x", "in.x.a", "in.z", "used.u")),
    *(f"column={name}" for name in (SALARY, f"people.{LEAF}", LEAF, f"{WORD}_base")),
    f"namespace={HIDDEN}&dataset=/people&field={LEAF}",
]
FORMS = [
    *(f"form={form}" for form in ("compact", "ids")),
    *(f"format={one}" for one in ("csv", "mermaid", "dot", "graphml")),
]
PAIRS = [
    *product(("in.x.a", "in.z"), ("out.y.part", "out.y", "used.v")),
    (f"people.{LEAF}", "out.y"),
    ("in.x.a", f"people.{SALARY}.{WORD}_bonus"),
]
FOLLOWED = STARTS[4:9]
"""Starts before and after the hidden columns."""

HUSHED = STARTS[-4::3]
"""Hidden starts, by an ending and by the whole name."""

WALKS = [
    *(f"/api/v2/{walk}?{one}" for walk in ("upstream", "downstream", "roots", "impact") for one in STARTS),
    *(f"/api/v2/lineage?{one}&{form}" for one in FOLLOWED[1::3] for form in FORMS),
    *(f"/api/v2/{walk}?{one}&collapse=dataset" for walk in ("upstream", "downstream") for one in FOLLOWED),
    *(f"/api/v2/impact?{one}&{more}" for one in FOLLOWED[-2:] for more in ("by=job", "format=csv")),
    *(f"/api/v2/paths?source={one}&target={other}" for one, other in PAIRS),
    *(f"/api/v2/upstream?{one}&type=DIRECT&limit=1" for one in FOLLOWED),
    *(f"/api/v2/view?{one}&up={depth}" for one in FOLLOWED for depth in (1, 9)),
    *(f"/api/v2/view?{one}" for one in HUSHED),
]
QUESTIONS = [
    *(f"{one}&nested=true" for one in WALKS),
    *(f"/api/v2/diff?{one}&before=2026-01-01T00:01:30" for one in (*STARTS[1:3], *FOLLOWED, *HUSHED)),
    *(f"/api/v2/versions?{one}" for one in STARTS[:5]),
    *(f"/api/v2/{kind}?q={text}" for kind in ("columns", "search") for text in (WORD, SALARY, LEAF)),
    *(f"/api/v2/{kind}?{one}" for kind in ("tags", "tags/arriving") for one in (STARTS[1], *FOLLOWED, *HUSHED)),
    "/api/v2/tags",
    *(
        f"/api/v2/tags/flow?tag={tag}&influence={influence}"
        for tag, influence in product(("of-a", "of-z", "hushed", "none"), ("true", "false"))
    ),
    *(f"/api/v1/column-lineage?nodeId=datasetField:{SEEN}:/out:{one}&depth=9" for one in ("y", "y.part", "plain")),
    f"/api/v1/column-lineage?nodeId=datasetField:{HIDDEN}:/people:{LEAF}",
    f"/api/v1/lineage?nodeId=dataset:{SEEN}:/out&withColumnLineage=true",
    f"/api/v1/namespaces/{SEEN}/datasets/%2Fout",
    "/api/v1/search?q=%25",
    "/api/v2beta/search/datasets?q=%25",
]


def shape(answer: str) -> str:
    """An answer without cursors, which are sealed anew each time, and without the times at which something came."""
    return re.sub(r'"cursor":"[^"]+"|\d{4}-\d\d-\d\dT[\d:.]+Z', "", answer)


def answers(client: TestClient, question: str, method: str = "GET", body: Any = None) -> Answer:
    answer = client.request(method, question, json=body)
    return answer.status_code, answer.text


def require_same(clients: tuple[TestClient, TestClient], questions: Iterable[tuple[Any, ...]]) -> int:
    """Both clients have the same answers, and none says the word, but to who did; return how many were no refusals."""
    differing, said, answered = [], [], 0
    for question in questions:
        one, other = (answers(client, *question) for client in clients)
        answered += one[0] < 300
        if (one[0], shape(one[1])) != (other[0], shape(other[1])):
            differing.append((question, one, other))
        if one[0] < 300 and WORD in one[1]:
            said.append(question)
    assert (differing, said) == ([], [])
    return answered


def test_answers_are_the_same_whether_hidden_columns_have_fields_within(
    clients: tuple[TestClient, TestClient],
) -> None:
    assert require_same(clients, ((one,) for one in QUESTIONS)) > 120


def steps_of(view: Json) -> Iterator[str]:
    """The questions for the steps of a view, by the ids of columns and of fields within them."""
    columns, edges = view["columns"], view["edges"]

    def ids(end: int) -> set[int]:
        if end < 0:
            return {-view["datasets"]["id"][-1 - end]}
        return {columns["id"][end], columns["within"][end]} - {None}

    for input_, output, job in zip(edges["input"], edges["output"], edges["job"], strict=True):
        for one, other in product(ids(input_), ids(output)):
            yield f"/api/v2/step?input={one}&output={other}&job={view['jobs']['id'][job]}"


def test_steps_are_the_same_by_ids_that_another_key_sees_too(
    stores: tuple[Path, Path], clients: tuple[TestClient, TestClient]
) -> None:
    every = bearer(stores[0].with_name("all").read_text())
    questions: set[str] = set()
    for client, key, start in product(clients, ({}, every), (STARTS[1], STARTS[4])):
        questions.update(steps_of(client.get(f"/api/v2/view?{start}&nested=true", headers=key).json()))
    assert require_same(clients, ((one,) for one in sorted(questions))) >= 6


def test_files_of_views_are_the_same(clients: tuple[TestClient, TestClient]) -> None:
    for name, nested_too in product(("in.x.a", "out.y", "out.y.part"), ("true", "false")):
        views = [client.get(f"/api/v2/view?column={name}&nested={nested_too}").json() for client in clients]
        one, other = (saved_page(view, "1 May 2026") for view in views)
        assert one == other
        assert WORD not in one


def writes() -> Iterator[tuple[str, str, Any]]:
    """Changes of tags, and events that name hidden leaves, as somebody writes them who knows of these."""
    for method, namespace, dataset, field in (
        *product(("POST", "DELETE"), [SEEN], ["/out"], ("y", "y.part", f"y.{WORD}")),
        *product(("POST", "DELETE"), [HIDDEN, SEEN], ["/people"], (SALARY, LEAF, f"{SALARY}.none")),
    ):
        tag = {"namespace": namespace, "dataset": dataset, "field": field, "tag": "new"}
        query = "&".join(f"{key}={quote(value, safe='')}" for key, value in tag.items())
        yield (f"/api/v2/tags?{query}", method, None) if method == "DELETE" else ("/api/v2/tags", method, tag)
        path = "/".join(quote(one, safe="") for one in (namespace, "datasets", dataset, "fields", field, "tags", "new"))
        yield f"/api/v1/namespaces/{path}", method, None
    mine = in_space(nested("mine", {"a": [f"people.{LEAF}"], "b.c": [f"people.{SALARY}.{WORD}_bonus", "out.y.part"]}))
    for output in (mine, mine | {"name": "/people", "namespace": HIDDEN}):
        yield (
            LINEAGE,
            "POST",
            run_event("mine", output, minute=9, run="mine") | {"job": {"namespace": SEEN, "name": "mine"}},
        )
        yield f"/api/v2/lineage?namespace={SEEN}&dataset=/mine&nested=true", "GET", None
        yield "/api/v2/roots?column=mine.a&nested=true", "GET", None
    yield "/api/v2/tags/flow?tag=hushed", "GET", None
    yield "/api/v2/tags/flow?tag=of-a", "GET", None


def test_writes_are_answered_the_same_and_do_the_same(
    stores: tuple[Path, Path], clients: tuple[TestClient, TestClient]
) -> None:
    key = bearer(stores[0].with_name("write").read_text())
    for client in clients:
        client.headers.update(key)
    assert require_same(clients, writes()) >= 12
