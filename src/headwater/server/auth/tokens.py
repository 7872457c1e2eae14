"""Bearer tokens of an identity provider: JWT (RFC 7519), found by OpenID Connect Discovery 1.0."""

import json
import threading
import time
import urllib.request
from typing import Any
from urllib.parse import urlsplit

import jwt
from jwt import PyJWK, PyJWKClient
from jwt.exceptions import PyJWKClientError, PyJWTError
from starlette.exceptions import HTTPException

from headwater.errors import SettingError, StoreUnavailable
from headwater.server.auth.access import Caller, Scope
from headwater.server.settings import LOOPBACK, ServerSettings

_ALGORITHMS = ("RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "EdDSA")
_NAMES = ("preferred_username", "email", "client_id", "azp", "sub")
_LEEWAY = 30  # seconds by which clocks may differ
_RETRY_SECONDS = 10.0  # seconds between two requests for an unknown key: anybody can make up the id of one
_TIMEOUT = 5.0


class Verifier:
    """Verifies tokens with the keys that their issuer publishes, which are read when the first token comes.

    Raises:
        SettingError: the issuer is not an HTTPS address.
    """

    def __init__(self, settings: ServerSettings) -> None:
        address = urlsplit(settings.oidc_issuer)
        if address.scheme != "https" and not (address.scheme == "http" and address.hostname in LOOPBACK):
            raise SettingError(
                f"The issuer of tokens is {settings.oidc_issuer!r}: expected an https:// address. "
                "Correct --oidc-issuer."
            )
        self._settings = settings
        self._lock = threading.Lock()
        self._client: PyJWKClient | None = None
        self._fetched_at = -_RETRY_SECONDS
        self._silent_until = 0.0

    def caller(self, token: str) -> Caller | None:
        """Return the caller of a token, None when it is not valid.

        Raises:
            HTTPException: 403, when the token has no scope of this server.
            StoreUnavailable: the identity provider does not answer.
        """
        try:
            key = self._key(jwt.get_unverified_header(token).get("kid"))
            if key is None:
                return None
            claims = jwt.decode(
                token,
                key,
                algorithms=_ALGORITHMS,
                audience=self._settings.oidc_audience,
                issuer=self._settings.oidc_issuer,
                leeway=_LEEWAY,
                options={"require": ["exp", "iss", "aud"]},
            )
        except PyJWKClientError as fault:
            raise _unreachable(self._settings.oidc_issuer, fault) from fault
        except PyJWTError:
            return None
        return self._caller(claims)

    def _caller(self, claims: dict[str, Any]) -> Caller:
        name = next((str(claims[one])[:100] for one in _NAMES if claims.get(one)), "token")
        claim = self._settings.oidc_scope_claim
        words = {word.removeprefix("headwater:") for word in _words(claims.get(claim))}
        scopes = [scope for scope in Scope if scope.name.lower() in words]
        if not scopes:
            raise HTTPException(
                403,
                f"The token of {name} has none of read, write, admin in its claim {claim!r}.",
            )
        claim = self._settings.oidc_namespaces_claim
        return Caller(name, max(scopes), tuple(_words(claims.get(claim))) if claim else ("*",))

    def _key(self, kid: str | None) -> PyJWK | None:
        with self._lock:
            client = self._client or self._discover()
            known = client.match_kid(client.get_signing_keys(), kid) if kid else None
            if kid and known is None and time.monotonic() - self._fetched_at >= _RETRY_SECONDS:
                self._fetched_at = time.monotonic()
                known = client.match_kid(client.get_signing_keys(refresh=True), kid)
            return known

    def _discover(self) -> PyJWKClient:
        if time.monotonic() < self._silent_until:
            raise _unreachable(self._settings.oidc_issuer, "it did not answer a moment ago")
        place = self._settings.oidc_issuer.rstrip("/") + "/.well-known/openid-configuration"
        try:
            with urllib.request.urlopen(place, timeout=_TIMEOUT) as answer:
                found = json.load(answer)
            if found["issuer"] != self._settings.oidc_issuer:
                raise ValueError(f"it calls itself {found['issuer']!r}")
            self._client = PyJWKClient(found["jwks_uri"], timeout=int(_TIMEOUT))
        except (OSError, ValueError, KeyError, TypeError) as fault:
            # Requests wait for it here: made-up tokens must not hold every thread.
            self._silent_until = time.monotonic() + _RETRY_SECONDS
            raise _unreachable(self._settings.oidc_issuer, fault) from fault
        self._fetched_at = time.monotonic()
        return self._client


def _words(value: Any) -> list[str]:
    """Return a claim as a list: it is one, or a text with spaces in between (RFC 8693, section 4.2)."""
    return [str(one) for one in value] if isinstance(value, list) else str(value or "").split()


def _unreachable(issuer: str, fault: object) -> StoreUnavailable:
    return StoreUnavailable(f"The keys of {issuer} cannot be read ({fault}). Try again when the provider answers.")
