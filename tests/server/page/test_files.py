"""The page's files: which there are, and the headers that keep everything else out."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from fastapi.testclient import TestClient

from headwater.server import ServerSettings, create_app, page


@pytest.fixture
def built(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[TestClient]:
    """A server whose folder of built files has a page with one script, beside files that are none of it."""
    dist = tmp_path / "dist"
    (dist / "assets").mkdir(parents=True)
    (dist / "index.html").write_text("<title>headwater</title>")
    (dist / "assets" / "page-1f2e.js").write_text("export {}")
    (dist / "saved.html").write_text("<title>a view</title>")
    (tmp_path / "secret.js").write_text("none of the page")
    monkeypatch.setattr(page, "BUILT", dist)
    with TestClient(create_app(ServerSettings(f"sqlite:///{tmp_path}/l.db", auth=True))) as client:
        yield client


def policy(header: str) -> dict[str, list[str]]:
    return {name: sources for name, *sources in (part.split() for part in header.split(";"))}


def test_the_page_loads_nothing_of_other_hosts_and_no_inline_script(built: TestClient) -> None:
    for path in ("/", "/assets/page-1f2e.js"):
        answer = built.get(path)
        assert answer.status_code == 200
        rules = policy(answer.headers["content-security-policy"])
        assert rules["default-src"] == rules["frame-ancestors"] == rules["base-uri"] == ["'none'"]
        assert rules["script-src"] == rules["style-src"] == rules["connect-src"] == ["'self'"]
        assert "unsafe" not in answer.headers["content-security-policy"]
        assert answer.headers["x-content-type-options"] == "nosniff"
        assert answer.headers["referrer-policy"] == "no-referrer"


def test_files_with_a_hash_in_their_name_are_cached_forever_and_the_page_never(built: TestClient) -> None:
    assert "immutable" in built.get("/assets/page-1f2e.js").headers["cache-control"]
    index = built.get("/")
    assert index.headers["cache-control"] == "no-cache"
    assert built.get("/assets/page-1f2e.js").headers["content-type"].startswith("text/javascript")


@pytest.mark.parametrize(
    "name", ["..%2Findex.html", "..%2F..%2Fsecret.js", "%2e%2e", "other.js", ".", "x%00.js", "x" * 300]
)
def test_nothing_but_files_of_the_page_is_served(built: TestClient, name: str) -> None:
    answer = built.get(f"/assets/{name}")
    assert answer.status_code == 404
    assert "none of the page" not in answer.text


def test_the_page_for_saved_views_is_sent_as_text(built: TestClient, tmp_path: Path) -> None:
    answer = built.get("/saved.html")
    assert answer.text == "<title>a view</title>"
    assert answer.headers["content-type"].startswith("text/plain")
    (tmp_path / "dist" / "saved.html").unlink()
    assert built.get("/saved.html").status_code == 404


def test_a_server_without_a_built_page_says_how_to_build_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(page, "BUILT", tmp_path / "dist")
    with TestClient(create_app(ServerSettings(f"sqlite:///{tmp_path}/l.db"))) as client:
        answer = client.get("/")
        assert answer.status_code == 404
        assert "Build it with `make page`" in answer.text
        assert client.get("/openapi.json").status_code == 200
        assert [client.get(path).status_code for path in ("/docs", "/redoc")] == [404, 404]
