"""Who may do what: every route with every kind of key."""

import re
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from fastapi import FastAPI
from fastapi.dependencies.models import Dependant
from fastapi.routing import iter_route_contexts
from fastapi.testclient import TestClient
from starlette.types import Message
from tests.server.access import AUDIENCE, Provider, bearer, keys, provider
from tests.store.conftest import run_event, written

from headwater.errors import SettingError, StoreUnavailable
from headwater.server import ServerSettings, create_app
from headwater.server.auth.access import Requires, Scope
from headwater.server.auth.tokens import Verifier
from headwater.server.process import checked, configuration
from headwater.store import open_store

OPEN = {"/", "/assets/{name}", "/saved.html", "/health", "/ready", "/openapi.json"}
BY_METHOD = {"GET": Scope.READ, "POST": Scope.WRITE, "PUT": Scope.WRITE, "PATCH": Scope.WRITE, "DELETE": Scope.ADMIN}
QUESTIONS = re.compile(r"/api/v2/.*")
"""Where a POST may be a question that is too long for an address."""

LINEAGE = "/api/v1/lineage"
ENDLESS = {"Last-Event-ID": "none of ours"}
"""What makes the stream of changes answer with an end, to those that may read it."""

EVENT = run_event("job", written("gold", {"a": ["raw.x"]}), run="r")


@dataclass(frozen=True, slots=True)
class Place:
    """A method of a route, and what it needs: None when anybody may."""

    method: str
    path: str
    scope: Scope | None


@pytest.fixture(scope="module")
def app(tmp_path_factory: pytest.TempPathFactory) -> FastAPI:
    url = f"sqlite:///{tmp_path_factory.mktemp('access')}/lineage.db"
    return create_app(ServerSettings(url, auth=True))


@pytest.fixture(scope="module")
def keyed(app: FastAPI) -> Iterator[TestClient]:
    """Requests to a server that asks for keys."""
    with TestClient(app, raise_server_exceptions=False) as client:
        yield client


@pytest.fixture(scope="module")
def tokens(keyed: TestClient) -> dict[str, str]:
    with open_store(keyed.app.state.server.store.url) as store:
        return keys(store)


def places(app: FastAPI) -> Iterator[Place]:
    for route in iter_route_contexts(app.routes):
        dependant = getattr(route.original_route, "dependant", None)
        scopes = list(_scopes(dependant)) if dependant is not None else []
        for method in sorted((route.methods or set()) - {"HEAD"}):
            yield Place(method, route.path, max(scopes, default=None))


def _scopes(dependant: Dependant) -> Iterator[Scope]:
    for one in dependant.dependencies:
        if isinstance(one.call, Requires):
            yield one.call.scope
        yield from _scopes(one)


def expected(place: Place) -> Scope:
    """Who may put a tag somewhere may take it away again."""
    return Scope.WRITE if re.search(r"/tags(/|$)", place.path) and place.method == "DELETE" else BY_METHOD[place.method]


def filled(path: str) -> str:
    return re.sub(r"\{[^}]*\}", "x", path)


def test_every_route_asks_who_it_is(app: FastAPI) -> None:
    found = list(places(app))
    assert {"/health", LINEAGE, "/metrics"} <= {place.path for place in found}
    assert {place.path for place in found if place.scope is None} == OPEN
    needed = [place for place in found if place.scope is not None]
    odd = [place for place in needed if place.scope is not expected(place)]
    assert [place for place in odd if not (place.method == "POST" and QUESTIONS.fullmatch(place.path))] == []


