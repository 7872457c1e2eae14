"""Names of fields within columns, as Spark writes them: ``items.price``, with backticks around odd parts.

Elements of arrays are not named; a map has the parts ``key`` and ``value``.
"""

import re
from collections.abc import Iterable

_PART = re.compile(r"`((?:[^`]|``)*)`|([^.`]+)")


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
