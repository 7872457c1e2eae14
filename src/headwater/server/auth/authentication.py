"""Authentication: by an API key, a token of an identity provider, a trusted proxy, or nothing on this machine."""

import time
from hashlib import sha256
from urllib.parse import urlsplit

from fastapi import Request
from starlette.datastructures import Headers
from starlette.exceptions import HTTPException

from headwater.redaction import redact
from headwater.server.auth.access import ANYBODY, Caller, Scope
from headwater.server.auth.proxies import is_trusted, proxied_caller
from headwater.server.auth.tokens import Verifier
from headwater.server.settings import ServerSettings
from headwater.store import Store
from headwater.store.maintenance import keyring

CACHE_SECONDS = 3.0
"""Seconds for which a caller is cached. A stream checks its key each second, and must end within five."""

_CACHE_SIZE = 10_000


class Authentication:
    """The callers of requests, by their credentials.

    Raises:
        SettingError: the identity provider of the settings cannot be used.
    """

    def __init__(self, settings: ServerSettings, store: Store) -> None:
        self.on = settings.authenticates
        self._settings = settings
        self._store = store
        self._verifier = Verifier(settings) if settings.oidc_issuer else None
        self._cache: dict[bytes, tuple[float, Caller]] = {}

    def is_cached(self, request: Request) -> bool:
        """Whether `caller` needs neither the store nor an identity provider."""
        credential = _credential(request.headers) if self.on else None
        return credential is None or self._cached(credential) is not None

    def caller(self, request: Request) -> Caller:
        """Return the caller of a request.

        Raises:
            HTTPException: 401 without a valid key or token, and from a trusted proxy that names no user; 403 for a
                page of another site, where browser or proxy authenticate it, or for a token without a scope.
            StoreError: the store cannot be read.
        """
        if not self.on:
            _require_own_site(request, self._settings)
            return ANYBODY
        credential = _credential(request.headers)
        if credential is None and is_trusted(request.scope):
            # A browser sends the credentials for the proxy with requests of any page.
            _require_own_site(request, self._settings)
            return proxied_caller(self._settings, request.headers)
        if credential is None:
            raise _unauthorized(
                "The request has no key or token: expected the header Authorization: Bearer KEY, or X-API-Key: KEY."
            )
        return self._cached(credential) or self._look_up(credential)

    def _cached(self, credential: str) -> Caller | None:
        until, caller = self._cache.get(_digest(credential), (0.0, ANYBODY))
        return caller if time.monotonic() < until else None

    def _look_up(self, credential: str) -> Caller:
        if credential.startswith("hw_"):
            key = keyring.recognized(self._store, credential)
            found = Caller(key.name, Scope[key.scope.upper()], key.namespaces) if key is not None else None
        else:
            found = self._verifier.caller(credential) if self._verifier is not None else None
        if found is None:
            raise _unauthorized(
                "The key or token is unknown, expired or revoked. Ask the administrator of the server for another.",
                ', error="invalid_token"',
            )
        if len(self._cache) >= _CACHE_SIZE:
            self._cache.clear()
        self._cache[_digest(credential)] = (time.monotonic() + CACHE_SECONDS, found)
        return found


def _digest(credential: str) -> bytes:
    return sha256(credential.encode()).digest()


def _credential(headers: Headers) -> str | None:
    """Return the credential of RFC 6750, section 2.1, or of the header for tools without bearer tokens."""
    scheme, _, token = headers.get("authorization", "").partition(" ")
    return (token.strip() if scheme.lower() == "bearer" else headers.get("x-api-key", "").strip()) or None


def _unauthorized(message: str, error: str = "") -> HTTPException:
    return HTTPException(401, message, {"WWW-Authenticate": f'Bearer realm="headwater"{error}'})


def _require_own_site(request: Request, settings: ServerSettings) -> None:
    """Refuse pages of other sites: any page in a browser on this machine can send requests to it."""
    origin = request.headers.get("origin")
    if origin and origin not in settings.cors_origin and urlsplit(origin).netloc != request.headers.get("host"):
        raise HTTPException(
            403,
            f"The request comes from a page of another site, {redact(origin[:100])}: add that site with --cors-origin "
            "to allow it. If it is this server's own page, let the proxy pass the Host header on.",
        )
