"""What stands before a server: the names that it is called by, and the proxies that say who asks."""

import ipaddress

from starlette.datastructures import Headers
from starlette.exceptions import HTTPException
from starlette.middleware.trustedhost import TrustedHostMiddleware
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from uvicorn.middleware.proxy_headers import ProxyHeadersMiddleware

from headwater.errors import SettingError
from headwater.server import access
from headwater.server.problems import problem
from headwater.server.settings import ServerSettings

Network = ipaddress.IPv4Network | ipaddress.IPv6Network

ANY_NAME = ("/health", "/ready")
"""What is answered whatever the server is called: those who look after it call it by its address."""

_LONGEST_NAME = 100
_TRUSTED = "trusted_proxy"


class KnownHosts:
    """ASGI middleware: refuses requests that call the server by another name (``*.example.org`` fits those below it).

    A page of another site can have its own name lead to this machine, and would be a page of this server then.
    """

    def __init__(self, app: ASGIApp, hosts: tuple[str, ...]) -> None:
        self._app = app
        self._hosts = hosts

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or scope["path"] in ANY_NAME or await self._is_known(scope, receive):
            await self._app(scope, receive, send)
            return
        host = Headers(scope=scope).get("host", "")[:_LONGEST_NAME]
        await problem(
            403,
            f"This server is called {' or '.join(self._hosts)}, not {host!r}. Use one of these names, or add it with "
            "--hosts (HEADWATER_HOSTS).",
        )(scope, receive, send)

    async def _is_known(self, scope: Scope, receive: Receive) -> bool:
        known = False

        async def admit(*_: object) -> None:
            nonlocal known
            known = True

        async def drop(_: Message) -> None:
            """Its refusal is a bare text."""

        await TrustedHostMiddleware(admit, self._hosts, www_redirect=False)(scope, receive, drop)
        return known


class FromProxies:
    """ASGI middleware: notes which requests come from a trusted proxy, and takes the client's address from those."""

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
    """Names of a server as they stand in the Host header.

    Raises:
        SettingError: one that is none.

    >>> host_patterns(("::1", "*.example.org"))
    ('[::1]', '*.example.org')
    """
    for one in hosts:
        if "*" in one.removeprefix("*.") and one != "*":
            raise SettingError(f"The host is {one!r}: expected a name, or *.example.org. Correct --hosts.")
    return tuple(f"[{one}]" if ":" in one else one for one in hosts)


def networks_of(proxies: tuple[str, ...]) -> tuple[Network, ...]:
    """The networks of trusted proxies.

    Raises:
        SettingError: one that is none, or is everybody.
    """
    return tuple(map(_network, proxies))


def is_trusted(scope: Scope) -> bool:
    """Whether a request came from a trusted proxy."""
    return bool(scope.get("state", {}).get(_TRUSTED))


def caller_of(settings: ServerSettings, headers: Headers) -> access.Caller:
    """Who a trusted proxy says that asks.

    Raises:
        HTTPException: 401, when it names nobody, or more than one: the client's own header may be among them.
    """
    names = [one.strip() for one in headers.getlist(settings.proxy_user_header)]
    if len(names) != 1 or not names[0] or not names[0].isprintable():
        raise HTTPException(
            401,
            f"The proxy named {len(names)} users: expected one in {settings.proxy_user_header}, or a key. "
            "Let it set that header, and take out what clients send.",
            {"WWW-Authenticate": 'Bearer realm="headwater"'},
        )
    wanted = settings.proxy_namespaces_header
    namespaces = tuple(" ".join(headers.getlist(wanted)).replace(",", " ").split()) if wanted else ("*",)
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
