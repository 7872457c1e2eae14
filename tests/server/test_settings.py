"""One declaration of each setting makes its option, its variable and its row in docs/server.md.

``python -m tests.server.test_settings`` writes the rows anew.
"""

import re
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
import typer.main
from typer.testing import CliRunner

from headwater.cli import serve
from headwater.cli.main import app
from headwater.errors import SettingError
from headwater.server.settings import SETTINGS, ServerSettings, environment_of, settings_from

DOCUMENT = Path(__file__).resolve().parents[2] / "docs" / "server.md"
ROWS = re.compile(r"(?<=\| option \| default \| meaning \|\n\|---\|---\|---\|\n)(?:\|.*\n)+")
CHANGED: dict[str, Any] = {
    "store": "/tmp/x.db",
    "oidc_issuer": "https://a",
    "oidc_audience": "b",
    "tls_cert": Path("a.pem"),
    "tls_key": Path("b.pem"),
    "log_format": "json",
    "proxy_scope": "write",
    "keep": timedelta(days=90),
}


def changed() -> ServerSettings:
    """Settings of which none is as by default."""
    values: dict[str, Any] = {}
    for one in SETTINGS:
        more = ("a.example", "10.0.0.1/32") if one.default == () else "x" if one.default == "" else None
        values[one.name] = CHANGED.get(one.name, more or (f"{one.default}1" if isinstance(one.default, str) else 7))
        if isinstance(one.default, bool):
            values[one.name] = not one.default
    return ServerSettings(**values)


def test_settings_survive_the_environment() -> None:
    settings = changed()
    assert not [one.name for one in SETTINGS if getattr(settings, one.name) == one.default]
    assert settings_from(environment_of(settings)) == settings
    assert settings_from({}) == ServerSettings()


def test_the_command_makes_the_same_settings_of_options_and_of_variables(monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[ServerSettings] = []
    monkeypatch.setattr(serve, "run_server", lambda settings, _: made.append(settings))
    settings, arguments = changed(), ["serve"]
    for one in SETTINGS:
        value = getattr(settings, one.name)
        values = [value] if not isinstance(value, tuple) else value
        arguments += [one.option] if value is True else [f"{one.option}={_text(each)}" for each in values]
    for arguments_, environment in ((arguments, {}), (["serve"], environment_of(settings)), (["serve"], {})):
        result = CliRunner().invoke(app, arguments_, env=environment)
        assert result.exit_code == 0, result.output
    assert made == [settings, settings, ServerSettings()]


def _text(value: Any) -> str:
    return "90d" if isinstance(value, timedelta) else str(value)


@pytest.mark.parametrize(
    ("variable", "value", "expected"),
    [
        ("HEADWATER_AUTH", "maybe", "expected a valid boolean"),
        ("HEADWATER_DEPTH_LIMIT", "many", "expected a valid integer"),
        ("HEADWATER_DEPTH_LIMIT", "0", "expected at least 1"),
        ("HEADWATER_PROXY_SCOPE", "all", "expected 'read', 'write' or 'admin'"),
        ("HEADWATER_KEEP", "90", "expected a number and one of s, m, h, d, w"),
    ],
)
def test_a_value_that_is_not_allowed_is_refused_by_its_name(variable: str, value: str, expected: str) -> None:
    with pytest.raises(SettingError, match=f"{variable} is '{value}': {expected}"):
        settings_from({variable: value})


@pytest.mark.parametrize(
    "values",
    [{"oidc_issuer": "https://a"}, {"oidc_audience": "b"}, {"tls_key": Path("a.pem")}, {"proxy_scope": "write"}],
)
def test_settings_that_need_others_are_refused_without_them(values: dict[str, Any]) -> None:
    with pytest.raises(SettingError, match=r"go together|needs a proxy"):
        ServerSettings(**values)


def rows() -> str:
    return "".join(f"| `{one.option}` | {_default(one.default)} | {one.help.text} |\n" for one in SETTINGS)


def _default(value: Any) -> str:
    if isinstance(value, bool):
        return "on" if value else "off"
    return f"{value:,}" if isinstance(value, int) and value > 9_999 else "" if value in {None, ()} else str(value)


def test_the_page_about_the_server_has_a_row_for_each_setting() -> None:
    assert ROWS.findall(DOCUMENT.read_text()) == [rows()], "write it anew: python -m tests.server.test_settings"


def test_each_option_has_its_variable() -> None:
    group: Any = typer.main.get_command(app)
    command = group.get_command(None, "serve")
    assert {one.envvar for one in command.params} - {None} == {one.variable for one in SETTINGS}


if __name__ == "__main__":
    DOCUMENT.write_text(ROWS.sub(lambda _: rows(), DOCUMENT.read_text()))
