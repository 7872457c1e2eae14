"""The tables of an archive: their columns, keys, partitions and order of rows.

Times are timestamps with microseconds, in UTC. An id is a digest of names in 32 characters, the same in all tables and
after each build.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as sf
from pyspark.sql.types import (
    ArrayType,
    BooleanType,
    DataType,
    DateType,
    IntegerType,
    LongType,
    StringType,
    StructField,
    StructType,
    TimestampType,
)

from headwater.errors import ArchiveTooNew

VERSION = 3
"""The version of the tables, the third since there is ``before_at`` of replacements.

It is in the metadata of every column, and in Iceberg a property of each table.
"""

PROPERTY = "headwater.version"
_TIME = TimestampType()


@dataclass(frozen=True, slots=True)
class TableColumn:
    """A column of a table: its type, its comment, and the folded rows' column that it is made of (of its own name)."""

    type: DataType
    comment: str
    source: str = ""


@dataclass(frozen=True, slots=True)
class Table:
    """A table: its columns by name, and those that its rows are ordered by, partitioned by and identified by."""

    columns: Mapping[str, TableColumn]
    order: tuple[str, ...]
    partitions: tuple[str, ...] = ()
    key: tuple[str, ...] = ()

    @property
    def schema(self) -> StructType:
        """The columns as Spark has them, with the version of the tables and their comments."""
        return StructType(
            [StructField(name, one.type, True, _metadata(one.comment)) for name, one in self.columns.items()]
        )

    def select_from(self, rows: DataFrame) -> DataFrame:
        """The table of folded rows, whose times are microseconds since 1970."""
        types = {one.name: one.dataType for one in rows.schema.fields}
        return rows.select(*(_column(name, one, types) for name, one in self.columns.items()))


def _column(name: str, column: TableColumn, types: Mapping[str, DataType]) -> Column:
    source = column.source or name
    value = sf.col(source)
    is_moment = column.type == _TIME and types[source] != _TIME
    typed = sf.timestamp_micros(value) if is_moment else value.cast(column.type)
    return typed.alias(name, metadata=_metadata(column.comment))


def _metadata(comment: str) -> dict[str, str | int]:
    return {"comment": comment, PROPERTY: VERSION}


def version_of(schema: StructType) -> int:
    """The version in the metadata of a table's columns, 0 where they have none."""
    return max((one.metadata.get(PROPERTY, 0) for one in schema.fields), default=0)


def require_version(table: str, version: int) -> None:
    """Raise ArchiveTooNew where a newer headwater wrote a table."""
    if version > VERSION:
        raise ArchiveTooNew(
            f"The table {table} has version {version}: expected {VERSION} at most. A newer headwater wrote it: upgrade "
            "this one, or build the archive anew elsewhere."
        )


_TEXT, _COUNT, _FLAG = StringType(), LongType(), BooleanType()
_NAMES = ArrayType(
    StructType(
        [
            StructField("namespace", _TEXT),
            StructField("name", _TEXT),
            StructField("valid_from", _TIME),
            StructField("valid_to", _TIME),
        ]
    )
)


