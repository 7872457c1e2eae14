"""API keys: who may use a server, for what, until when; and the secret of a store. Of a key only a digest is kept."""

import json
import os
import re
import secrets
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from hashlib import sha256
from hmac import compare_digest
from typing import Any

from sqlalchemy import insert, select, update

from headwater.errors import SettingError, UnknownName
from headwater.model.time import SECOND, now
from headwater.store import schema
from headwater.store.store import Store

SCOPES = ("read", "write", "admin")
"""The scopes of keys; each includes those before it."""

_KEY = schema.api_key
_TOKEN = re.compile(r"hw_([0-9a-f]{12})_([0-9a-f]{64})")
_NOBODYS = bytes(32)
_SECRET_BYTES = 32


@dataclass(frozen=True, slots=True)
class Key:
    """A key without its secret; moments are microseconds since 1970, ``namespaces`` patterns as of the shell."""

    id: str
    name: str
    scope: str
    namespaces: tuple[str, ...]
    created_at: int
    expires_at: int | None = None
    revoked_at: int | None = None

    def valid(self, at: int) -> bool:
        """Whether it may be used at a moment."""
        return self.revoked_at is None and (self.expires_at is None or at < self.expires_at)


def issue(
    store: Store, name: str, scope: str, namespaces: Sequence[str] = ("*",), seconds: float | None = None
) -> tuple[Key, str]:
    """A new key and its token, which nobody can ask for again.

    Args:
        name: who uses it, for people and logs.
        scope: one of `SCOPES`.
        namespaces: patterns of those that may be seen and written, as of the shell: ``s3://sales-*``.
        seconds: how long it is valid; None for ever.

    Raises:
        SettingError: a scope that is none, no namespace, or an empty name.
        StoreError: the store cannot be written.
    """
    if scope not in SCOPES or not name.strip() or not all(namespaces) or not namespaces:
        raise SettingError(
            f"A key {name!r} with scope {scope!r} for the namespaces {list(namespaces)} cannot be made: "
            f"expected a name, one of {', '.join(SCOPES)}, and patterns that are not empty (* for every namespace)."
        )
    identity, secret, created_at = secrets.token_hex(6), secrets.token_hex(32), now()
    expires = None if seconds is None else created_at + int(seconds * SECOND)
    key = Key(identity, name.strip(), scope, tuple(namespaces), created_at, expires)
    with store.write() as connection:
        connection.execute(
            insert(_KEY), asdict(key) | {"namespaces": json.dumps(key.namespaces), "digest": _digest(secret)}
        )
    return key, f"hw_{identity}_{secret}"


def issued(store: Store) -> tuple[Key, ...]:
    """Every key that was ever made, the oldest first."""
    with store.read() as connection:
        return tuple(_key(row) for row in connection.execute(select(_KEY).order_by(_KEY.c.created_at, _KEY.c.id)))


def revoke(store: Store, identity: str) -> Key:
    """Ends a key at once; one that was revoked before stays as it was.

    Raises:
        UnknownName: no key has that id.
    """
    mine = _KEY.c.id == identity
    with store.write() as connection:
        connection.execute(update(_KEY).where(mine, _KEY.c.revoked_at.is_(None)).values(revoked_at=now()))
        row = connection.execute(select(_KEY).where(mine)).first()
    if row is None:
        raise UnknownName(f"No key has the id {identity[:50]!r}. `headwater keys list` lists them.")
    return _key(row)


def recognized(store: Store, token: str) -> Key | None:
    """The key of a token, None when there is none or when it was revoked or has expired."""
    parts = _TOKEN.fullmatch(token)
    if parts is None:
        return None
    with store.read() as connection:
        row = connection.execute(select(_KEY).where(_KEY.c.id == parts[1])).first()
    same = compare_digest(row.digest if row is not None else _NOBODYS, _digest(parts[2]))
    key = _key(row) if row is not None and same else None
    return key if key is not None and key.valid(now()) else None


def secret_of(store: Store) -> bytes:
    """Return the secret of a store, random bytes that stay the same; made where there is none yet.

    Raises:
        StoreError: the store cannot be read, or not be written where there is none yet.
    """
    question = select(schema.secret.c.value)
    with store.read() as connection:
        known = connection.execute(question).scalar()
    if known is None:
        with store.write() as connection:
            known = connection.execute(question).scalar()  # by another process meanwhile
            if known is None:
                known = os.urandom(_SECRET_BYTES)
                connection.execute(insert(schema.secret), {"value": known})
    return bytes(known)


def _key(row: Any) -> Key:
    namespaces = tuple(json.loads(row.namespaces))
    return Key(row.id, row.name, row.scope, namespaces, row.created_at, row.expires_at, row.revoked_at)


def _digest(secret: str) -> bytes:
    # Of 256 random bits: there is nothing to guess, so nothing that a slow digest would make harder.
    return sha256(secret.encode()).digest()
