"""Targets of events: a back end of the OpenLineage client's, a file, a function.

A target never raises from ``send``; it returns the outcome, in words without secrets.
"""

import copy
import os
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Protocol
from urllib.parse import urljoin

import yaml
from openlineage.client import OpenLineageClient
from openlineage.client.transport import Transport, get_default_factory
from openlineage.client.transport.composite import CompositeTransport
from openlineage.client.transport.http import HttpTransport
from openlineage.client.transport.kafka import KafkaTransport
from openlineage.client.transport.noop import NoopConfig, NoopTransport

from headwater.errors import EventError, SettingError
from headwater.openlineage.delivery.back_ends import (
    answer_text,
    is_final,
    require_acknowledgement,
    require_kafka_acknowledgement,
    status_of,
)
from headwater.openlineage.delivery.spool import DeliveryOutcome, DeliveryResult
from headwater.openlineage.writing.events import read_event
from headwater.redaction import redact

# What a configuration says of a place; the rest is how to get there.
_PLACES = (
    "url",
    "endpoint",
    "topic",
    "config",
    "log_file_path",
    "stream_name",
    "bucket",
    "region",
    "project_id",
    "location",
)


class Target(Protocol):
    """Where events go.

    ``name`` and ``address`` distinguish its undelivered events from another target's, over restarts too. The address
    has no secrets; an empty one stands for whatever has that name.
    """

    name: str
    address: str

    def send(self, line: str) -> DeliveryResult:
        """Hand over one event, a line of JSON, and say what became of it."""

    def close(self) -> None:
        """Let go of connections."""


class FileTarget:
    """Appends each event as one line to a file, which several processes may share."""

    def __init__(self, path: Path) -> None:
        self.name = "file"
        self.address = str(path)
        self._path = path

    def send(self, line: str) -> DeliveryResult:
        """DELIVERED once the whole line is in the file."""
        data = line.encode("utf-8", "backslashreplace") + b"\n"
        try:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            with self._path.open("ab", buffering=0) as file:
                if file.write(data) != len(data):
                    return DeliveryResult(DeliveryOutcome.UNAVAILABLE, f"the disk of {self._path} is full")
        except OSError as error:
            return DeliveryResult(DeliveryOutcome.UNAVAILABLE, f"{self._path} cannot be written: {error.strerror}")
        return DeliveryResult(DeliveryOutcome.DELIVERED)

    def close(self) -> None:
        """Nothing is held."""


class SinkTarget:
    """Calls a function with each event; it raises EventError to refuse one, anything else to have it again."""

    def __init__(self, name: str, sink: Callable[[str], None], address: str = "") -> None:
        self.name = name
        self.address = address
        self._sink = sink

    def send(self, line: str) -> DeliveryResult:
        """DELIVERED once the function returns."""
        try:
            self._sink(line)
        except Exception as error:
            return DeliveryResult(_outcome(error), _reason(error))
        return DeliveryResult(DeliveryOutcome.DELIVERED)

    def close(self) -> None:
        """Nothing is held."""


class UnusableTarget:
    """A back end whose configuration cannot be used: events wait for the next one of its name."""

    def __init__(self, name: str, reason: str) -> None:
        self.name = name
        self.address = ""
        self._reason = reason

    def send(self, line: str) -> DeliveryResult:
        """UNAVAILABLE, with what is wrong."""
        return DeliveryResult(DeliveryOutcome.UNAVAILABLE, self._reason)

    def close(self) -> None:
        """Nothing is held."""


class ClientTarget:
    """One transport of the OpenLineage client, with the client's filters and facets."""

    def __init__(self, name: str, client: OpenLineageClient, address: str = "") -> None:
        self.name = name
        self.address = address
        self._client = client

    def send(self, line: str) -> DeliveryResult:
        """DELIVERED once the transport took it; asynchronous transports take everything."""
        try:
            event = read_event(line)
        except EventError as error:
            return DeliveryResult(DeliveryOutcome.REJECTED, _reason(error))
        try:
            self._client.emit(event)
        except Exception as error:
            # A URL that no request can be made of is a ValueError: it is not the event that is wrong.
            return DeliveryResult(
                DeliveryOutcome.UNAVAILABLE if isinstance(error, ValueError) else _outcome(error), _reason(error)
            )
        return DeliveryResult(DeliveryOutcome.DELIVERED)

    def close(self) -> None:
        """Close the transport, waiting a little for what it still sends."""
        self._client.close(5.0)


