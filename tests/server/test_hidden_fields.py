"""Fields within hidden columns: a limited key gets the same answers whether there are any or not.

Two stores have the same events, but that in one of them the hidden columns are structs with lineage leaf by leaf.
"""

import re
import shutil
from collections.abc import Iterator
from itertools import product
from pathlib import Path
from typing import Any

import pytest
from fastapi.testclient import TestClient
from tests.server.access import bearer
from tests.store.conftest import nested, run_event

from headwater.server import ServerSettings, create_app
from headwater.store import open_store
from headwater.store.maintenance.keyring import issue, secret_of

Json = dict[str, Any]
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


@pytest.fixture(scope="module")
def empty(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store with a key and the secret of tokens and ids: copies of it differ in their events only."""
    path = tmp_path_factory.mktemp("hidden") / "empty.db"
    with open_store(str(path)) as store:
        secret_of(store)
        path.with_name("key").write_text(issue(store, "sales", "read", [SEEN])[1])
    return path


def client_of(empty: Path, *, leaves: bool) -> Iterator[TestClient]:
    path = shutil.copy(empty, empty.with_name(f"{leaves}.db"))
    with open_store(str(path)) as store:
        store.ingest(events(leaves=leaves))
    app = create_app(ServerSettings(f"sqlite:///{path}", auth=True))
    token = empty.with_name("key").read_text()
    with TestClient(app, headers=bearer(token), raise_server_exceptions=False) as client:
        yield client


@pytest.fixture(scope="module")
def with_leaves(empty: Path) -> Iterator[TestClient]:
    yield from client_of(empty, leaves=True)


@pytest.fixture(scope="module")
def with_columns(empty: Path) -> Iterator[TestClient]:
    yield from client_of(empty, leaves=False)


STARTS = [
    *(f"namespace={SEEN}&dataset=/{name}" for name in ("in", "out", "used", "raw")),
    *(f"column={name}" for name in ("out.y", "out.y.part", "out.plain", "in.x", "in.x.a", "in.z", "used.u")),
    *(f"column={name}" for name in (SALARY, f"people.{SALARY}.{WORD}_base", f"{SALARY}.{WORD}_base", f"{WORD}_base")),
    f"namespace={HIDDEN}&dataset=/people&field={SALARY}.{WORD}_base",
]
DRAWN = [f"{one}&format={form}" for one in STARTS[5:9] for form in ("csv", "mermaid", "dot", "graphml")]
WALKED = [*STARTS, *(f"{one}&form={form}" for one in STARTS[1:9] for form in ("compact", "ids")), *DRAWN]
PAIRS = [
    *product(("in.x.a", "in.z"), ("out.y.part", "out.y", "used.v")),
    (f"people.{SALARY}.{WORD}_base", "out.y"),
    ("in.x.a", f"people.{SALARY}.{WORD}_bonus"),
]
WALKS = [
    *(f"/api/v2/{walk}?{one}" for walk in ("upstream", "downstream", "lineage") for one in WALKED),
    *(f"/api/v2/roots?{one}" for one in [*STARTS, *DRAWN]),
    *(f"/api/v2/impact?{one}{more}" for one in STARTS for more in ("", "&by=job", "&format=csv")),
    *(f"/api/v2/paths?source={one}&target={other}{more}" for one, other in PAIRS for more in ("", "&format=csv")),
    *(f"/api/v2/{walk}?{one}&collapse=dataset" for walk in ("upstream", "downstream") for one in STARTS),
    *(f"/api/v2/upstream?{one}&type=DIRECT&limit=1" for one in STARTS),
    *(f"/api/v2/view?{one}&up={depth}" for one in STARTS for depth in (1, 9)),
]
QUESTIONS = [
    *(f"{one}&nested=true" for one in WALKS),
    *(f"/api/v2/diff?{one}&before=2026-01-01T00:01:30" for one in STARTS),
    *(f"/api/v2/versions?{one}" for one in STARTS),
    *(f"/api/v2/{kind}?q={text}" for kind in ("columns", "search") for text in (WORD, SALARY, f"{SALARY}.{WORD}_base")),
    *(f"/api/v2/tags/arriving?{one}" for one in STARTS),
    *(f"/api/v1/column-lineage?nodeId=datasetField:{SEEN}:/out:{one}&depth=9" for one in ("y", "y.part", "plain")),
    f"/api/v1/column-lineage?nodeId=datasetField:{HIDDEN}:/people:{SALARY}.{WORD}_base",
    f"/api/v1/lineage?nodeId=dataset:{SEEN}:/out&withColumnLineage=true",
    f"/api/v1/namespaces/{SEEN}/datasets/%2Fout",
    "/api/v1/search?q=%25",
    "/api/v2beta/search/datasets?q=%25",
]


def shape(answer: str) -> str:
    """An answer without cursors, which are sealed anew each time, and without the times at which something came."""
    return re.sub(r'"cursor":"[^"]+"|2026-\d\d-\d\dT[\d:.]+Z', "", answer)


def test_answers_are_the_same_whether_hidden_columns_have_fields_within(
    with_leaves: TestClient, with_columns: TestClient
) -> None:
    differing, said, answered = [], [], 0
    for question in QUESTIONS:
        one, other = with_leaves.get(question), with_columns.get(question)
        answered += one.status_code == 200
        if (one.status_code, shape(one.text)) != (other.status_code, shape(other.text)):
            differing.append(question)
        if one.status_code == 200 and WORD in one.text:
            said.append(question)
    assert (differing, said) == ([], [])
    assert answered > 150