_JOB = {
    "job_namespace": TableColumn(_TEXT, "the namespace of the job"),
    "job_name": TableColumn(_TEXT, "the name of the job"),
}
_TO = {
    "output_dataset_id": TableColumn(_TEXT, "the dataset that is written", "dataset_id"),
    "output_namespace": TableColumn(_TEXT, "its namespace", "dataset_namespace"),
    "output_dataset": TableColumn(_TEXT, "what it is called now", "dataset"),
}
_TO_FIELD = {
    "output_field_id": TableColumn(_TEXT, "the field that is written", "field_id"),
    "output_field": TableColumn(_TEXT, "what it is called now", "field"),
}
_EDGE = {
    "input_dataset_id": TableColumn(_TEXT, "the dataset that is read"),
    "input_namespace": TableColumn(_TEXT, "its namespace", "input_dataset_namespace"),
    "input_dataset": TableColumn(_TEXT, "what it is called now"),
    "input_field_id": TableColumn(_TEXT, "the field that is read"),
    "input_field": TableColumn(_TEXT, "what it is called now"),
    **_JOB,
    "type": TableColumn(_TEXT, "DIRECT or INDIRECT"),
    "subtype": TableColumn(_TEXT, "how the input takes part: IDENTITY, FILTER, …"),
    "masking": TableColumn(_FLAG, "a function hides the value"),
    "opaque": TableColumn(_FLAG, "the producer could not see inside the step"),
    "description": TableColumn(_TEXT, "what the producer says of the step"),
    "valid_from": TableColumn(_TIME, "since when it is so", "since"),
    "valid_to": TableColumn(_TIME, "since when it is no longer so; NULL while it is", "until"),
    "current": TableColumn(_FLAG, "whether it is so now"),
    "possibly_replaced_by": TableColumn(_TEXT, "the last run that overwrote since, perhaps all", "replaced_by"),
    "possibly_replaced_at": TableColumn(_TIME, "when that run ended", "replaced_at"),
    "runs": TableColumn(_COUNT, "how many runs reported it in that time"),
    "first_run": TableColumn(_TEXT, "the first of them"),
    "last_run": TableColumn(_TEXT, "the last of them"),
    "last_at": TableColumn(_TIME, "when that run ended; of a stream when it began to write"),
}
_EDGE_KEY = ("input_field_id", *_JOB, "subtype", "masking", "opaque", "description", "valid_from")
# Edges are ordered by ids: of texts Delta and Iceberg keep only the beginning (32 and 16 characters) to skip files by.
TABLES: Mapping[str, Table] = MappingProxyType(
    {
        "events": Table(
            {
                "digest": TableColumn(_TEXT, "equal for equal content"),
                "at": TableColumn(_TIME, "eventTime"),
                "day": TableColumn(DateType(), "its day, in UTC"),
                "state": TableColumn(_TEXT, "eventType; DECLARED for job events and dataset events"),
                "run": TableColumn(_TEXT, "the id of the run"),
                **_JOB,
                "payload": TableColumn(_TEXT, "the event, as JSON with sorted keys"),
            },
            ("at", "digest"),
            ("day",),
            ("digest",),
        ),
        "runs": Table(
            {
                "run": TableColumn(_TEXT, "the id of the run"),
                **_JOB,
                "state": TableColumn(_TEXT, "its last state; NULL of a run that is only named as a parent"),
                "state_at": TableColumn(_TIME, "since when"),
                "started_at": TableColumn(_TIME, "its first START"),
                "engine": TableColumn(_TEXT, "what ran it"),
                "parent_run": TableColumn(_TEXT, "the run that started it"),
                "error": TableColumn(_TEXT, "its error message"),
            },
            ("job_namespace", "job_name", "state_at"),
            key=("run",),
        ),
        "jobs": Table(
            {
                "namespace": TableColumn(_TEXT, "the namespace of the job"),
                "name": TableColumn(_TEXT, "the name of the job"),
                "type": TableColumn(_TEXT, "its type", "job_type"),
                "sql": TableColumn(_TEXT, "its statement, at most 20,000 characters"),
                "description": TableColumn(_TEXT, "its description"),
                "location": TableColumn(_TEXT, "where its source is"),
                "first_at": TableColumn(_TIME, "when an event first named it"),
                "last_at": TableColumn(_TIME, "when one did last"),
            },
            ("namespace", "name"),
            key=("namespace", "name"),
        ),
        "datasets": Table(
            {
                "dataset_id": TableColumn(_TEXT, "the dataset"),
                "namespace": TableColumn(_TEXT, "its namespace", "dataset_namespace"),
                "name": TableColumn(_TEXT, "what it is called now", "dataset"),
                "begun": TableColumn(_TIME, "since when that is its name; NULL for ever"),
                "names": TableColumn(_NAMES, "all its names, and when each was its own"),
                "source": TableColumn(_TEXT, "the data source"),
                "lifecycle": TableColumn(_TEXT, "the last change of its life"),
                "version": TableColumn(_TEXT, "its last version"),
                "description": TableColumn(_TEXT, "its description"),
                "first_at": TableColumn(_TIME, "when an event first described it; NULL when only lineage names it"),
                "last_at": TableColumn(_TIME, "when one did last"),
            },
            ("namespace", "name"),
            key=("dataset_id",),
        ),
        "fields": Table(
            {
                "field_id": TableColumn(_TEXT, "the field"),
                "dataset_id": TableColumn(_TEXT, "its dataset"),
                "namespace": TableColumn(_TEXT, "the dataset's namespace", "dataset_namespace"),
                "dataset": TableColumn(_TEXT, "the dataset's name"),
                "name": TableColumn(_TEXT, "what the field is called now", "field"),
                "type": TableColumn(_TEXT, "its type in the last schema; NULL when it is not there"),
                "ordinal": TableColumn(IntegerType(), "its place there, counted from 0"),
                "written": TableColumn(_FLAG, "the last schema of a run that writes the dataset has it"),
                "left_out": TableColumn(
                    _FLAG, "a run that replaced all rows left it out: gone, unless an edge writes it now"
                ),
            },
            ("namespace", "dataset", "name"),
            key=("field_id",),
        ),
        "column_edges": Table(
            {**_TO, **_TO_FIELD, **_EDGE},
            ("output_dataset_id", "output_field_id", "valid_from"),
            ("current",),
            ("output_field_id", *_EDGE_KEY),
        ),
        "dataset_edges": Table(
            {**_TO, **_EDGE},
            ("output_dataset_id", "input_field_id", "valid_from"),
            ("current",),
            ("output_dataset_id", *_EDGE_KEY),
        ),
        "replacements": Table(
            {
                "dataset_id": TableColumn(_TEXT, "the dataset"),
                "namespace": TableColumn(_TEXT, "its namespace", "dataset_namespace"),
                "dataset": TableColumn(_TEXT, "its name"),
                "run": TableColumn(_TEXT, "the run that replaced all of its rows, or may have", "by"),
                **_JOB,
                "at": TableColumn(_TIME, "when that run ended", "moment"),
                "certain": TableColumn(_FLAG, "it did; false where its producer does not say so"),
                "has_schema": TableColumn(_FLAG, "its events have the columns that the dataset has since"),
                "restores": TableColumn(_FLAG, "the rows are those of an earlier version", "is_restored"),
                "before_at": TableColumn(
                    _TIME, "when the job's runs before it with lineage of the dataset had ended; NULL without any"
                ),
            },
            ("dataset_id", "at"),
            key=("dataset_id", "run"),
        ),
        "coverage": Table(
            {
                "run": TableColumn(_TEXT, "the id of the run"),
                **_JOB,
                "kind": TableColumn(_TEXT, "what kind of gap"),
                "what": TableColumn(_TEXT, "what was not understood"),
                "why": TableColumn(_TEXT, "why, for a person"),
                "output": TableColumn(_TEXT, "the output that it is about"),
            },
            ("job_namespace", "job_name"),
            key=("run", "kind", "what", "why", "output"),
        ),
        "quarantine": Table(
            {
                "source": TableColumn(_TEXT, "the file or topic"),
                "place": TableColumn(_TEXT, "the line, row or offset there"),
                "reason": TableColumn(_TEXT, "why it is no event"),
                "excerpt": TableColumn(_TEXT, "its first 1,000 characters"),
            },
            ("source",),
            key=("source", "place"),
        ),
    }
)
"""Every table by its name; `docs/archive.md` explains them."""
EDGES = ("column_edges", "dataset_edges")
"""The names of the tables of edges."""
ROOTS = Table(
    {
        "field_id": TableColumn(_TEXT, "the field"),
        "namespace": TableColumn(_TEXT, "its dataset's namespace"),
        "dataset": TableColumn(_TEXT, "its dataset's name"),
        "field": TableColumn(_TEXT, "what it is called now"),
        "root_field_id": TableColumn(_TEXT, "a field that it is made of in the end, or itself"),
        "root_namespace": TableColumn(_TEXT, "that one's namespace"),
        "root_dataset": TableColumn(_TEXT, "its dataset"),
        "root_field": TableColumn(_TEXT, "its name"),
        "distance": TableColumn(IntegerType(), "how many edges are between them"),
        "cycle": TableColumn(_FLAG, "the root is made of itself only"),
    },
    ("field_id", "distance"),
)
"""The table ``column_roots``, which is made on demand."""
