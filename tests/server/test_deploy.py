"""The container and compose files say what the command line says; no container runtime is needed to see that."""

import json
import re
from ipaddress import ip_address, ip_network
from pathlib import Path
from typing import Any

import pytest
import typer.main
import yaml
from fastapi.testclient import TestClient

from headwater.cli.main import app
from headwater.server import create_app
from headwater.server.operations import logs
from headwater.server.process import LAST_ANSWERS, checked
from headwater.server.settings import SETTINGS, settings_from

DEPLOY = Path(__file__).resolve().parents[2] / "deploy"


@pytest.fixture(scope="module")
def container() -> str:
    return (DEPLOY / "Containerfile").read_text().replace("\\\n", " ")


@pytest.fixture(scope="module")
def compose() -> dict[str, Any]:
    found: dict[str, Any] = yaml.safe_load((DEPLOY / "compose.yaml").read_text())
    return found


def commands() -> dict[str, Any]:
    found: dict[str, Any] = vars(typer.main.get_command(app))["commands"]
    return found


def variables() -> set[str]:
    return {one.variable for one in SETTINGS}


def of_container(container: str) -> dict[str, str]:
    return dict(re.findall(r"(HEADWATER_\w+)=(\S+)", container))


def test_the_container_starts_a_command_that_exists(container: str) -> None:
    (entry,) = re.findall(r"^ENTRYPOINT (.*)$", container, re.MULTILINE)
    (command,) = re.findall(r"^CMD (.*)$", container, re.MULTILINE)
    assert json.loads(entry) == ["headwater"]
    assert json.loads(command)[0] in commands()


def test_the_container_sets_variables_that_mean_something(container: str) -> None:
    named = of_container(container)
    assert set(named) <= variables()
    settings = settings_from(named)
    assert (settings.auth, settings.log_format in logs.FORMATS) == (True, True)
    checked(settings)


def test_the_container_checks_its_health_and_runs_without_rights(container: str) -> None:
    port = of_container(container)["HEADWATER_PORT"]
    assert re.findall(r"^EXPOSE (\d+)$", container, re.MULTILINE) == [port]
    assert f"http://127.0.0.1:{port}/health" in container
    assert re.findall(r"^USER (\w+)$", container, re.MULTILINE) == ["headwater"]
    assert container.count("FROM python:3.11-slim") == 2


def test_compose_fits_the_container(compose: dict[str, Any], container: str) -> None:
    server, database = compose["services"]["headwater"], compose["services"]["postgres"]
    named = server["environment"]
    assert set(named) <= variables()
    assert server["ports"] == ["{0}:{0}".format(of_container(container)["HEADWATER_PORT"])]
    user, name = (database["environment"][f"POSTGRES_{part}"] for part in ("USER", "DB"))
    assert named["HEADWATER_STORE"] == f"postgresql://{user}:${{POSTGRES_PASSWORD:?}}@postgres/{name}"
    assert (DEPLOY / server["build"]["context"] / server["build"]["dockerfile"]).is_file()
    assert int(server["stop_grace_period"].removesuffix("s")) > LAST_ANSWERS
    settings_from(of_container(container) | named)


PROXY, BROWSER = "172.30.57.10", "lineage.example.org:3000"


def through_the_page(path: str, user: str) -> tuple[str, dict[str, str | None]]:
    """Where nginx sends a request of a browser, and the headers that it sets, None for those that it takes out."""
    locations = re.findall(r"location (\S+) \{(.*?)\}", (DEPLOY / "page.conf.template").read_text(), re.DOTALL)
    _, block = max((one for one in locations if path.startswith(one[0])), key=lambda one: len(one[0]))
    known = {"$http_host": BROWSER, "$remote_addr": "198.51.100.7", "$scheme": "http", "$remote_user": user, '""': None}
    (target,) = re.findall(r"proxy_pass (\S+);", block)
    return target, {name: known[value] for name, value in re.findall(r"proxy_set_header (\S+) (\S+);", block)}


def test_the_page_is_for_browsers_elsewhere_and_only_by_the_password(
    compose: dict[str, Any], container: str, tmp_path: Path
) -> None:
    page, server = compose["services"]["page"], compose["services"]["headwater"]
    assert page["networks"]["default"]["ipv4_address"] == server["environment"]["HEADWATER_TRUSTED_PROXY"] == PROXY
    assert ip_address(PROXY) in ip_network(compose["networks"]["default"]["ipam"]["config"][0]["subnet"])
    template = (DEPLOY / "page.conf.template").read_text()
    assert 'auth_basic "Lineage";\n    auth_basic_user_file /etc/nginx/conf.d/users;' in template
    sources = [one.split(":")[0] for one in page["volumes"]]
    assert [(DEPLOY / one).is_file() for one in sources] == [True, True]
    assert set(re.findall(r"\$\{(\w+)\}", (DEPLOY / "page.users.template").read_text())) == set(page["environment"])

    named = of_container(container) | server["environment"] | {"HEADWATER_STORE": f"sqlite:///{tmp_path}/l.db"}
    app = create_app(settings_from(named))
    target, headers = through_the_page("/api/v1/namespaces", "ann")
    assert target == "http://headwater:5000"
    assert through_the_page("/lineage/job/a/b", "ann")[0] == "http://web:3000"
    sent = {name: value for name, value in headers.items() if value is not None}
    assert {"Authorization", "X-API-Key"} == {name for name, value in headers.items() if value is None}
    own_page = {"Origin": f"http://{BROWSER}"}
    with TestClient(app, client=(PROXY, 1)) as proxy:
        assert proxy.get("/api/v1/namespaces", headers=sent).status_code == 200
        assert proxy.get("/api/v1/namespaces", headers=sent | own_page).status_code == 200
        assert proxy.get("/api/v1/namespaces", headers=sent | {"X-Forwarded-User": ""}).status_code == 401
        assert proxy.get("/api/v1/namespaces", headers=sent | {"Origin": "https://evil.example"}).status_code == 403
        written = proxy.post("/api/v1/lineage", headers=sent | own_page, json={})
        assert (written.status_code, "ann may read" in written.json()["message"]) == (403, True)
    with TestClient(app, client=("172.30.57.11", 1)) as other:
        assert other.get("/api/v1/namespaces", headers=sent).status_code == 401
