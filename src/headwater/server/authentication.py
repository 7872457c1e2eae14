"""Who sends a request: by an API key, a token of an identity provider, a trusted proxy, or anybody on this machine."""

import time
from hashlib import sha256
from urllib.parse import urlsplit

from fastapi import Request
from starlette.datastructures import Headers
from starlette.exceptions import HTTPException

from headwater.redaction import redact
from headwater.server.access import ANYBODY, Caller, Scope
from headwater.server.proxies import caller_of, is_trusted
from headwater.server.settings import ServerSettings
from headwater.server.tokens import Verifier
from headwater.store import Store
from headwater.store.maintenance import keyring

REMEMBERED = 3.0
"""Seconds for which a key that was looked up is believed. A stream asks again each second, and must end within five."""

_MOST_REMEMBERED = 10_000


class Authentication:
    """Finds the caller of a request; made once for a server.

    Raises:
        SettingError: the identity provider of the settings cannot be used.
    """

    def __init__(self, settings: ServerSettings, store: Store) -> None:
        self.on = settings.authenticates
        self._settings = settings
        self._store = store
        self._verifier = Verifier(settings) if settings.oidc_issuer else None
        self._known: dict[bytes, tuple[float, Caller]] = {}

    def is_at_hand(self, request: Request) -> bool:
        """Whether `caller` needs neither the store nor an identity provider."""
        credential = _credential(request.headers) if self.on else None
        return credential is None or self._remembered(credential) is not None

    def caller(self, request: Request) -> Caller:
        """Who sends a request.

        Raises:
            HTTPException: 401 without a valid key or token, and from a trusted proxy that names no user; 403 from a
                page of another site, when browser or proxy let it in, or for a token without a scope.
            StoreError: the key cannot be looked up.
        """
        if not self.on:
            _require_own_site(request, self._settings)
            return ANYBODY
        credential = _credential(request.headers)
        if credential is None and is_trusted(request.scope):
            # A browser sends along what the proxy knows its user by, whichever page asks.
            _require_own_site(request, self._settings)
            return caller_of(self._settings, request.headers)
        if credential is None:
            raise _unauthorized("No key or token was sent: expected Authorization: Bearer KEY, or X-API-Key.")
        return self._remembered(credential) or self._looked_up(credential)

    def _remembered(self, credential: str) -> Caller | None:
        until, caller = self._known.get(_place(credential), (0.0, ANYBODY))
        return caller if time.monotonic() < until else None

    def _looked_up(self, credential: str) -> Caller:
        found = self._of_key(credential) if credential.startswith("hw_") else self._of_token(credential)
        if found is None:
            raise _unauthorized(
                "The key or token is not valid: unknown, expired, or revoked. Ask who runs the server for another.",
                ', error="invalid_token"',
            )
        if len(self._known) >= _MOST_REMEMBERED:
            self._known.clear()
        self._known[_place(credential)] = (time.monotonic() + REMEMBERED, found)
        return found

    def _of_key(self, credential: str) -> Caller | None:
        key = keyring.recognized(self._store, credential)
        return Caller(key.name, Scope[key.scope.upper()], key.namespaces) if key is not None else None

    def _of_token(self, credential: str) -> Caller | None:
        return self._verifier.caller(credential) if self._verifier is not None else None


def _place(credential: str) -> bytes:
    return sha256(credential.encode()).digest()


def _credential(headers: Headers) -> str | None:
    """RFC 6750, section 2.1; and the header that tools without a notion of bearers can set."""
    scheme, _, token = headers.get("authorization", "").partition(" ")
    return (token.strip() if scheme.lower() == "bearer" else headers.get("x-api-key", "").strip()) or None


def _unauthorized(message: str, error: str = "") -> HTTPException:
    return HTTPException(401, message, {"WWW-Authenticate": f'Bearer realm="headwater"{error}'})


def _require_own_site(request: Request, settings: ServerSettings) -> None:
    """Any page in a browser on this machine can send requests to it: only those of this server's own pages count."""
    origin = request.headers.get("origin")
    if origin and origin not in settings.cors_origin and urlsplit(origin).netloc != request.headers.get("host"):
        raise HTTPException(
            403,
            f"A page of another site asks, {redact(origin[:100])}: add it with --cors-origin if it may. Where it is "
            "this server's own, let the proxy pass the Host header on.",
        )
