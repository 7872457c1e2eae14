"""What an event can be delivered to: a back end of the OpenLineage client's, a file, a function.

A target never raises from ``send``; it says what became of the event, in words without secrets.
"""

import copy
import os
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Protocol

import yaml  # type: ignore[import-untyped]
from openlineage.client import OpenLineageClient
from openlineage.client.transport import Transport, get_default_factory
from openlineage.client.transport.composite import CompositeTransport
from openlineage.client.transport.http import HttpTransport
from openlineage.client.transport.http_common import DEFAULT_RETRY_CONFIG
from openlineage.client.transport.noop import NoopConfig, NoopTransport

from headwater.errors import EventError, SettingError
from headwater.openlineage.events import read_event
from headwater.openlineage.spool import Fate, Sent
from headwater.redaction import redact

# 4xx answers that are about the configuration or the moment, not about the event: it can be sent again.
_NOT_ABOUT_THE_EVENT = frozenset({401, 402, 403, 404, 405, 407, 408, 425, 429})
# The spool is the retry; the client's default of five would hold the end of a job for nine seconds.
_RETRY = {"total": 1, "backoff_factor": 0, "allowed_methods": ["POST"]}


class Target(Protocol):
    """Where events go. ``name`` tells its undelivered events from another target's, over restarts too."""

    name: str

    def send(self, line: str) -> Sent:
        """Hand over one event, a line of JSON, and say what became of it."""

    def close(self) -> None:
        """Let go of connections."""


class FileTarget:
    """Appends each event as one line to a file, which several processes may share."""

    def __init__(self, path: Path) -> None:
        self.name = "file"
        self._path = path

    def send(self, line: str) -> Sent:
        """DELIVERED once the whole line is in the file."""
        data = line.encode("utf-8", "backslashreplace") + b"\n"
        try:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            with self._path.open("ab", buffering=0) as file:
                if file.write(data) != len(data):
                    return Sent(Fate.UNAVAILABLE, f"the disk of {self._path} is full")
        except OSError as error:
            return Sent(Fate.UNAVAILABLE, f"{self._path} cannot be written: {error.strerror}")
        return Sent(Fate.DELIVERED)

    def close(self) -> None:
        """Nothing is held."""


class SinkTarget:
    """Calls a function with each event; it raises EventError to refuse one, anything else to have it again."""

    def __init__(self, name: str, sink: Callable[[str], None]) -> None:
        self.name = name
        self._sink = sink

    def send(self, line: str) -> Sent:
        """DELIVERED once the function returns."""
        try:
            self._sink(line)
        except Exception as error:
            return Sent(_fate(error), _reason(error))
        return Sent(Fate.DELIVERED)

    def close(self) -> None:
        """Nothing is held."""


class ClientTarget:
    """One transport of the OpenLineage client, with the client's filters and facets."""

    def __init__(self, name: str, client: OpenLineageClient) -> None:
        self.name = name
        self._client = client

    def send(self, line: str) -> Sent:
        """DELIVERED once the transport took it; asynchronous transports take everything."""
        try:
            self._client.emit(read_event(line))
        except Exception as error:
            return Sent(_fate(error), _reason(error))
        return Sent(Fate.DELIVERED)

    def close(self) -> None:
        """Close the transport, waiting a little for what it still sends."""
        self._client.close(5.0)


def client_targets(config: Mapping[str, Any] | None = None) -> tuple[ClientTarget, ...]:
    """The back ends of the OpenLineage client's own configuration; none when it names none.

    That is openlineage.yml, OPENLINEAGE_URL and OPENLINEAGE__…, over which ``config`` (in the shape of the
    file) has precedence. Each transport of a composite one is a target of its own, so that one that fails
    does not cost the others an event. Raises SettingError when the configuration cannot be used.
    """
    given = copy.deepcopy(dict(config or {}))
    with _environment_kept():
        try:
            transports = _transports(given)
            clients = [OpenLineageClient(transport=transport, config=given) for transport in transports]
        except Exception as error:
            raise SettingError(
                f"The OpenLineage transport cannot be used: {_reason(error)}. Correct it in openlineage.yml, in the "
                "OPENLINEAGE_ variables or in spark.openlineage.transport, or leave it out to keep lineage locally."
            ) from error
    names = _names(transports)
    return tuple(ClientTarget(name, client) for name, client in zip(names, clients, strict=True))