def test_every_route_with_every_kind_of_key(keyed: TestClient, app: FastAPI, tokens: dict[str, str]) -> None:
    for place in places(app):
        answers = {
            name: keyed.request(place.method, filled(place.path), headers=ENDLESS | headers).status_code
            for name, headers in {"none": {}, **{name: bearer(token) for name, token in tokens.items()}}.items()
        }
        if place.scope is None:
            assert set(answers.values()) <= {200, 404}, place
            continue
        nobody = {name for name, status in answers.items() if status == 401}
        assert nobody == {"none", "wrong", "expired", "revoked"}, place
        enough = {scope.name.lower() for scope in Scope if scope >= place.scope}
        assert {answers[name] for name in {"read", "write", "admin"} - enough} <= {403}, place
        assert not {answers[name] for name in enough} & {401, 403, 500}, place


def steps(client: TestClient, method: str, path: str, length: int, headers: dict[str, str]) -> list[str]:
    """The steps of a server for a request, in order: ``read`` of its body, and the status of its answer."""
    done: list[str] = []

    async def receive() -> Message:
        done.append("read")
        return {"type": "http.request", "body": b"{", "more_body": False}

    async def send(message: Message) -> None:
        if message["type"] == "http.response.start":
            done.append(str(message["status"]))

    sent = {"content-type": "application/json", "content-length": str(length), "host": "a"} | headers
    scope = {
        "type": "http",
        "method": method,
        "path": path,
        "raw_path": path.encode(),
        "query_string": b"",
        "headers": [(name.lower().encode(), value.encode()) for name, value in sent.items()],
        "client": ("testclient", 1),
        "server": ("a", 80),
        "scheme": "http",
        "root_path": "",
    }
    assert client.portal is not None
    client.portal.call(client.app, scope, receive, send)
    return done


def test_no_byte_of_a_body_is_read_before_the_key_the_scope_the_rate_and_the_size_are_right(
    keyed: TestClient, app: FastAPI, tokens: dict[str, str], tmp_path: Path
) -> None:
    with_bodies = [place for place in places(app) if place.method != "GET" and place.scope is not None]
    assert len(with_bodies) >= 15
    for place in with_bodies:
        path, right = filled(place.path), bearer(tokens["admin"])
        for name in ("wrong", "expired", "revoked"):
            assert steps(keyed, place.method, path, 9, bearer(tokens[name]))[0] == "401", place
        assert steps(keyed, place.method, path, 9, {})[0] == "401", place
        if place.scope is not Scope.READ:
            assert steps(keyed, place.method, path, 9, bearer(tokens["read"]))[0] == "403", place
        first = steps(keyed, place.method, path, 2**40, right)[0]
        assert first != "read", place
    assert steps(keyed, "POST", LINEAGE, 2**40, bearer(tokens["admin"]))[0] == "413"
    assert steps(keyed, "POST", LINEAGE, 9, bearer(tokens["admin"]))[:2] == ["read", "400"]
    limited = ServerSettings(f"sqlite:///{tmp_path}/l.db", auth=True, rate="1/hour")
    with TestClient(create_app(limited)) as client:
        assert [steps(client, "PUT", "/api/v1/tags/x", 9, {})[0] for _ in range(2)] == ["401", "429"]


def test_head_is_answered_wherever_get_is(keyed: TestClient, app: FastAPI, tokens: dict[str, str]) -> None:
    headers = ENDLESS | bearer(tokens["read"])
    for place in places(app):
        if place.method != "GET":
            continue
        got, head = (keyed.request(method, filled(place.path), headers=headers) for method in ("GET", "HEAD"))
        assert (head.status_code, head.content) == (got.status_code, b""), place
        assert head.headers["content-type"] == got.headers["content-type"], place
        if place.path not in {"/metrics"}:  # it counts the requests that are answered
            assert head.headers["content-length"] == got.headers["content-length"], place
    assert keyed.head("/api/v2/changes", headers=bearer(tokens["read"])).status_code == 200
    assert keyed.head(LINEAGE).status_code == 401


