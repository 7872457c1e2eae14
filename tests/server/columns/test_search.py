"""Search in SQL, descriptions and tags, by the index of each kind of database: up to date, and only of what is seen."""

from pathlib import Path
from typing import Any, get_args

import pytest
from fastapi.testclient import TestClient
from sqlalchemy import text
from tests.server.columns.conftest import posted
from tests.store.conftest import renamed, run_event, written

from headwater.server.auth.access import Caller, Scope
from headwater.server.server import Reader
from headwater.store import open_store, schema
from headwater.store.maintenance.backup import back_up, restore
from headwater.store.questions import find_texts
from headwater.store.schema.text_index import with_words

Json = dict[str, Any]


def job(name: str, *, sql: str = "", about: str = "", tags: tuple[str, ...] = (), minute: int = 0, **more: Any) -> Json:
    facets: Json = {}
    if sql:
        facets["sql"] = {"query": sql}
    if about:
        facets["documentation"] = {"description": about}
    if tags:
        facets["tags"] = {"tags": [{"key": one, "value": "true", "source": "X"} for one in tags]}
    event = run_event(name, more.get("output") or written("out"), minute=minute, job_facets=facets)
    return event | {"job": event["job"] | {"namespace": more.get("namespace", "demo")}}


def described(name: str, about: str, tags: tuple[tuple[str, str], ...] = (), namespace: str = "file") -> Json:
    dataset = written(name, {"ssn": []})
    dataset["facets"]["documentation"] = {"description": about}
    dataset["facets"]["tags"] = {"tags": [{"key": key, "field": field, "value": "v"} for key, field in tags]}
    return dataset | {"namespace": namespace}


def columns(fields: dict[str, str | Json]) -> Json:
    """A schema facet whose fields have descriptions, and nested fields with descriptions of theirs."""
    named = {name: said if isinstance(said, dict) else {"description": said} for name, said in fields.items()}
    return {"fields": [{"name": name, "type": "string", **said} for name, said in named.items()]}


def with_columns(
    name: str, fields: dict[str, str | Json], tags: tuple[tuple[str, str], ...] = (), namespace: str = "file"
) -> Json:
    dataset = described(name, "", tags, namespace)
    dataset["facets"]["schema"] = columns(fields)
    return dataset


ADDRESS: Json = {"fields": [{"name": "zip", "type": "string", "description": "Postcode of a house"}]}
WORLD = [
    job("nightly", sql="SELECT customer_id, 'x%y' FROM raw.flights\nWHERE Größe > 5", about="Sums of the night"),
    job("weekly", sql="SELECT 1", about="All flights of a week", tags=("Cost-Center",), minute=1),
    job("made", output=described("people", "Who flies with us", (("gdpr", ""), ("PII", "ssn"))), minute=2),
    job("asked", output=with_columns("census", {"born": "Birthday of a person", "home": ADDRESS, "n": ""}), minute=3),
]


@pytest.fixture
def world(served: TestClient) -> TestClient:
    return posted(served, WORLD)


def found(client: TestClient, query: str, **more: Any) -> list[str]:
    answer = client.get("/api/v2/search", params={"q": query, **more})
    assert answer.status_code == 200, answer.text
    return [
        f"{one['kind']} {one['name']}{'.' * ('field' in one)}{one.get('field', '')} {one['in']}"
        for one in answer.json()["results"]
    ]


EXPECTED = {
    "flights": ["job weekly description", "job nightly sql"],
    "FLIGH raw": ["job nightly sql"],
    "customer_id": ["job nightly sql"],
    "id customer": ["job nightly sql"],
    "x%y": ["job nightly sql"],
    "größe": ["job nightly sql"],
    "night": ["job nightly name"],
    "of the": ["job nightly description"],
    "flies": ["dataset /people description"],
    "cost-center": ["job weekly tag"],
    "gdpr": ["dataset /people tag"],
    "pii": ["column /people.ssn tag"],
    "people": ["dataset /people name"],
    "birth person": ["column /census.born description"],
    "postcode": ["column /census.home description"],
    "lights": [],
    "flights nowhere": [],
    '" OR * NEAR(': [],
    "' & | !": [],
    "%": [],
}


def test_words_are_found_in_names_tags_descriptions_and_sql(world: TestClient) -> None:
    assert {query: sorted(found(world, query)) for query in EXPECTED} == {
        query: sorted(expected) for query, expected in EXPECTED.items()
    }


def test_a_piece_of_the_text_shows_the_words(world: TestClient) -> None:
    [result] = world.get("/api/v2/search?q=größe").json()["results"]
    assert result["excerpt"] == "SELECT customer_id, 'x%y' FROM raw.flights WHERE Größe > 5"
    [result] = world.get("/api/v2/search?q=pii").json()["results"]
    assert result["excerpt"] == "PII=v"
    [result] = world.get("/api/v2/search?q=postcode").json()["results"]
    assert result["excerpt"] == "Postcode of a house"


