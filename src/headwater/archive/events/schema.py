"""The columns of lines of sources, and of the events that are read from them."""

from pyspark.sql import Column
from pyspark.sql import functions as sf
from pyspark.sql.types import (
    ArrayType,
    BinaryType,
    BooleanType,
    DataType,
    LongType,
    StringType,
    StructField,
    StructType,
)

from headwater.model.time import DAY

TEXT, COUNT, FLAG, BYTES = StringType(), LongType(), BooleanType(), BinaryType()


def columns(**types: DataType) -> StructType:
    """A struct of columns that may be null."""
    return StructType([StructField(name, kind) for name, kind in types.items()])


def many(**types: DataType) -> ArrayType:
    """A list of structs."""
    return ArrayType(columns(**types))


LINE = columns(source=TEXT, place=TEXT, block=COUNT, packing=TEXT, value=BYTES)
"""A line of a source, or a whole packed file.

``place`` is where in the source it is; where that is null the line is one of those from byte ``block`` on, in order.
``packing`` is null for a line.
"""

LINEAGE = columns(
    fields=many(name=TEXT, own=TEXT),
    edges=many(
        field=TEXT,
        own=TEXT,
        input_namespace=TEXT,
        input_name=TEXT,
        input_field=TEXT,
        input_own=TEXT,
        subtype=TEXT,
        masking=FLAG,
        opaque=FLAG,
        description=TEXT,
    ),
)
"""The lineage of an output. ``own`` is the name of a field in lower case."""

FIELDS = columns(fields=many(name=TEXT, type=TEXT, own=TEXT))
"""A schema."""

SHAPE = StructType([*columns(shape=TEXT, namespace=TEXT, name=TEXT).fields, *LINEAGE.fields])
"""A shape: the lineage of an output, with its digest and the output."""

SCHEMA = StructType([*columns(schema=TEXT).fields, *FIELDS.fields])
"""A schema with its digest."""

EVENT = columns(
    digest=TEXT,
    at=COUNT,
    state=TEXT,
    run=TEXT,
    job_namespace=TEXT,
    job_name=TEXT,
    streaming=FLAG,
    engine=TEXT,
    error=TEXT,
    job_type=TEXT,
    sql=TEXT,
    description=TEXT,
    location=TEXT,
    parent=columns(run=TEXT, namespace=TEXT, name=TEXT),
    datasets=many(
        namespace=TEXT,
        name=TEXT,
        at=COUNT,
        written=FLAG,
        replaces=TEXT,
        schema=TEXT,
        source=TEXT,
        lifecycle=TEXT,
        version=TEXT,
        made_version=TEXT,
        restores=TEXT,
        description=TEXT,
    ),
    outputs=many(namespace=TEXT, name=TEXT, shape=TEXT),
    shapes=many(shape=TEXT, namespace=TEXT, name=TEXT, spelled=FLAG, packed=TEXT, whole=LINEAGE),
    schemas=many(schema=TEXT, spelled=FLAG, packed=TEXT, whole=FIELDS),
    gaps=many(kind=TEXT, what=TEXT, why=TEXT, output=TEXT),
    links=many(namespace=TEXT, name=TEXT, links=many(namespace=TEXT, name=TEXT, type=TEXT)),
    twins=many(namespace=TEXT, name=TEXT, at=COUNT, names=ArrayType(TEXT)),
    renames=TEXT,
    payload=TEXT,
)
"""An event; times are microseconds since 1970.

``outputs`` refer to ``shapes``, each the lineage of an output, and ``datasets`` to ``schemas``, by digests. A shape
or a schema is at least in one event of each partition that refers to it: `headwater.archive.events.packed_rows` unpacks
them; ``spelled`` says whether a name in them is not in lower case.
``links`` are other names (symlinks), ``twins`` fields that differ in case only.
``replaces``, ``made_version`` and ``restores`` of a dataset are those of its
`headwater.openlineage.reading.events.WrittenDataset`.
``renames`` is an event that changes names, as `headwater.openlineage.reading.json_values.names_alone` has it.
"""

REJECTED = columns(source=TEXT, place=TEXT, reason=TEXT, excerpt=TEXT)
"""A line that is no event."""

PARSED = StructType([StructField("event", EVENT), StructField("rejected", REJECTED)])
"""A line that was read: one of the two is NULL."""


def event_day() -> Column:
    """The day of an event as the number of days since 1970, in UTC."""
    return sf.floor(sf.col("at") / DAY)
