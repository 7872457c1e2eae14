"""Keys of names, which may be longer than a database can index; and the form in which endings are found."""

from collections.abc import Iterable
from functools import lru_cache
from hashlib import blake2b

from headwater.model import Dataset


def key_of(*parts: str) -> bytes:
    """A short key for names of any length; different parts give different keys.

    >>> key_of("a", "bc") == key_of("ab", "c")
    False
    """
    encoded = [part.encode() for part in parts]
    return blake2b(b"".join([b"%d:%s" % (len(part), part) for part in encoded]), digest_size=16).digest()


@lru_cache(maxsize=20_000)
def keys_of(field: str) -> tuple[bytes, bytes]:
    """The key of a field's name, and that of the name whatever its case: the same few names come again and again."""
    return key_of(field), key_of(field.casefold())


def touched_digest(read: Iterable[int], written: Iterable[int]) -> bytes | None:
    """A digest of the datasets that a run read, and of those that it wrote; None when there are none.

    >>> touched_digest([2, 1], []) == touched_digest([1, 2], []) != touched_digest([1], [2])
    True
    """
    sides = [",".join(map(str, sorted(ids))) for ids in (read, written)]
    return key_of(*sides) if any(sides) else None


def folded(dataset: Dataset) -> str:
    """A dataset's full name with case and kind of separator taken away, for finding it by an ending.

    >>> folded(Dataset("file", "/Data/Gold.db/delays"))
    'file:.data.gold.db.delays'
    """
    return str(dataset).casefold().replace("/", ".")
