"""Host names of a server, and trusted proxies that name their users."""

import ipaddress

from starlette.datastructures import Headers
from starlette.exceptions import HTTPException
from starlette.middleware.trustedhost import TrustedHostMiddleware
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from uvicorn.middleware.proxy_headers import ProxyHeadersMiddleware

from headwater.errors import SettingError
from headwater.server.auth import access
from headwater.server.problems import problem
from headwater.server.settings import ServerSettings

Network = ipaddress.IPv4Network | ipaddress.IPv6Network

ANY_HOST = ("/health", "/ready")
"""Paths that are answered under every host name: probes use the address."""

_LONGEST_NAME = 100
_TRUSTED = "trusted_proxy"


class HostCheck:
    """ASGI middleware that refuses requests with another host name (``*.example.org`` fits those below it).

    A page of another site can resolve its own name to this machine, and would be a page of this server then.
    Starlette's middleware decides; its refusal, a bare text, is replaced by one that names the hosts and the setting.
    """

    def __init__(self, app: ASGIApp, hosts: tuple[str, ...]) -> None:
        self._app = app
        self._hosts = hosts

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or scope["path"] in ANY_HOST or await self._is_allowed(scope, receive):
            await self._app(scope, receive, send)
            return
        host = Headers(scope=scope).get("host", "")[:_LONGEST_NAME]
        await problem(
            403,
            f"This server is called {' or '.join(self._hosts)}, not {host!r}. Use one of these names, or add it with "
            "--hosts (HEADWATER_HOSTS).",
        )(scope, receive, send)

    async def _is_allowed(self, scope: Scope, receive: Receive) -> bool:
        allowed = False

        async def admit(*_: object) -> None:
            nonlocal allowed
            allowed = True

        async def drop(_: Message) -> None:
            """Drop the refusal."""

        await TrustedHostMiddleware(admit, self._hosts, www_redirect=False)(scope, receive, drop)
        return allowed


class TrustedProxies:
    """ASGI middleware that marks requests of trusted proxies, and takes the client's address from their headers."""

    def __init__(self, app: ASGIApp, networks: tuple[Network, ...]) -> None:
        self._networks = networks
        self._app = ProxyHeadersMiddleware(app, [str(one) for one in networks])  # type: ignore[arg-type]

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http" and scope.get("client"):
            scope.setdefault("state", {})[_TRUSTED] = self._trusts(scope["client"][0])
        await self._app(scope, receive, send)  # type: ignore[arg-type]

    def _trusts(self, address: str) -> bool:
        try:
            peer = ipaddress.ip_address(address)
        except ValueError:
            return False
        mapped = getattr(peer, "ipv4_mapped", None)
        return any((mapped or peer) in network for network in self._networks)


def host_patterns(hosts: tuple[str, ...]) -> tuple[str, ...]:
    """Return host names as they stand in the Host header.

    Raises:
        SettingError: a name is not allowed.

    >>> host_patterns(("::1", "*.example.org"))
    ('[::1]', '*.example.org')
    """
    for one in hosts:
        if "*" in one.removeprefix("*.") and one != "*":
            raise SettingError(f"The host is {one!r}: expected a name, or *.example.org. Correct --hosts.")
    return tuple(f"[{one}]" if ":" in one else one for one in hosts)


def proxy_networks(proxies: tuple[str, ...]) -> tuple[Network, ...]:
    """Return the networks of trusted proxies.

    Raises:
        SettingError: an address is none, or fits everybody.
    """
    return tuple(map(_network, proxies))


def is_trusted(scope: Scope) -> bool:
    """Whether a request came from a trusted proxy."""
    return bool(scope.get("state", {}).get(_TRUSTED))


def proxied_caller(settings: ServerSettings, headers: Headers) -> access.Caller:
    """Return the caller that a trusted proxy names.

    Raises:
        HTTPException: 401, when it names none or several: the client's own header may be among them.
    """
    names = [one.strip() for one in headers.getlist(settings.proxy_user_header)]
    if len(names) != 1 or not names[0] or not names[0].isprintable():
        raise HTTPException(
            401,
            f"The proxy named {len(names)} users: expected one in {settings.proxy_user_header}, or a key. "
            "Let it set that header, and take out what clients send.",
            {"WWW-Authenticate": 'Bearer realm="headwater"'},
        )
    header = settings.proxy_namespaces_header
    namespaces = tuple(" ".join(headers.getlist(header)).replace(",", " ").split()) if header else ("*",)
    return access.Caller(names[0][:_LONGEST_NAME], access.Scope[settings.proxy_scope.upper()], namespaces)


def _network(text: str) -> Network:
    try:
        network = ipaddress.ip_network(text)
    except ValueError as fault:
        raise SettingError(
            f"The trusted proxy is {text!r} ({fault}): expected an address or a network such as 10.0.3.0/28. "
            "Correct --trusted-proxy."
        ) from None
    if network.prefixlen == 0:
        raise SettingError(
            f"The trusted proxy is {text!r}: anybody could say who they are. Name the proxy's own address."
        )
    return network