def config_path(environment: Mapping[str, str]) -> Path | None:
    """The openlineage.yml that the client would find: OPENLINEAGE_CONFIG, the working folder, ~/.openlineage."""
    named = environment.get("OPENLINEAGE_CONFIG")
    candidates = [Path(named)] if named else []
    candidates += [Path("openlineage.yml"), Path("~/.openlineage/openlineage.yml").expanduser()]
    return next((path for path in candidates if path.is_file()), None)


def read_config(path: Path) -> dict[str, Any]:
    """The content of an openlineage.yml. Raises SettingError when there is none to read."""
    try:
        content = yaml.safe_load(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, yaml.YAMLError) as error:
        reason = error.strerror if isinstance(error, OSError) else f"it is no YAML: {redact(str(error))}"
        raise SettingError(f"{path} cannot be read ({reason}); expected an openlineage.yml.") from error
    if not isinstance(content, dict):
        raise SettingError(f"{path} holds {type(content).__name__}; expected the keys of an openlineage.yml.")
    return content


def _transports(config: dict[str, Any]) -> Sequence[Transport]:
    configured = OpenLineageClient(transport=NoopTransport(NoopConfig()), config=config).config.transport or {}
    if configured.get("type"):
        transport = get_default_factory().create(copy.deepcopy(configured))
    elif os.environ.get("OPENLINEAGE_URL"):
        transport = OpenLineageClient(config=config).transport
    else:
        return ()
    return [_without_waiting(one) for one in _single(transport) if one.kind != NoopTransport.kind]


def _single(transport: Transport) -> Sequence[Transport]:
    if not isinstance(transport, CompositeTransport):
        return [transport]
    everywhere = transport.config.continue_on_failure and transport.config.continue_on_success
    return transport.transports if everywhere else [transport]


def _without_waiting(transport: Transport) -> Transport:
    if isinstance(transport, HttpTransport) and transport.config.retry == DEFAULT_RETRY_CONFIG:
        transport.config.retry = dict(_RETRY)
    return transport


def _names(transports: Sequence[Transport]) -> list[str]:
    names: list[str] = []
    for transport in transports:
        name = re.sub(r"[^\w-]", "_", transport.name or transport.kind or "transport")
        names.append(name if name not in names else f"{name}-{len(names)}")
    return names


@contextmanager
def _environment_kept() -> Iterator[None]:
    """The client writes OPENLINEAGE__ variables into the process's environment; the job is not to inherit them."""
    before = set(os.environ)
    try:
        yield
    finally:
        for name in set(os.environ) - before:
            if name.startswith("OPENLINEAGE__"):
                del os.environ[name]


def _fate(error: Exception) -> Fate:
    status = _status(error)
    if status is not None:
        about_the_event = 400 <= status < 500 and status not in _NOT_ABOUT_THE_EVENT
        return Fate.REJECTED if about_the_event else Fate.UNAVAILABLE
    if isinstance(error, OSError):  # all that requests raises is one
        return Fate.UNAVAILABLE
    # An event that cannot be written down will not be better next time, and would hold up all behind it.
    unwritable = isinstance(error, EventError | TypeError | ValueError | LookupError | AttributeError)
    return Fate.REJECTED if unwritable else Fate.UNAVAILABLE


def _status(error: Exception) -> int | None:
    status = getattr(getattr(error, "response", None), "status_code", None)
    return status if isinstance(status, int) else None


def _reason(error: Exception) -> str:
    status = _status(error)
    if status is not None:
        text = str(getattr(getattr(error, "response", None), "text", ""))
        return redact(f"it answered {status}: {text}")[:320]
    return redact(f"{type(error).__name__}: {error}")[:500]
