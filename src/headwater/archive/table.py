"""What a table of an archive is: its columns, in what order its rows lie, and the version that is written with it."""

from collections.abc import Mapping
from dataclasses import dataclass

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as sf
from pyspark.sql.types import DataType, StructField, StructType, TimestampType

from headwater.errors import ArchiveTooNew

VERSION = 1
"""Of the tables. It is in the metadata of every column, and in Iceberg a property of each table."""

PROPERTY = "headwater.version"
_TIME = TimestampType()


@dataclass(frozen=True, slots=True)
class Made:
    """A column of a table: its type, what it says, and the column of the folded rows that it is made of."""

    type: DataType
    what: str
    of: str = ""


@dataclass(frozen=True, slots=True)
class Table:
    """A table: its columns by name, and those that its rows are ordered by, parted by and told apart by."""

    columns: Mapping[str, Made]
    order: tuple[str, ...]
    parts: tuple[str, ...] = ()
    key: tuple[str, ...] = ()

    @property
    def schema(self) -> StructType:
        """The columns as Spark has them, with the version of the tables and what each says."""
        return StructType(
            [StructField(name, one.type, True, _metadata(one.what)) for name, one in self.columns.items()]
        )

    def made_of(self, rows: DataFrame) -> DataFrame:
        """The table of folded rows, whose times are microseconds since 1970."""
        types = {one.name: one.dataType for one in rows.schema.fields}
        return rows.select(*(_column(name, one, types) for name, one in self.columns.items()))


def _column(name: str, made: Made, types: Mapping[str, DataType]) -> Column:
    of = made.of or name
    value = sf.col(of)
    is_moment = made.type == _TIME and types[of] != _TIME
    return (sf.timestamp_micros(value) if is_moment else value.cast(made.type)).alias(
        name, metadata=_metadata(made.what)
    )


def _metadata(what: str) -> dict[str, str | int]:
    return {"comment": what, PROPERTY: VERSION}


def version_of(schema: StructType) -> int:
    """The version of a table by its columns, 0 where they do not say."""
    return max((one.metadata.get(PROPERTY, 0) for one in schema.fields), default=0)


def require_version(table: str, version: int) -> None:
    """Raises ArchiveTooNew where a newer headwater wrote a table."""
    if version > VERSION:
        raise ArchiveTooNew(
            f"The table {table} has version {version}: expected {VERSION} at most. A newer headwater wrote it: upgrade "
            "this one, or build the archive anew elsewhere."
        )
