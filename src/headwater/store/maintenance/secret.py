"""The secret of a store: random bytes of its own."""

import os

from sqlalchemy import insert, select

from headwater.store import schema
from headwater.store.store import Store

_BYTES = 32
_KNOWN = select(schema.secret.c.value)


def secret_of(store: Store) -> bytes:
    """The secret of a store, which stays the same; made when it is first asked for.

    Raises:
        StoreError: the store cannot be read, or not be written where there is none yet.
    """
    with store.read() as connection:
        known = connection.execute(_KNOWN).scalar()
    return bytes(known) if known is not None else _made(store)


def _made(store: Store) -> bytes:
    with store.write() as connection:
        known = connection.execute(_KNOWN).scalar()  # by another process meanwhile
        if known is None:
            known = os.urandom(_BYTES)
            connection.execute(insert(schema.secret), {"value": known})
    return bytes(known)
