"""The settings of a server: for each its default, its help and, by its name, its option and its variable.

A field ``body_limit`` is the option ``--body-limit`` of ``headwater serve`` and the variable ``HEADWATER_BODY_LIMIT``.
The command line makes its options from `SETTINGS`, and a test holds docs/server.md to it. Containers set the variables,
and so does the process that starts several processes of one server.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields
from datetime import timedelta
from pathlib import Path
from typing import Annotated, Any, Literal, get_args, get_origin, get_type_hints

from pydantic import TypeAdapter, ValidationError

from headwater.errors import SettingError

MEGABYTE = 2**20
LOOPBACK = ("127.0.0.1", "::1", "localhost")

_DURATION = re.compile(r"(\d{1,10})([smhdw])")
_UNITS = {"s": "seconds", "m": "minutes", "h": "hours", "d": "days", "w": "weeks"}


@dataclass(frozen=True, slots=True)
class Help:
    """The help of a setting; ``panel`` is the part of the help page where it stands."""

    panel: Literal["Listening", "Access", "Limits"]
    text: str
    metavar: str | None = None
    minimum: float | None = None


@dataclass(frozen=True, slots=True)
class ServerSettings:
    """Everything that a server can be started with.

    Raises:
        SettingError: two settings do not go together.
    """

    store: Annotated[
        str | None,
        Help("Listening", "A file or a database URL; otherwise the nearest .headwater/lineage.db.", "URL"),
    ] = None
    host: Annotated[str, Help("Listening", "The address to listen on.")] = "127.0.0.1"
    port: Annotated[int, Help("Listening", "The port to listen on; 0 for a free one.", minimum=0)] = 5000
    workers: Annotated[int, Help("Listening", "The number of processes.", "N", 1)] = 1
    tls_cert: Annotated[Path | None, Help("Listening", "Speak HTTPS with this certificate (PEM).")] = None
    tls_key: Annotated[Path | None, Help("Listening", "The certificate's private key (PEM).")] = None
    index: Annotated[
        bool, Help("Listening", "Keep the current edges in memory: quicker answers, 30 bytes for each edge.")
    ] = False
    keep: Annotated[
        timedelta | None,
        Help("Listening", "Remove older runs each day, as `headwater prune` does: 90d, 52w.", "TIME"),
    ] = None
    log_format: Annotated[Literal["text", "json"], Help("Listening", "Log lines for people, or as JSON.")] = "text"

    auth: Annotated[bool, Help("Access", "Require a key; needed to listen beyond this machine.")] = False
    oidc_issuer: Annotated[str, Help("Access", "Also accept tokens of this OpenID provider.", "URL")] = ""
    oidc_audience: Annotated[str, Help("Access", "The audience that its tokens must have.", "NAME")] = ""
    oidc_scope_claim: Annotated[str, Help("Access", "The claim with read, write or admin.", "CLAIM")] = "scope"
    oidc_namespaces_claim: Annotated[
        str, Help("Access", "The claim with the visible namespaces; without it, all are.", "CLAIM")
    ] = ""
    cors_origin: Annotated[
        tuple[str, ...], Help("Access", "A site whose pages may send requests; repeat for more.", "URL")
    ] = ()
    hosts: Annotated[
        tuple[str, ...], Help("Access", "A host name of the server, also *.example.org; repeat for more.", "NAME")
    ] = ()
    trusted_proxy: Annotated[
        tuple[str, ...], Help("Access", "A proxy that names its users; repeat for more.", "ADDRESS|NETWORK")
    ] = ()
    proxy_user_header: Annotated[str, Help("Access", "The header in which it names them.", "NAME")] = "X-Forwarded-User"
    proxy_scope: Annotated[Literal["read", "write", "admin"], Help("Access", "The scope of its users.")] = "read"
    proxy_namespaces_header: Annotated[
        str, Help("Access", "The header with the visible namespaces; without it, all are.", "NAME")
    ] = ""

    rate: Annotated[
        str, Help("Limits", "Requests of one caller, such as 600/minute; without it there is no limit.", "RATE")
    ] = ""
    body_limit: Annotated[int, Help("Limits", "Bytes in a request, decompressed.", "BYTES", 1)] = 64 * MEGABYTE
    memory_limit: Annotated[
        int, Help("Limits", "Bytes for the bodies of all requests at once, parsed.", "BYTES", 1)
    ] = 1024 * MEGABYTE
    events_limit: Annotated[int, Help("Limits", "Events in a request.", "N", 1)] = 10_000
    depth_limit: Annotated[int, Help("Limits", "Steps in a graph.", "N", 1)] = 100
    node_limit: Annotated[int, Help("Limits", "Columns in a graph.", "N", 1)] = 20_000
    time_limit: Annotated[float, Help("Limits", "Seconds for an answer.", "SECONDS", 0.1)] = 20.0
    waiting_limit: Annotated[int, Help("Limits", "Requests whose events wait to be written.", "N", 1)] = 1_000
    connection_limit: Annotated[int, Help("Limits", "Connections of each process.", "N", 1)] = 1_000

    def __post_init__(self) -> None:
        if bool(self.oidc_issuer) != bool(self.oidc_audience):
            raise SettingError("--oidc-issuer and --oidc-audience go together: set both, or none.")
        if (self.tls_cert is None) != (self.tls_key is None):
            raise SettingError("--tls-cert and --tls-key go together: set both, or none.")
        for setting in () if self.trusted_proxy else SETTINGS:
            if setting.name.startswith("proxy_") and getattr(self, setting.name) != setting.default:
                raise SettingError(f"{setting.option} needs a proxy: set --trusted-proxy to its address.")

    @property
    def loopback(self) -> bool:
        """Whether only this machine can reach the server."""
        return self.host in LOOPBACK

    @property
    def authenticates(self) -> bool:
        """Whether callers must say who they are."""
        return self.auth or bool(self.oidc_issuer or self.trusted_proxy)


@dataclass(frozen=True, slots=True)
class Setting:
    """A field of `ServerSettings`."""

    name: str
    type: Any
    default: Any
    help: Help

    @property
    def option(self) -> str:
        """The option of ``headwater serve``."""
        return f"--{self.name.replace('_', '-')}"

    @property
    def variable(self) -> str:
        """The environment variable."""
        return f"HEADWATER_{self.name.upper()}"


def _settings() -> Iterator[Setting]:
    types = get_type_hints(ServerSettings, include_extras=True)
    for one in fields(ServerSettings):
        type_, help_ = get_args(types[one.name])
        yield Setting(one.name, type_, one.default, help_)


SETTINGS: tuple[Setting, ...] = tuple(_settings())
"""Every setting, in the order of the help page."""


def duration(text: str) -> timedelta:
    """Return the duration that a number and a unit name.

    Raises:
        ValueError: the text is not of that form, or zero, or too long.

    >>> duration("90d").days
    90
    """
    parts = _DURATION.fullmatch(text.strip())
    if parts is None or not int(parts[1]):
        raise ValueError("expected a number and one of s, m, h, d, w, such as 90d")
    try:
        return timedelta(**{_UNITS[parts[2]]: int(parts[1])})
    except OverflowError:
        raise ValueError("expected less than 2.7 million years") from None


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
