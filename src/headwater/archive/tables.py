"""The tables of an archive: their columns, in what order their rows lie, and by what they are parted.

Times are timestamps with microseconds, in UTC. An id is a digest of names in 32 characters: equal in all tables, and
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
    "job_namespace": Made(_TEXT, "the namespace of the job"),
    "job_name": Made(_TEXT, "the name of the job"),
}
_TO = {
    "output_dataset_id": Made(_TEXT, "the dataset that is written", "dataset_id"),
    "output_namespace": Made(_TEXT, "its namespace", "dataset_namespace"),
    "output_dataset": Made(_TEXT, "what it is called now", "dataset"),
}
_TO_FIELD = {
    "output_field_id": Made(_TEXT, "the field that is written", "field_id"),
    "output_field": Made(_TEXT, "what it is called now", "field"),
}
_EDGE = {
    "input_dataset_id": Made(_TEXT, "the dataset that is read"),
    "input_namespace": Made(_TEXT, "its namespace", "input_dataset_namespace"),
    "input_dataset": Made(_TEXT, "what it is called now"),
    "input_field_id": Made(_TEXT, "the field that is read"),
    "input_field": Made(_TEXT, "what it is called now"),
    **_JOB,
    "type": Made(_TEXT, "DIRECT or INDIRECT"),
    "subtype": Made(_TEXT, "how the input takes part: IDENTITY, FILTER, …"),
    "masking": Made(_FLAG, "a function hides the value"),
    "opaque": Made(_FLAG, "the producer could not see inside the step"),
    "description": Made(_TEXT, "what the producer says of the step"),
    "valid_from": Made(_TIME, "since when it is so", "since"),
    "valid_to": Made(_TIME, "since when it is no longer so; NULL while it is", "until"),
    "current": Made(_FLAG, "whether it is so now"),
    "possibly_replaced_by": Made(_TEXT, "the last run that overwrote since, perhaps all", "replaced_by"),
    "possibly_replaced_at": Made(_TIME, "when that run ended", "replaced_at"),
    "runs": Made(_COUNT, "how many runs told it in that time"),
    "first_run": Made(_TEXT, "the first of them"),
    "last_run": Made(_TEXT, "the last of them"),
}
_EDGE_KEY = ("input_field_id", *_JOB, "subtype", "masking", "opaque", "description", "valid_from")
# Edges lie by ids: of texts Delta and Iceberg keep but the beginnings (32 and 16 characters) to skip files by.
TABLES: Mapping[str, Table] = MappingProxyType(
    {
        "events": Table(
            {
                "digest": Made(_TEXT, "equal for equal content"),
                "at": Made(_TIME, "eventTime"),
                "day": Made(DateType(), "its day, in UTC"),
                "state": Made(_TEXT, "eventType; DECLARED for job events and dataset events"),
                "run": Made(_TEXT, "the id of the run"),
                **_JOB,
                "payload": Made(_TEXT, "the event, as JSON with sorted keys"),
            },
            ("at", "digest"),
            ("day",),
            ("digest",),
        ),
        "runs": Table(
            {
                "run": Made(_TEXT, "the id of the run"),
                **_JOB,
                "state": Made(_TEXT, "its last state; NULL of a run that is told of as a parent only"),
                "state_at": Made(_TIME, "since when"),
                "started_at": Made(_TIME, "its first START"),
                "engine": Made(_TEXT, "what ran it"),
                "parent_run": Made(_TEXT, "the run that started it"),
                "error": Made(_TEXT, "its error message"),
            },
            ("job_namespace", "job_name", "state_at"),
            key=("run",),
        ),
        "jobs": Table(
            {
                "namespace": Made(_TEXT, "the namespace of the job"),
                "name": Made(_TEXT, "the name of the job"),
                "type": Made(_TEXT, "its type", "job_type"),
                "sql": Made(_TEXT, "its statement, at most 20,000 characters"),
                "description": Made(_TEXT, "what is said of it"),
                "location": Made(_TEXT, "where its source is"),
                "first_at": Made(_TIME, "when an event first spoke of it"),
                "last_at": Made(_TIME, "when one did last"),
            },
            ("namespace", "name"),
            key=("namespace", "name"),
        ),
        "datasets": Table(
            {
                "dataset_id": Made(_TEXT, "the dataset"),
                "namespace": Made(_TEXT, "its namespace", "dataset_namespace"),
                "name": Made(_TEXT, "what it is called now", "dataset"),
                "begun": Made(_TIME, "since when that is its name; NULL for ever"),
                "names": Made(_NAMES, "all its names, and when each was its own"),
                "source": Made(_TEXT, "the data source"),
                "lifecycle": Made(_TEXT, "the last change of its life"),
                "version": Made(_TEXT, "its last version"),
                "description": Made(_TEXT, "what is said of it"),
                "first_at": Made(_TIME, "when an event first spoke of it; NULL when only lineage did"),
                "last_at": Made(_TIME, "when one did last"),
            },
            ("namespace", "name"),
            key=("dataset_id",),
        ),
        "fields": Table(
            {
                "field_id": Made(_TEXT, "the field"),
                "dataset_id": Made(_TEXT, "its dataset"),
                "namespace": Made(_TEXT, "the dataset's namespace", "dataset_namespace"),
                "dataset": Made(_TEXT, "the dataset's name"),
                "name": Made(_TEXT, "what the field is called now", "field"),
                "type": Made(_TEXT, "its type in the last schema; NULL when it is not there"),
                "ordinal": Made(IntegerType(), "its place there, counted from 0"),
                "written": Made(_FLAG, "the last schema of a run that writes the dataset has it"),
                "left_out": Made(_FLAG, "a run that replaced all rows left it out: gone, unless an edge writes it now"),
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
        "coverage": Table(
            {
                "run": Made(_TEXT, "the id of the run"),
                **_JOB,
                "kind": Made(_TEXT, "what kind of gap"),
                "what": Made(_TEXT, "what was not understood"),
                "why": Made(_TEXT, "why, for a person"),
                "output": Made(_TEXT, "the output that it is about"),
            },
            ("job_namespace", "job_name"),
            key=("run", "kind", "what", "why", "output"),
        ),
        "quarantine": Table(
            {
                "source": Made(_TEXT, "the file or topic"),
                "place": Made(_TEXT, "the line, row or offset there"),
                "reason": Made(_TEXT, "why it is no event"),
                "excerpt": Made(_TEXT, "its first 1,000 characters"),
            },
            ("source",),
            key=("source", "place"),
        ),
    }
)
"""By name every table; `docs/archive.md` explains them."""
EDGES = ("column_edges", "dataset_edges")
"""The names of the tables of edges."""
ROOTS = Table(
    {
        "field_id": Made(_TEXT, "the field"),
        "namespace": Made(_TEXT, "its dataset's namespace"),
        "dataset": Made(_TEXT, "its dataset's name"),
        "field": Made(_TEXT, "what it is called now"),
        "root_field_id": Made(_TEXT, "a field that it is made of in the end, or itself"),
        "root_namespace": Made(_TEXT, "that one's namespace"),
        "root_dataset": Made(_TEXT, "its dataset"),
        "root_field": Made(_TEXT, "its name"),
        "distance": Made(IntegerType(), "how many edges are between them"),
        "cycle": Made(_FLAG, "the root is made of itself only"),
    },
    ("field_id", "distance"),
)
"""The table ``column_roots``, which is made when it is asked for."""
