"""Which transformations hide a value: what an event says, counts aside, and what a file of tags declares."""

from collections.abc import Collection
from functools import lru_cache

import sqlglot
from sqlglot import exp
from sqlglot.errors import SqlglotError

from headwater.model import Subtype, Transformation
from headwater.store.questions.walk.tag_walk import Arriving

COUNT = "count"
HIDING = frozenset({"crc32", "hash", "mask", "md5", "sha", "sha1", "sha2", "xxhash64"})
"""The functions that Spark has and that hide a value, without those that count."""


def arriving(transformation: Transformation, declared: frozenset[str]) -> Arriving | None:
    """Return what of a tagged value is left behind a transformation.

    Opaque ones let the value through, whatever they say: nobody has seen that they mask. Events call aggregates that
    count masking (columnLineage facet 1-2-0); a tag goes on over these unless ``count`` is declared, as a count of few
    rows says who is in them. Only an edge with its expression shows whether it is a count or the hash of an aggregate.

    Args:
        transformation: the transformation of an edge.
        declared: further functions that hide a value, in lower case.
    """
    if transformation.opaque or transformation.guess:
        return Arriving.VALUE if transformation.direct else Arriving.INFLUENCE
    hidden = _hidden(transformation, declared)
    if transformation.direct:
        return Arriving.MASKED if hidden else Arriving.VALUE
    return None if hidden else Arriving.INFLUENCE


def _hidden(transformation: Transformation, declared: frozenset[str]) -> bool:
    if transformation.masking and (transformation.subtype is not Subtype.AGGREGATION or COUNT in declared):
        return True
    functions = declared | HIDING if transformation.masking else declared
    return bool(functions and transformation.description) and covers(transformation.description, functions)


@lru_cache(10_000)
def covers(expression: str, functions: frozenset[str]) -> bool:
    """Return whether every column of an expression of Spark SQL is inside a call of one of the functions.

    >>> covers("concat(sha2(email, 256), '@')", HIDING), covers("concat(sha2(email, 256), name)", HIDING)
    (True, False)
    """
    try:
        tree = sqlglot.parse_one(expression, read="spark")
    except SqlglotError:
        return False
    columns = list(tree.find_all(exp.Column))
    return bool(columns) and all(_is_inside(column, functions) for column in columns)


def _is_inside(column: exp.Column, functions: Collection[str]) -> bool:
    above = column.find_ancestor(exp.Func)
    while above is not None:
        names = [above.name] if isinstance(above, exp.Anonymous) else above.sql_names()
        if any(name.lower() in functions for name in names):
            return True
        above = above.find_ancestor(exp.Func)
    return False
