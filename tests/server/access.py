"""Keys of every kind, and an identity provider of our own."""

import json
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import jwt
from cryptography.hazmat.primitives.asymmetric import rsa
from jwt.algorithms import RSAAlgorithm

from headwater.store import Store
from headwater.store.maintenance.keyring import issue, revoke

AUDIENCE = "headwater"


def keys(store: Store) -> dict[str, str]:
    """A token of each kind."""
    made = {scope: issue(store, f"{scope}er", scope)[1] for scope in ("read", "write", "admin")}
    made["expired"] = issue(store, "late", "admin", seconds=-1)[1]
    revoked, made["revoked"] = issue(store, "gone", "admin")
    revoke(store, revoked.id)
    made["elsewhere"] = issue(store, "elsewhere", "admin", ["other-*"])[1]
    made["wrong"] = made["admin"][:-1] + ("0" if made["admin"][-1] != "0" else "1")
    return made


def bearer(token: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {token}"}


@dataclass(frozen=True, slots=True)
class Provider:
    """An OpenID provider; ``asked`` counts the requests for its keys."""

    issuer: str
    key: rsa.RSAPrivateKey
    requested: list[str]

    def token(self, kid: str = "one", **claims: Any) -> str:
        """A token that is valid for a minute, unless claims say otherwise; a claim of None is left out."""
        usual = {"iss": self.issuer, "aud": AUDIENCE, "sub": "ann", "exp": time.time() + 60, "scope": "openid read"}
        present = {name: value for name, value in (usual | claims).items() if value is not None}
        return jwt.encode(present, self.key, algorithm="RS256", headers={"kid": kid})


@contextmanager
def provider() -> Iterator[Provider]:
    """An OpenID provider on this machine, for as long as the tests need it."""
    key = rsa.generate_private_key(public_exponent=65537, key_size=2048)
    requested: list[str] = []
    documents: dict[str, Mapping[str, Any]] = {}

    class Answers(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            requested.append(self.path)
            self.send_response(200 if self.path in documents else 404)
            self.end_headers()
            self.wfile.write(json.dumps(documents.get(self.path, {})).encode())

        def log_message(self, *_: object) -> None:
            """Says nothing."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Answers) as server:
        issuer = f"http://127.0.0.1:{server.server_port}"
        public = RSAAlgorithm.to_jwk(key.public_key(), as_dict=True) | {"kid": "one", "use": "sig"}
        documents["/.well-known/openid-configuration"] = {"issuer": issuer, "jwks_uri": f"{issuer}/keys"}
        documents["/keys"] = {"keys": [public]}
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            yield Provider(issuer, key, requested)
        finally:
            server.shutdown()
            thread.join()