def client_targets(config: Mapping[str, Any] | None = None) -> tuple[ClientTarget, ...]:
    """The back ends of the OpenLineage client's own configuration; none when it names none.

    That is openlineage.yml, OPENLINEAGE_URL and OPENLINEAGE__…, over which ``config`` (in the shape of the
    file) has precedence. Each transport of a composite one is a target of its own, so that one that fails
    does not cost the others an event. Raises SettingError when the configuration cannot be used.
    """
    merged = copy.deepcopy(dict(config or {}))
    with _environment_kept():
        try:
            transports = _transports(merged)
            clients = [OpenLineageClient(transport=transport, config=merged) for transport in transports]
        except Exception as error:
            raise SettingError(
                f"The OpenLineage transport cannot be used: {_reason(error)}. Correct it in openlineage.yml, in the "
                "OPENLINEAGE_ variables or in spark.openlineage.transport, or leave it out to keep lineage locally."
            ) from error
    return tuple(
        ClientTarget(name, client, address_of(transport))
        for name, client, transport in zip(_names(transports), clients, transports, strict=True)
    )


def unusable_targets(config: Mapping[str, Any], reason: str) -> tuple[UnusableTarget, ...]:
    """A target for each back end of a configuration that cannot be used; events wait for one of the same name."""
    transport = config.get("transport")
    transport = transport if isinstance(transport, Mapping) else {}
    inner = transport.get("transports")
    if isinstance(inner, Mapping):
        return tuple(UnusableTarget(_name(str(name)), reason) for name in inner)
    return (UnusableTarget(_name(str(transport.get("type") or HttpTransport.kind)), reason),)


def address_of(transport: Transport) -> str:
    """Where a transport sends events, without secrets; empty where its configuration does not say.

    A key that is exchanged, a timeout or a number of retries leaves it as it is.
    """
    if isinstance(transport, HttpTransport):
        return _place(urljoin(transport.url, transport.endpoint))
    config = getattr(transport, "config", None) or getattr(transport, f"{transport.kind}_config", None)
    places = {name: getattr(config, name, None) for name in _PLACES}
    inner = places.pop("config")
    if isinstance(inner, Mapping):
        places["bootstrap.servers"] = inner.get("bootstrap.servers")
    return _place(" ".join(str(value) for value in places.values() if value))


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


def _place(text: str) -> str:
    """Without user, password and parameters: a place is the same whoever asks."""
    return re.sub(r"//[^/]*@", "//", re.sub(r"[?#].*", "", text))


def _transports(config: dict[str, Any]) -> Sequence[Transport]:
    configured = OpenLineageClient(transport=NoopTransport(NoopConfig()), config=config).config.transport or {}
    if configured.get("type"):
        transport = get_default_factory().create(_synchronous(configured))
    elif os.environ.get("OPENLINEAGE_URL"):
        transport = OpenLineageClient(config=config).transport
    else:
        return ()
    return [_checked(one) for one in _single(transport) if one.kind != NoopTransport.kind]


def _synchronous(config: Mapping[str, Any]) -> dict[str, Any]:
    """The configuration without asynchronous transports: they lose what they hold, and a target has a thread here."""
    found = copy.deepcopy(dict(config))
    if found.get("type") == "async_http":
        found["type"] = "http"
    inner = found.get("transports")
    if isinstance(inner, Mapping):
        found["transports"] = {name: _synchronous(one) for name, one in inner.items() if isinstance(one, Mapping)}
    elif isinstance(inner, list):
        found["transports"] = [_synchronous(one) for one in inner if isinstance(one, Mapping)]
    return found


def _single(transport: Transport) -> Sequence[Transport]:
    if not isinstance(transport, CompositeTransport):
        return [transport]
    everywhere = transport.config.continue_on_failure and transport.config.continue_on_success
    return transport.transports if everywhere else [transport]


def _checked(transport: Transport) -> Transport:
    if isinstance(transport, HttpTransport):
        require_acknowledgement(transport)
    elif isinstance(transport, KafkaTransport):
        require_kafka_acknowledgement(transport)
    return transport


def _name(text: str) -> str:
    return re.sub(r"[^\w-]", "_", text)


def _names(transports: Sequence[Transport]) -> list[str]:
    names: list[str] = []
    for transport in transports:
        name = _name(transport.name or transport.kind or "transport")
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


def _outcome(error: Exception) -> DeliveryOutcome:
    if status_of(error) is not None:
        return DeliveryOutcome.REJECTED if is_final(error) else DeliveryOutcome.UNAVAILABLE
    if isinstance(error, OSError):  # all that requests raises is one
        return DeliveryOutcome.UNAVAILABLE
    # An event that cannot be written down will not be better next time, and would hold up all behind it.
    unwritable = isinstance(error, EventError | TypeError | ValueError | LookupError | AttributeError)
    return DeliveryOutcome.REJECTED if unwritable else DeliveryOutcome.UNAVAILABLE


def _reason(error: Exception) -> str:
    status = status_of(error)
    if status is not None:
        return redact(f"{error}" if 300 <= status < 400 else f"it answered {status}: {answer_text(error)}")[:320]
    named = str(error) if isinstance(error, SettingError) else f"{type(error).__name__}: {error}"
    return redact(named)[:500]
