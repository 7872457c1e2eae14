"""The fields within a column, from the text of its type: structs, elements of arrays, keys and values of maps.

The names are those of the OpenLineage Spark integration: ``_element`` for what is in an array, ``key`` and ``value``
for what is in a map (SchemaDatasetFacet 1-2-0, ``fields``).
"""

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache

from openlineage.client.generated.schema_dataset import SchemaDatasetFacetFields

_DEEPEST = 50
_UNNAMED = ("_element", "value")
_COLLECTION = re.compile(r"(struct|array|map)<(.*)>", re.DOTALL)


@lru_cache(maxsize=4096)
def nested_fields(kind: str, depth: int = 0) -> tuple[SchemaDatasetFacetFields, ...] | None:
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
    if match is None or depth > _DEEPEST:
        return None
    parts = list(_parts(match[2]))
    if match[1] == "struct":
        named = [part.partition(":") for part in parts if ":" in part]
        return tuple(_field(name, of, depth) for name, _, of in named) or None
    names = ("_element",) if match[1] == "array" else ("key", "value")
    return tuple(map(_field, names, parts, [depth] * len(names))) if len(parts) == len(names) else None


def has_field_within(kind: str | None, path: Sequence[str]) -> bool:
    """Whether a type has a field by that path; elements and values are not named in it, and case does not count.

    >>> has_field_within("array<struct<sku:string,tax:struct<rate:double>>>", ["tax", "Rate"])
    True
    >>> has_field_within("struct<sku:string>", ["price"])
    False
    """
    if not path or not kind:
        return not path
    return any(
        has_field_within(one.type, path[1:])
        if one.name.casefold() == path[0].casefold()
        else one.name in _UNNAMED and has_field_within(one.type, path)
        for one in nested_fields(kind) or ()
    )


def _field(name: str, kind: str, depth: int) -> SchemaDatasetFacetFields:
    fields = nested_fields(kind, depth + 1)
    return SchemaDatasetFacetFields(name, kind or None, fields=list(fields) if fields else None)


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
