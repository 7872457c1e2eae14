"""Keys of names, which may be longer than a database can index; and the form in which endings are found."""

from functools import lru_cache
from hashlib import blake2b

from headwater.model import Dataset


def key_of(*parts: str) -> bytes:
    """A short key for names of any length; different parts give different keys.

    >>> key_of("a", "bc") == key_of("ab", "c")
    False
    """
    return blake2b(b"".join(b"%d:%s" % (len(p.encode()), p.encode()) for p in parts), digest_size=16).digest()


@lru_cache(maxsize=10_000)
def keys_of(field: str) -> tuple[bytes, bytes]:
    """The key of a field's name, and that of the name whatever its case: the same few names come again and again."""
    return key_of(field), key_of(field.casefold())


def folded(dataset: Dataset) -> str:
    """A dataset's full name with case and kind of separator taken away, for finding it by an ending.

    >>> folded(Dataset("file", "/Data/Gold.db/delays"))
    'file:.data.gold.db.delays'
    """
    return str(dataset).casefold().replace("/", ".")
