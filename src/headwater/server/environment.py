"""A server's settings as environment variables: how the processes of one server get them, and how a container does."""

import re
from collections.abc import Callable, Iterator, Mapping
from datetime import timedelta
from typing import Any, get_type_hints

from headwater.errors import SettingError
from headwater.server.settings import Limits, Proxies, ServerSettings, Tokens
from headwater.store.keyring import SCOPES

_TRUE = ("1", "true", "yes", "on")
_LENGTH = re.compile(r"(\d{1,10})([smhdw])")
_UNITS = {"s": "seconds", "m": "minutes", "h": "hours", "d": "days", "w": "weeks"}
_FALSE = ("0", "false", "no", "off", "")

LIMITS = {
    "HEADWATER_BODY_LIMIT": "body",
    "HEADWATER_MEMORY_LIMIT": "memory",
    "HEADWATER_EVENTS_LIMIT": "events",
    "HEADWATER_DEPTH_LIMIT": "depth",
    "HEADWATER_NODE_LIMIT": "columns",
    "HEADWATER_TIME_LIMIT": "seconds",
    "HEADWATER_WAITING_LIMIT": "waiting",
    "HEADWATER_RATE": "rate",
}
TOKENS = {
    "HEADWATER_OIDC_ISSUER": "issuer",
    "HEADWATER_OIDC_AUDIENCE": "audience",
    "HEADWATER_OIDC_SCOPE_CLAIM": "scope_claim",
    "HEADWATER_OIDC_NAMESPACES_CLAIM": "namespaces_claim",
}
PROXIES = {
    "HEADWATER_TRUSTED_PROXY": "trusted",
    "HEADWATER_PROXY_USER_HEADER": "user_header",
    "HEADWATER_PROXY_SCOPE": "scope",
    "HEADWATER_PROXY_NAMESPACES_HEADER": "namespaces_header",
}
OTHERS = {
    "HEADWATER_STORE": "store",
    "HEADWATER_AUTH": "auth",
    "HEADWATER_CORS_ORIGIN": "origins",
    "HEADWATER_HOSTS": "hosts",
    "HEADWATER_INDEX": "index",
    "HEADWATER_KEEP": "keep",
}


def settings_from(environment: Mapping[str, str]) -> ServerSettings:
    """The settings that variables give; what they do not give is as by default.

    Raises:
        SettingError: a value that cannot be used.

    >>> settings_from({"HEADWATER_AUTH": "1", "HEADWATER_DEPTH_LIMIT": "7"}).limits.depth
    7
    """
    tokens = dict(_given(environment, TOKENS, Tokens))
    if tokens and not (tokens.get("issuer") and tokens.get("audience")):
        raise SettingError("HEADWATER_OIDC_ISSUER and HEADWATER_OIDC_AUDIENCE go together: give both, or none.")
    proxies = dict(_given(environment, PROXIES, Proxies))
    if proxies and not proxies.get("trusted"):
        raise SettingError("A setting of proxies without a proxy: give HEADWATER_TRUSTED_PROXY, its address.")
    if proxies.get("scope", SCOPES[0]) not in SCOPES:
        raise SettingError(f"HEADWATER_PROXY_SCOPE is {proxies['scope']!r}: expected one of {', '.join(SCOPES)}.")
    return ServerSettings(
        tokens=Tokens(**tokens) if tokens else None,
        proxies=Proxies(**proxies) if proxies else None,
        limits=Limits(**dict(_given(environment, LIMITS, Limits))),
        **dict(_given(environment, OTHERS, ServerSettings)),
    )


def environment_of(settings: ServerSettings) -> dict[str, str]:
    """The variables from which `settings_from` makes the same settings."""
    parts = (
        (LIMITS, settings.limits),
        (TOKENS, settings.tokens),
        (PROXIES, settings.proxies),
        (OTHERS, settings),
    )
    values = {variable: getattr(part, name) for names, part in parts if part for variable, name in names.items()}
    return {variable: _text(value) for variable, value in values.items() if value is not None}


def _text(value: Any) -> str:
    if isinstance(value, bool):
        return "1" if value else "0"
    if isinstance(value, timedelta):
        return f"{value // timedelta(seconds=1)}s"
    return " ".join(value) if isinstance(value, tuple) else str(value)


def _given(environment: Mapping[str, str], names: Mapping[str, str], kind: type) -> Iterator[tuple[str, Any]]:
    hints = get_type_hints(kind)
    for variable, name in names.items():
        if environment.get(variable):
            yield name, _read(variable, environment[variable], _READERS[hints[name]])


def _read(variable: str, value: str, reader: Callable[[str], Any]) -> Any:
    try:
        return reader(value)
    except ValueError as fault:
        raise SettingError(f"{variable} is {value!r}, which cannot be used ({fault}). Correct or unset it.") from None


def _boolean(value: str) -> bool:
    if value.lower() not in (*_TRUE, *_FALSE):
        raise ValueError("expected 1 or 0")
    return value.lower() in _TRUE


def length_of_time(value: str) -> timedelta:
    """The length of time that a number and a unit say.

    Raises:
        ValueError: they say none.

    >>> length_of_time("90d").days
    90
    """
    parts = _LENGTH.fullmatch(value.strip())
    if parts is None or not int(parts[1]):
        raise ValueError("expected a number and one of s, m, h, d, w: 90d")
    try:
        return timedelta(**{_UNITS[parts[2]]: int(parts[1])})
    except OverflowError:
        raise ValueError("expected less than 2.7 million years") from None


def _words(value: str) -> tuple[str, ...]:
    return tuple(value.split())


_READERS: dict[Any, Callable[[str], Any]] = {
    str: str,
    str | None: str,
    int: int,
    float: float,
    bool: _boolean,
    timedelta | None: length_of_time,
    tuple[str, ...]: _words,
}
