"""Transports of extensions as targets of the delivery: what they cannot take now is kept, and goes with a later run."""

import contextlib
from collections.abc import Collection
from functools import partial
from urllib.parse import quote

from openlineage.client import OpenLineageClient
from openlineage.client.transport import Transport as ClientTransport

from headwater.errors import ExtensionError
from headwater.ext.hooks import Transport
from headwater.ext.runtime import Extensions
from headwater.ext.watchdog import packages, within
from headwater.openlineage.delivery import ClientTarget, DeliveryOutcome, DeliveryResult, SinkTarget, Target, address_of

SENDING_SECONDS = 10.0
"""How long a transport may take for one event."""

_CLIENT = {"openlineage"}  # whose transports the job may use too


class _TimedTarget:
    """A target that is given no second chance to hold up the others in one run."""

    def __init__(self, inner: Target, seconds: float, packages: Collection[str]) -> None:
        self.name = inner.name
        self.address = inner.address
        self._inner = inner
        self._seconds = seconds
        self._packages = packages
        self._why = ""

    def send(self, line: str) -> DeliveryResult:
        """UNAVAILABLE from the first time on that it takes too long."""
        if not self._why:
            try:
                return within(self._seconds, partial(self._inner.send, line), self._packages)
            except ExtensionError as error:
                self._why = str(error)
        return DeliveryResult(DeliveryOutcome.UNAVAILABLE, self._why)

    def close(self) -> None:
        """Let go of connections, unless it is stuck."""
        with contextlib.suppress(ExtensionError):
            if not self._why:
                within(self._seconds, self._inner.close, self._packages)


def transport_targets(extensions: Extensions, seconds: float = SENDING_SECONDS) -> tuple[Target, ...]:
    """A target for each transport, named ``<extension>+<transport>``."""
    made = (
        (extensions.call(extension.name, partial(_target, _target_name(extension.name, name), one), None), one)
        for extension in extensions.loaded
        for name, one in extension.transports.items()
    )
    return tuple(_TimedTarget(target, seconds, packages([one]) - _CLIENT) for target, one in made if target is not None)


def _target(name: str, transport: Transport) -> Target:
    if isinstance(transport, ClientTransport):
        return ClientTarget(name, OpenLineageClient(transport=transport), address_of(transport))
    return SinkTarget(name, transport)


def _target_name(extension: str, transport: str) -> str:
    """The spool makes files of it: each two have another, and none that a transport of the client has.

    >>> _target_name("a-b", "c.d"), _target_name("a", "b-c+d")
    ('a-b+c%2Ed', 'a+b-c%2Bd')
    """
    return "+".join(quote(name, safe="").replace(".", "%2E") for name in (extension, transport))