def test_marquez_finds_texts_after_names(world: TestClient) -> None:
    posted(world, [job("flights", minute=5)])
    results = world.get("/api/v1/search?q=flights").json()["results"]
    assert [(one["type"], one["name"]) for one in results] == [
        ("JOB", "flights"),
        ("JOB", "nightly"),
        ("JOB", "weekly"),
    ]
    assert [one["name"] for one in world.get("/api/v1/search?q=pii").json()["results"]] == ["/people"]
    assert [one["name"] for one in world.get("/api/v1/search?q=flies&filter=DATASET").json()["results"]] == ["/people"]
    assert world.get("/api/v1/search?q=flies&filter=JOB").json()["totalCount"] == 0
    assert [one["name"] for one in world.get("/api/v1/search?q=postcode").json()["results"]] == ["/census"]
    hits = world.get("/api/v2beta/search/jobs?q=customer_id").json()["hits"]
    assert [one["name"] for one in hits] == ["nightly"]


def test_the_index_follows_what_texts_become(world: TestClient) -> None:
    posted(world, [job("nightly", sql="SELECT other", about="New words", minute=9)])
    assert found(world, "customer_id") == []
    assert found(world, "other") == ["job nightly sql"]
    posted(world, [job("nightly", sql="SELECT older", minute=3)])
    assert found(world, "older") == []
    # Two datasets turn out to be one.
    linked = described("twin", "A second description")
    linked["facets"]["symlinks"] = {"identifiers": [{"namespace": "file", "name": "/people", "type": "TABLE"}]}
    posted(world, [job("made", output=linked, minute=10)])
    assert found(world, "second") == ["dataset /twin description"]
    assert found(world, "flies") == []
    assert world.delete("/api/v1/namespaces/file/datasets/%2Ftwin").status_code == 200
    assert found(world, "second") == []


def test_the_description_of_a_column_is_its_latest_while_the_dataset_has_it(world: TestClient) -> None:
    posted(world, [job("asked", output=with_columns("census", {"born": "Day of birth", "home": ""}), minute=5)])
    assert found(world, "birthday") == []
    assert found(world, "day birth") == ["column /census.born description"]
    posted(world, [job("asked", output=with_columns("census", {"born": "Older"}), minute=4)])
    assert found(world, "older") == []
    # An event without descriptions takes none away, and one without a column takes it away with its description.
    posted(world, [job("asked", output=with_columns("census", {"born": ""}), minute=6)])
    assert found(world, "day birth") == ["column /census.born description"]
    assert found(world, "postcode") == []
    assert world.get("/api/v1/search?q=postcode").json()["totalCount"] == 0


def test_a_column_is_found_once_and_follows_its_names(world: TestClient) -> None:
    both = with_columns("twin", {"born": "Marked and told"}, (("marked", "born"),))
    posted(world, [job("made", output=both, minute=7)])
    assert found(world, "marked") == ["column /twin.born tag"]
    both["facets"]["symlinks"] = {"identifiers": [{"namespace": "file", "name": "/census", "type": "TABLE"}]}
    posted(world, [job("made", output=both, minute=8)])
    assert found(world, "told") == ["column /twin.born description"]
    change = renamed("twin", "grown", {"born": "birthday"})
    posted(world, [run_event("ddl", change, minute=9)])
    assert found(world, "told") == ["column /grown.birthday description"]


def test_tags_that_people_put_and_take_off_are_found_and_not(world: TestClient) -> None:
    tag = "/api/v1/namespaces/demo/jobs/weekly/tags/Quarterly"
    assert world.post(tag).status_code == 200
    assert found(world, "quarterly") == ["job weekly tag"]
    assert world.delete(tag).status_code == 200
    assert found(world, "quarterly") == []


def test_pages_hold_while_others_write(served: TestClient) -> None:
    posted(served, [job(f"j{n}", sql=f"SELECT wanted, {n}", minute=n) for n in range(5)])
    posted(served, [job("wanted", minute=6)])
    first = served.get("/api/v2/search?q=wanted&limit=3").json()
    assert [one["name"] for one in first["results"]] == ["wanted", "j0", "j1"]
    posted(served, [job("later", sql="SELECT wanted", minute=7)])
    rest = served.get("/api/v2/search", params={"q": "wanted", "cursor": first["next"]}).json()
    assert [one["name"] for one in rest["results"]] == ["j2", "j3", "j4", "later"]
    assert rest["next"] is None