def test_refusals_say_what_is_missing(keyed: TestClient, tokens: dict[str, str]) -> None:
    none, wrong = keyed.get("/metrics"), keyed.get("/metrics", headers=bearer(tokens["wrong"]))
    assert none.headers["www-authenticate"] == 'Bearer realm="headwater"'
    assert wrong.headers["www-authenticate"] == 'Bearer realm="headwater", error="invalid_token"'
    less = keyed.post(LINEAGE, json=EVENT, headers=bearer(tokens["read"]))
    assert (less.status_code, less.headers["www-authenticate"].split(" ", 1)[1]) == (
        403,
        'error="insufficient_scope", scope="write"',
    )
    assert "reader may read; this needs a key with scope write" in less.json()["message"]


def test_counts_of_the_whole_server_are_for_who_may_see_all(keyed: TestClient, tokens: dict[str, str]) -> None:
    assert keyed.get("/metrics", headers=bearer(tokens["read"])).status_code == 200
    refused = keyed.get("/metrics", headers=bearer(tokens["elsewhere"]))
    assert (refused.status_code, "needs a key for every namespace" in refused.json()["message"]) == (403, True)


def test_a_key_in_the_other_header(keyed: TestClient, tokens: dict[str, str]) -> None:
    assert keyed.post(LINEAGE, json=EVENT, headers={"X-API-Key": tokens["write"]}).status_code == 201


def test_who_was_granted_other_namespaces_cannot_write_here(keyed: TestClient, tokens: dict[str, str]) -> None:
    refused = keyed.post(LINEAGE, json=EVENT, headers=bearer(tokens["elsewhere"]))
    assert (refused.status_code, "namespace 'demo'" in refused.json()["message"]) == (403, True)


