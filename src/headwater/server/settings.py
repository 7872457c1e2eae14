"""What a server is started with."""

from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path

MEGABYTE = 2**20


@dataclass(frozen=True, slots=True)
class Limits:
    """What one caller may ask for.

    ``body`` is in bytes after decompression, ``memory`` in bytes that all bodies of a process may need, parsed;
    ``events`` are those of one request; ``depth``, ``columns`` and
    ``seconds`` bound one answer; ``waiting`` are requests whose events wait to be written; ``rate`` is as the
    package limits reads it (``"600/minute"``), empty for no limit.
    """

    body: int = 64 * MEGABYTE
    memory: int = 1024 * MEGABYTE
    events: int = 10_000
    depth: int = 100
    columns: int = 20_000
    seconds: float = 20.0
    waiting: int = 1_000
    rate: str = ""


@dataclass(frozen=True, slots=True)
class Tokens:
    """Which bearer tokens of an identity provider are believed: OpenID Connect Discovery 1.0, RFC 7519.

    ``scope_claim`` names the claim that holds ``read``, ``write`` or ``admin``; ``namespaces_claim`` the one with the
    patterns of namespaces that may be seen, empty where tokens say nothing of namespaces and every one may be.
    """

    issuer: str
    audience: str
    scope_claim: str = "scope"
    namespaces_claim: str = ""


@dataclass(frozen=True, slots=True)
class Proxies:
    """Proxies that say who asks, in a header that they set themselves; ``trusted`` are their addresses and networks.

    ``scope`` is what those users may do, ``namespaces_header`` names the header with the patterns of namespaces that
    one may see, empty where everybody may see all.
    """

    trusted: tuple[str, ...]
    user_header: str = "X-Forwarded-User"
    scope: str = "read"
    namespaces_header: str = ""


@dataclass(frozen=True, slots=True)
class ServerSettings:
    """All that an application can be told; every setting has its reason in docs/server.md.

    ``hosts`` are the names by which the server may be called, empty for any; ``index`` keeps the current edges in
    memory; what is older than ``keep`` is removed each day, None keeps all.
    """

    store: str | None = None
    auth: bool = False
    tokens: Tokens | None = None
    proxies: Proxies | None = None
    limits: Limits = field(default_factory=Limits)
    origins: tuple[str, ...] = ()
    hosts: tuple[str, ...] = ()
    index: bool = False
    keep: timedelta | None = None

    @property
    def authenticates(self) -> bool:
        """Whether it has to be known who asks."""
        return self.auth or self.tokens is not None or self.proxies is not None


@dataclass(frozen=True, slots=True)
class Listening:
    """Where and how a server listens; port 0 is any that is free, ``connections`` are those of each process."""

    host: str = "127.0.0.1"
    port: int = 5000
    workers: int = 1
    tls_cert: Path | None = None
    tls_key: Path | None = None
    log_format: str = "text"
    connections: int = 1_000

    @property
    def loopback(self) -> bool:
        """Whether only this machine can reach it."""
        return self.host in LOOPBACK


LOOPBACK = ("127.0.0.1", "::1", "localhost")
