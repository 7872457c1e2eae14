"""The container and compose files say what the command line says; no container runtime is needed to see that."""

import json
import re
from pathlib import Path
from typing import Any

import pytest
import typer.main
import yaml

from headwater.cli.main import app
from headwater.server import environment, logs
from headwater.server.process import LAST_ANSWERS, _checked
from headwater.server.settings import Listening, ServerSettings

DEPLOY = Path(__file__).resolve().parents[2] / "deploy"
ELSEWHERE = {"HEADWATER_STORE", "HEADWATER_HOSTS"}
"""Variables that no option of ``serve`` is named after in its declaration."""


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
    return {str(one.envvar) for one in commands()["serve"].params if getattr(one, "envvar", None)}


def of_container(container: str) -> dict[str, str]:
    return dict(re.findall(r"(HEADWATER_\w+)=(\S+)", container))


def test_every_setting_is_an_option_and_a_variable() -> None:
    told = {*environment.LIMITS, *environment.TOKENS, *environment.OTHERS}
    assert told - ELSEWHERE <= variables()


def test_settings_survive_the_way_through_the_environment() -> None:
    settings = environment.settings_from(
        {"HEADWATER_OIDC_ISSUER": "https://a", "HEADWATER_OIDC_AUDIENCE": "b", "HEADWATER_CORS_ORIGIN": "http://c d"}
    )
    assert environment.settings_from(environment.environment_of(settings)) == settings
    assert environment.settings_from({}) == ServerSettings()


def test_the_container_starts_a_command_that_exists(container: str) -> None:
    (entry,) = re.findall(r"^ENTRYPOINT (.*)$", container, re.MULTILINE)
    (command,) = re.findall(r"^CMD (.*)$", container, re.MULTILINE)
    assert json.loads(entry) == ["headwater"]
    assert json.loads(command)[0] in commands()


def test_the_container_sets_variables_that_mean_something(container: str) -> None:
    given = of_container(container)
    assert set(given) - {"HEADWATER_STORE"} <= variables()
    settings = environment.settings_from(given)
    listening = Listening(
        given["HEADWATER_HOST"], int(given["HEADWATER_PORT"]), log_format=given["HEADWATER_LOG_FORMAT"]
    )
    assert (settings.auth, listening.log_format in logs.FORMATS) == (True, True)
    _checked(settings, listening)


def test_the_container_is_asked_where_it_listens_and_is_nobody_special(container: str) -> None:
    port = of_container(container)["HEADWATER_PORT"]
    assert re.findall(r"^EXPOSE (\d+)$", container, re.MULTILINE) == [port]
    assert f"http://127.0.0.1:{port}/health" in container
    assert re.findall(r"^USER (\w+)$", container, re.MULTILINE) == ["headwater"]
    assert container.count("FROM python:3.11-slim") == 2


def test_compose_fits_the_container(compose: dict[str, Any], container: str) -> None:
    server, database = compose["services"]["headwater"], compose["services"]["postgres"]
    given = server["environment"]
    assert set(given) - {"HEADWATER_STORE"} <= variables()
    assert server["ports"] == ["{0}:{0}".format(of_container(container)["HEADWATER_PORT"])]
    user, name = (database["environment"][f"POSTGRES_{part}"] for part in ("USER", "DB"))
    assert given["HEADWATER_STORE"] == f"postgresql://{user}:${{POSTGRES_PASSWORD:?}}@postgres/{name}"
    assert (DEPLOY / server["build"]["context"] / server["build"]["dockerfile"]).is_file()
    assert int(server["stop_grace_period"].removesuffix("s")) > LAST_ANSWERS
    environment.settings_from(of_container(container) | given)