def test_a_revoked_key_stops_working(keyed: TestClient, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("headwater.server.auth.authentication.CACHE_SECONDS", 0.0)
    with open_store(keyed.app.state.server.store.url) as store:
        from headwater.store.maintenance.keyring import issue, revoke

        key, token = issue(store, "short", "read")
        assert keyed.get("/metrics", headers=bearer(token)).status_code == 200
        revoke(store, key.id)
    assert keyed.get("/metrics", headers=bearer(token)).status_code == 401


@pytest.fixture(scope="module")
def issuer() -> Iterator[Provider]:
    with provider() as running:
        yield running


def verifier(issuer: Provider, **more: str) -> Verifier:
    return Verifier(ServerSettings(oidc_issuer=issuer.issuer, oidc_audience=AUDIENCE, **more))


def test_tokens_of_a_provider(issuer: Provider) -> None:
    checks = verifier(issuer)
    found = checks.caller(issuer.token(preferred_username="ann@example.org"))
    assert found is not None
    assert (found.name, found.scope, found.sees_all) == ("ann@example.org", Scope.READ, True)
    roles = checks.caller(issuer.token(scope=["headwater:read", "headwater:admin"]))
    assert roles is not None
    assert roles.scope is Scope.ADMIN
    bad = {
        "expired": issuer.token(exp=time.time() - 60),
        "audience": issuer.token(aud="other"),
        "issuer": issuer.token(iss="https://other.example"),
        "endless": issuer.token(exp=None),
        "unknown key": issuer.token(kid="two"),
        "cut": issuer.token()[:-4],
        "unsigned": issuer.token().rpartition(".")[0] + ".",
        "none": "x",
    }
    assert {name: checks.caller(token) for name, token in bad.items()} == dict.fromkeys(bad)


def test_namespaces_of_a_token(issuer: Provider) -> None:
    checks = verifier(issuer, oidc_namespaces_claim="spaces")
    some, none = checks.caller(issuer.token(spaces=["s3://a-*"])), checks.caller(issuer.token())
    assert some is not None
    assert none is not None
    assert (some.sees("s3://a-1"), some.sees("hive"), none.sees("s3://a-1")) == (True, False, False)


def test_unknown_keys_are_looked_up_once(issuer: Provider) -> None:
    checks = verifier(issuer)
    before = len(issuer.requested)
    for place in range(20):
        assert checks.caller(issuer.token(kid=f"made up {place}")) is None
    assert len(issuer.requested) - before <= 3


def test_a_provider_that_does_not_answer_is_not_called_for_each_token(issuer: Provider) -> None:
    away = Verifier(ServerSettings(oidc_issuer=f"{issuer.issuer}/nowhere", oidc_audience=AUDIENCE))
    before, begun = len(issuer.requested), time.monotonic()
    for place in range(10):
        with pytest.raises(StoreUnavailable, match="cannot be read"):
            away.caller(issuer.token(kid=f"made up {place}"))
    assert (len(issuer.requested) - before, time.monotonic() - begun < 5) == (1, True)


def test_a_token_opens_what_its_scope_says(issuer: Provider, tmp_path: Path) -> None:
    settings = ServerSettings(f"sqlite:///{tmp_path}/lineage.db", oidc_issuer=issuer.issuer, oidc_audience=AUDIENCE)
    with TestClient(create_app(settings)) as client:
        assert client.get("/metrics").status_code == 401
        assert client.get("/metrics", headers=bearer(issuer.token())).status_code == 200
        assert client.post(LINEAGE, json=EVENT, headers=bearer(issuer.token())).status_code == 403
        assert client.post(LINEAGE, json=EVENT, headers=bearer(issuer.token(scope="write"))).status_code == 201
        without = client.get("/metrics", headers=bearer(issuer.token(scope="openid")))
        assert (without.status_code, "none of read, write, admin" in without.json()["message"]) == (403, True)


def test_an_issuer_that_cannot_be_trusted_is_refused() -> None:
    for issuer in ("http://example.org", "file:///etc/passwd", "example.org"):
        with pytest.raises(SettingError, match="expected an https:// address"):
            Verifier(ServerSettings(oidc_issuer=issuer, oidc_audience=AUDIENCE))


def test_without_authentication_pages_of_other_sites_are_refused(tmp_path: Path) -> None:
    settings = ServerSettings(
        f"sqlite:///{tmp_path}/l.db", hosts=("localhost",), cors_origin=("http://friend.example",)
    )
    with TestClient(create_app(settings), base_url="http://localhost:5000") as client:
        tries = {
            "own": {"Origin": "http://localhost:5000"},
            "none": {},
            "friend": {"Origin": "http://friend.example"},
            "other": {"Origin": "http://evil.example"},
            "rebound": {"Host": "evil.example:5000"},
            "file": {"Origin": "null"},
        }
        found = {name: client.post(LINEAGE, json=EVENT, headers=headers).status_code for name, headers in tries.items()}
    assert found == {"own": 201, "none": 201, "friend": 201, "other": 403, "rebound": 403, "file": 403}


def test_a_server_is_called_by_its_names_only(tmp_path: Path) -> None:
    named = ServerSettings(f"sqlite:///{tmp_path}/l.db", hosts=("lineage.example.org", "*.internal"))
    settings = checked(named)
    with TestClient(create_app(settings)) as client:

        def status(host: str, path: str = "/api/v1/namespaces") -> int:
            return client.get(path, headers={"Host": host}).status_code

        own = ("lineage.example.org", "LINEAGE.example.org:8443", "a.internal", "127.0.0.1:5000", "[::1]:5000")
        assert {status(one) for one in own} == {200}
        assert {status(one) for one in ("evil.example", "lineage.example.org.evil.example", "internal", "", "a b")} == {
            403
        }
        assert (status("10.0.0.7:5000", "/health"), status("10.0.0.7:5000", "/openapi.json")) == (200, 403)
        refused = client.get("/metrics", headers={"Host": "evil.example"})
        assert "not 'evil.example'. Use one of these names, or add it with --hosts" in refused.json()["message"]
    for wrong in ("a*", "*example.org", "a.*.b"):
        with pytest.raises(SettingError, match="Correct --hosts"):
            checked(ServerSettings(hosts=(wrong,)))


def test_a_trusted_proxy_says_who_asks(tmp_path: Path) -> None:
    proxies: dict[str, Any] = {
        "trusted_proxy": ("10.1.0.0/16", "::1"),
        "proxy_user_header": "Remote-User",
        "proxy_scope": "write",
        "proxy_namespaces_header": "Remote-Groups",
    }
    app = create_app(ServerSettings(f"sqlite:///{tmp_path}/l.db", **proxies, rate="20/hour"))
    ann = {"Remote-User": "ann", "Remote-Groups": "demo, file"}
    with TestClient(app, client=("10.1.2.3", 1)) as proxy:
        with open_store(proxy.app.state.server.store.url) as store:  # type: ignore[attr-defined]
            reader = bearer(keys(store)["read"])
        assert proxy.post(LINEAGE, json=EVENT, headers=ann).status_code == 201
        assert proxy.post(LINEAGE, json=EVENT, headers={"Remote-User": "ann"}).status_code == 403
        assert proxy.post(LINEAGE, json=EVENT, headers=ann | {"Origin": "https://evil.example"}).status_code == 403
        assert proxy.post(LINEAGE, json=EVENT, headers=ann | reader).status_code == 403  # a key counts for more
        assert proxy.delete("/api/v1/namespaces/demo", headers=ann).status_code == 403
        for nobody in ({}, {"Remote-User": " "}, [("Remote-User", "ann"), ("Remote-User", "root")]):
            assert proxy.get("/metrics", headers=nobody).status_code == 401
        far = [proxy.get("/metrics", headers={"X-Forwarded-For": "198.51.100.7"}).status_code for _ in range(21)]
        assert (far[0], far[-1]) == (401, 429)
        near = proxy.get("/metrics", headers={"X-Forwarded-For": "198.51.100.8"})
        assert near.status_code == 401
    for address in ("10.2.0.1", "127.0.0.1", "testclient", "::ffff:10.2.0.1"):
        with TestClient(app, client=(address, 1)) as stranger:
            assert stranger.get("/metrics", headers=ann | {"X-Forwarded-For": "10.1.2.3"}).status_code == 401
    with TestClient(app, client=("::ffff:10.1.2.3", 1)) as mapped:
        assert mapped.get("/api/v1/namespaces", headers=ann).status_code == 200
    for wrong in ("0.0.0.0/0", "::/0", "proxy", "10.1.0.1/16"):
        with pytest.raises(SettingError, match="The trusted proxy is"):
            create_app(ServerSettings(trusted_proxy=(wrong,)))


def test_nobody_else_is_believed_what_address_a_client_has(tmp_path: Path) -> None:
    settings = ServerSettings(f"sqlite:///{tmp_path}/l.db", auth=True, rate="3/hour")
    with TestClient(create_app(settings), client=("127.0.0.1", 1)) as client:
        headers = [{"X-Forwarded-For": f"198.51.100.{one}"} for one in range(4)]
        assert [client.get("/metrics", headers=one).status_code for one in headers] == [401, 401, 401, 429]
    assert configuration(create_app(settings), settings).proxy_headers is False


def test_too_many_requests_get_the_time_to_retry_after(tmp_path: Path) -> None:
    settings = ServerSettings(f"sqlite:///{tmp_path}/l.db", auth=True, rate="3/hour")
    with TestClient(create_app(settings)) as client:
        with open_store(client.app.state.server.store.url) as store:
            made = keys(store)
        answers = [client.get("/metrics", headers=bearer(made["read"])) for _ in range(4)]
        assert [answer.status_code for answer in answers] == [200, 200, 200, 429]
        assert 3500 < int(answers[-1].headers["retry-after"]) <= 3600
        assert client.get("/metrics", headers=bearer(made["write"])).status_code == 200
        assert [client.get("/metrics").status_code for _ in range(4)] == [401, 401, 401, 429]
        assert client.get("/health").status_code == 200
    with pytest.raises(SettingError, match="expected one such as 600/minute"):
        create_app(ServerSettings(rate="many"))
