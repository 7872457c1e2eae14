"""Lists of rows of texts and flags as one short text: Python packs them, and Spark unpacks those that are distinct.

The same few names are in the edges of an output again and again: each is there once, and the rows have its number.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import orjson
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as sf
from pyspark.sql.types import ArrayType, BooleanType, IntegerType, StringType, StructField, StructType

Lists = Mapping[str, Sequence[Mapping[str, Any]]]

_TEXTS = "texts"
_NUMBERS = ArrayType(ArrayType(IntegerType()))
_LONGEST = 1_000_000  # characters of one text: Spark's reader of JSON refuses those of twenty million
_READ, _CONTENT = "read", "content"


def packed_rows(lists: Lists) -> str | None:
    """The text that lists of rows, by their names, are packed into; None where one of their texts is very long.

    >>> packed_rows({"fields": [{"name": "a", "own": "a"}, {"name": None, "own": True}]})
    '{"texts":["a"],"fields":[[0,0],[null,1]]}'
    """
    numbers: dict[str, int] = {}

    def number(value: object) -> int | None:
        if isinstance(value, str):
            return numbers.setdefault(value, len(numbers))
        return None if value is None else int(value is True)

    rows = {name: [list(map(number, one.values())) for one in some] for name, some in lists.items()}
    if any(len(text) > _LONGEST for text in numbers):
        return None
    return orjson.dumps({_TEXTS: list(numbers), **rows}).decode()


def unpacked(frame: DataFrame, lists: StructType) -> DataFrame:
    """The rows of a frame with their lists, in place of ``packed`` and of ``whole``, in which they are not packed.

    Args:
        frame: rows with these two columns.
        lists: the columns that the lists are, each of structs of texts and flags.
    """
    numbered = StructType(
        [StructField(_TEXTS, ArrayType(StringType())), *(StructField(one, _NUMBERS) for one in lists.names)]
    )
    read = frame.withColumn(_READ, sf.from_json("packed", numbered, {"mode": "FAILFAST"}))
    content = sf.struct(*map(_rows, lists.fields))
    whole = read.withColumn(_CONTENT, sf.when(sf.col("whole").isNull(), content).otherwise(sf.col("whole")))
    return whole.select("*", f"{_CONTENT}.*").drop(_READ, _CONTENT, "packed", "whole")


def _rows(column: StructField) -> Column:
    kind = column.dataType
    assert isinstance(kind, ArrayType)
    element = kind.elementType
    assert isinstance(element, StructType)
    texts = sf.col(f"{_READ}.{_TEXTS}")

    def row(numbers: Column) -> Column:
        members = []
        for place, member in enumerate(element.fields):
            number = numbers[place]
            value = number == 1 if isinstance(member.dataType, BooleanType) else texts[number]
            members.append(value.alias(member.name))
        return sf.struct(*members)

    return sf.transform(sf.col(f"{_READ}.{column.name}"), row).alias(column.name)
