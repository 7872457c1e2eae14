"""The settings of a server as environment variables: for containers, and for the processes of one server."""

from collections.abc import Mapping
from datetime import timedelta
from typing import Any, get_args, get_origin

from pydantic import TypeAdapter, ValidationError

from headwater.errors import SettingError
from headwater.server.settings import SETTINGS, ServerSettings, Setting, duration


def settings_from(environment: Mapping[str, str]) -> ServerSettings:
    """Return the settings of environment variables; an empty variable counts as unset.

    Raises:
        SettingError: a value is not allowed, or two do not go together.

    >>> settings_from({"HEADWATER_AUTH": "1", "HEADWATER_DEPTH_LIMIT": "7"}).depth_limit
    7
    """
    texts = {one: environment.get(one.variable, "") for one in SETTINGS}
    values: dict[str, Any] = {one.name: _parsed(one, text) for one, text in texts.items() if text}
    return ServerSettings(**values)


def environment_of(settings: ServerSettings) -> dict[str, str]:
    """Return the variables from which `settings_from` makes the same settings."""
    values = {one.variable: getattr(settings, one.name) for one in SETTINGS}
    return {variable: _text(value) for variable, value in values.items() if value is not None}


def _parsed(setting: Setting, text: str) -> Any:
    try:
        value = _value(setting.type, text)
        if setting.help.minimum is not None and value < setting.help.minimum:
            raise ValueError(f"expected at least {setting.help.minimum}")
    except ValueError as fault:
        message = fault.errors()[0]["msg"] if isinstance(fault, ValidationError) else str(fault)
        message = message.replace("Input should be", "expected")
        raise SettingError(f"{setting.variable} is {text!r}: {message}. Correct or unset it.") from None
    return value


def _value(type_: Any, text: str) -> Any:
    if timedelta in get_args(type_):
        return duration(text)
    if get_origin(type_) is tuple:
        return tuple(text.split())
    return TypeAdapter(type_).validate_python(text)


def _text(value: Any) -> str:
    if isinstance(value, timedelta):
        return f"{value // timedelta(seconds=1)}s"
    return " ".join(value) if isinstance(value, tuple) else str(value)