def test_nothing_is_found_that_may_not_be_seen(served: TestClient) -> None:
    hidden = described("secret", "A salary sheet", (("payroll", ""), ("wages", "ssn")), namespace="hr")
    posted(served, [job("pay", sql="SELECT salary", about="salary", tags=("payroll",), namespace="hr", output=hidden)])
    posted(served, [job("asks", namespace="hr", output=with_columns("ages", {"born": "Kin"}, namespace="hr"))])
    posted(served, [job("seen", sql="SELECT salary FROM sales", namespace="sales")])
    posted(served, [job("seen", output=with_columns("own", {"id": "Kin of sales"}, namespace="sales"), minute=1)])
    dependency = get_args(Reader)[1].dependency
    served.app.dependency_overrides[dependency] = lambda: Caller("sales", Scope.READ, ("sales*",))  # type: ignore[attr-defined]
    assert found(served, "salary") == ["job seen sql"]
    assert served.get("/api/v2/search?q=salary").json()["results"][0]["excerpt"] == ""
    assert found(served, "kin") == ["column /own.id description"]
    assert [one["name"] for one in served.get("/api/v1/search?q=kin").json()["results"]] == ["/own"]
    for word in ("payroll", "wages", "secret", "pay"):
        assert found(served, word) == []
        assert served.get(f"/api/v1/search?q={word}").json()["totalCount"] == 0


def test_a_backup_can_be_searched_and_so_can_what_is_restored(world: TestClient, url: str, tmp_path: Path) -> None:
    file = tmp_path / "copy.db"
    back_up(url, file)
    for target in (str(file), str(tmp_path / "restored.db")):
        if target != str(file):
            restore(file, target)
        with open_store(target) as copied:
            copied.ingest([job("nightly", sql="SELECT anew", minute=11)])
            assert ["nightly" in str(one.about) for one in find_texts(copied, "anew", 9).found] == [True]
            assert find_texts(copied, "customer_id", 9).found == ()


def test_the_index_is_that_of_the_database(world: TestClient) -> None:
    """On SQLite it is in step with the texts, on PostgreSQL the planner can use it."""
    store = world.app.state.server.store  # type: ignore[attr-defined]
    with store.write() as connection:
        for table in (schema.job, schema.dataset, schema.field_description, schema.tag_text):
            if connection.dialect.name == "sqlite":
                index = f"{table.name}_words"
                connection.execute(text(f"INSERT INTO {index}({index}, rank) VALUES ('integrity-check', 1)"))
                continue
            connection.execute(text("SET LOCAL enable_seqscan = off"))
            question = with_words(connection, table, ["customer"])
            written_out = question.compile(connection, compile_kwargs={"literal_binds": True})
            plan = "\n".join(connection.exec_driver_sql(f"EXPLAIN {written_out}").scalars())
            assert f"{table.name}_words" in plan


TYPED = {
    "nigthly": ("nightly", ["job nightly name"]),
    "PEOPEL": ("people", ["dataset /people name"]),
    "cots-center": ("cost-center", ["job weekly tag"]),
    "weeklyy": ("weekly", ["job weekly name"]),
}


def test_typing_errors_are_forgiven_where_nothing_has_the_text(world: TestClient) -> None:
    posted(world, [job("mails", output=written("crm.customerEmail", {"email": ["raw.email"]}), minute=4)])
    for query, corrected in {"emial": "email", "eMial": "email", "emaill": "email", "crm.emial": "crm.email"}.items():
        answer = world.get("/api/v2/columns", params={"q": query}).json()
        assert answer["corrected"] == corrected
        assert "email" in {one["field"] for one in answer["columns"]}
    for query, (corrected, expected) in TYPED.items():
        answer = world.get("/api/v2/search", params={"q": query}).json()
        assert (answer["corrected"], found(world, query)) == (corrected, expected)
    for query in ("email", "mail", "em", "xqzvw", "emial xqzvw"):
        assert world.get("/api/v2/columns", params={"q": query}).json()["corrected"] is None


def test_the_pages_of_a_corrected_search_go_on_with_it(served: TestClient) -> None:
    posted(served, [job(f"j{n}", output=written(f"t{n}", {"customer": []}), minute=n) for n in range(4)])
    first = served.get("/api/v2/columns?q=cutsomer&limit=3").json()
    rest = served.get("/api/v2/columns", params={"q": "cutsomer", "limit": 3, "cursor": first["next"]}).json()
    assert [one["name"] for one in first["columns"] + rest["columns"]] == ["/t0", "/t1", "/t2", "/t3"]
    assert (first["corrected"], rest["corrected"], rest["next"]) == ("customer", "customer", None)


def test_a_correction_is_never_a_name_that_may_not_be_seen(served: TestClient) -> None:
    hidden = described("secret", "none", (("payroll", ""),), namespace="hr")
    hidden["facets"]["schema"] = {"fields": [{"name": "salary", "type": "int"}]}
    posted(served, [job("wages", namespace="hr", output=hidden), job("seal", namespace="sales", minute=1)])
    queries = {"secert": "search", "payrol1": "search", "waegs": "search", "slaary": "columns"}
    for query, route in queries.items():
        assert served.get(f"/api/v2/{route}", params={"q": query}).json()["corrected"]
    dependency = get_args(Reader)[1].dependency
    served.app.dependency_overrides[dependency] = lambda: Caller("sales", Scope.READ, ("sales*",))  # type: ignore[attr-defined]
    for query in queries:
        for route, items in (("search", "results"), ("columns", "columns")):
            answer = served.get(f"/api/v2/{route}", params={"q": query}).json()
            assert answer == {items: [], "corrected": None, "next": None}
