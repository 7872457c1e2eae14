"""Copies every row of a store into another one, of either kind of database."""

from collections.abc import Iterable, Iterator
from typing import Any

from sqlalchemy import Connection, Integer, Table, bindparam, delete, func, insert, select, update

from headwater.store import schema

_AT_ONCE = 1_000
_RUN = schema.run
_ADOPT = update(_RUN).where(_RUN.c.id == bindparam("row")).values(parent_id=bindparam("parent"))

Rows = list[dict[str, Any]]


def copy(source: Connection, target: Connection) -> int:
    """Copies all rows into empty tables of the same schema, ids included; how many there were."""
    copied = sum(_copy_table(source, target, table) for table in schema.metadata.sorted_tables)
    for rows in _batches(source, select(_RUN.c.id.label("row"), _RUN.c.parent_id.label("parent")), _RUN):
        target.execute(_ADOPT, rows)
    if target.dialect.name == "postgresql":
        set_sequences(target, schema.metadata.sorted_tables)
    return copied


def empty(target: Connection) -> None:
    """Deletes every row."""
    target.execute(update(_RUN).values(parent_id=None))
    for table in reversed(schema.metadata.sorted_tables):
        target.execute(delete(table))


def is_empty(target: Connection) -> bool:
    """Whether nothing was ever told to it."""
    told = (table for table in schema.metadata.sorted_tables if table not in (schema.secret, schema.schedule))
    return not any(target.execute(select(table).limit(1)).first() for table in told)


def _copy_table(source: Connection, target: Connection, table: Table) -> int:
    copied = 0
    for rows in _batches(source, select(table), table):
        # A run may be of a parent with a greater id, which is not there yet.
        orphans = [row | {"parent_id": None} for row in rows] if table is _RUN else rows
        target.execute(insert(table), orphans)
        copied += len(rows)
    return copied


def _batches(source: Connection, question: Any, table: Table) -> Iterator[Rows]:
    ordered = question.order_by(*table.primary_key.columns)
    with source.execute(ordered.execution_options(yield_per=_AT_ONCE)) as result:
        for rows in result.mappings().partitions():
            yield [dict(row) for row in rows]


def set_sequences(target: Connection, tables: Iterable[Table]) -> None:
    """Lets PostgreSQL give ids that are greater than those in the tables."""
    for table in tables:
        if "id" in table.c and isinstance(table.c.id.type, Integer):
            sequence = func.pg_get_serial_sequence(table.name, "id")
            after = func.coalesce(func.max(table.c.id), 0) + 1
            target.execute(select(func.setval(sequence, after, False)))
