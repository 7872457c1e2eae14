"""Fields within columns: their names as Spark writes them, and those within the text of a type.

A name is ``items.price``, with backticks around odd parts. Elements of arrays are not named; a map has the parts
``key`` and ``value``. In types the names are those of the OpenLineage Spark integration: ``_element`` for what is in an
array, ``key`` and ``value`` for what is in a map (SchemaDatasetFacet 1-2-0, ``fields``).
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache

from headwater.model.dataset import SchemaField

_COLLECTION = re.compile(r"(struct|array|map)<(.*)>", re.DOTALL)
_PART = re.compile(r"`((?:[^`]|``)*)`|([^.`]+)")

Path = tuple[str, ...]
"""The names of fields from a column inwards; elements of arrays have none."""


def nested_name(parts: Iterable[str]) -> str:
    """The name of a field within a column, from the column's name and those of the fields on the way to it.

    >>> nested_name(["orders", "items", "price"]), nested_name(["a.b", "c"])
    ('orders.items.price', '`a.b`.c')
    """
    return ".".join(map(_quoted, parts))


def name_parts(name: str) -> tuple[str, ...]:
    """The parts of a name that `nested_name` wrote: the column first.

    >>> name_parts("`a.b`.`c``d`"), name_parts("id")
    (('a.b', 'c`d'), ('id',))
    """
    return tuple(one[1].replace("``", "`") if one[2] is None else one[2] for one in _PART.finditer(name))


def _quoted(part: str) -> str:
    return f"`{part.replace('`', '``')}`" if not part or "." in part or "`" in part else part


@lru_cache(maxsize=4096)
def nested_fields(kind: str) -> tuple[SchemaField, ...] | None:
    """The fields within a type as Spark's catalog writes it (``DataType.catalogString``); None when it has none.

    Catalog texts do not quote names: a struct with a field whose name has a bracket, comma or colon gives what
    can be read of it, or None.

    >>> [field.name for field in nested_fields("struct<city:string,tags:array<string>>")]
    ['city', 'tags']
    >>> nested_fields("map<string,int>")[1].type
    'int'
    >>> nested_fields("decimal(10,2)") is None
    True
    """
    match = _COLLECTION.fullmatch(kind)
    if match is None:
        return None
    parts = list(_parts(match[2]))
    if match[1] == "struct":
        named = [part.partition(":") for part in parts if ":" in part]
        return tuple(SchemaField(name, of) for name, _, of in named) or None
    names = ("_element",) if match[1] == "array" else ("key", "value")
    return tuple(map(SchemaField, names, parts)) if len(parts) == len(names) else None


def field_within(kind: str, path: Sequence[str]) -> tuple[Path, str] | None:
    """Return the path of a field within a type in the type's spelling, and the field's type; None where it has none.

    Neither ``_element`` nor ``value`` need be in the path, and case does not count.

    >>> field_within("array<struct<sku:string,tax:struct<rate:double>>>", ["tax", "Rate"])
    (('tax', 'rate'), 'double')
    >>> field_within("map<string,struct<price:double>>", ["price"])
    (('value', 'price'), 'double')
    >>> field_within("struct<sku:string>", ["price"])
    """
    if not path:
        return (), kind
    in_array = kind.startswith("array<")
    for one in nested_fields(kind) or ():
        own = () if in_array else (one.name,)
        named = one.name.casefold() == path[0].casefold()
        transparent = in_array or (kind.startswith("map<") and one.name == "value")
        for rest in ([path[1:]] if named else []) + ([path] if transparent else []):
            if (found := field_within(one.type, rest)) is not None:
                return (*own, *found[0]), found[1]
    return None


@lru_cache(maxsize=4096)
def paths_within(kind: str) -> tuple[Path, ...]:
    """Return the paths of all fields within a type, each before those within it.

    >>> paths_within("array<struct<sku:string,tax:struct<rate:double>>>")
    (('sku',), ('tax',), ('tax', 'rate'))
    """
    found: list[Path] = []
    for one in nested_fields(kind) or ():
        own = () if kind.startswith("array<") else (one.name,)
        found += [own] if own else []
        found += ((*own, *path) for path in paths_within(one.type))
    return tuple(found)


def _parts(text: str) -> Iterator[str]:
    """The parts of a text between those commas that no bracket encloses."""
    start = depth = 0
    for place, letter in enumerate(text):
        if letter in "<(":
            depth += 1
        elif letter in ">)":
            depth -= 1
        elif letter == "," and depth == 0:
            yield text[start:place]
            start = place + 1
    yield text[start:]
