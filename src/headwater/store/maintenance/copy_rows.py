"""Copies of every row of a store in another one, of whatever kinds their databases are."""

from collections.abc import Iterator
from typing import Any

from sqlalchemy import Connection, Integer, Table, bindparam, delete, insert, select, update

from headwater.store import schema
from headwater.store.sql.databases import database_of

_AT_ONCE = 1_000
_RUN = schema.run
_ADOPT = update(_RUN).where(_RUN.c.id == bindparam("row")).values(parent_id=bindparam("parent"))

Rows = list[dict[str, Any]]


def copy(source: Connection, target: Connection) -> int:
    """Copies all rows into empty tables of the same schema, ids included; how many there were."""
    copied = sum(_copy_table(source, target, table) for table in schema.metadata.sorted_tables)
    for rows in _batches(source, select(_RUN.c.id.label("row"), _RUN.c.parent_id.label("parent")), _RUN):
        target.execute(_ADOPT, rows)
    for table in schema.metadata.sorted_tables:
        if "id" in table.c and isinstance(table.c.id.type, Integer):
            database_of(target).continue_ids(target, table)
    return copied


def empty(target: Connection) -> None:
    """Deletes every row."""
    target.execute(update(_RUN).values(parent_id=None))
    for table in reversed(schema.metadata.sorted_tables):
        target.execute(delete(table))


def is_empty(target: Connection) -> bool:
    """Whether it has taken nothing in yet."""
    filled = (table for table in schema.metadata.sorted_tables if table not in (schema.secret, schema.schedule))
    return not any(target.execute(select(table).limit(1)).first() for table in filled)


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
