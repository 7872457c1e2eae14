"""What a server keeps beside lineage: facets, namespaces, sources, tags, keys; and events known by another digest.

Digests were of JSON text as Python writes it, and are now of what orjson writes: every event gets its new one, or the
same event sent again would be another.
"""

import json
import zlib
from collections.abc import Iterator
from hashlib import blake2b
from typing import Any

import orjson
import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"

ID = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
AT_ONCE = 500
EVENT = sa.table("event", *(sa.column(name) for name in ("id", "digest", "at", "run_id", "payload")))


def upgrade() -> None:
    """Adds the tables and columns, and gives events their digests."""
    for table in ("dataset", "job"):
        _columns(table, "first_at", "last_at", "hidden_at", "description_at")
        op.add_column(table, sa.Column("description", sa.Text(), nullable=True))
    op.add_column("job", sa.Column("location", sa.Text(), nullable=True))
    _columns("job", "location_at")
    op.create_index("lineage_at", "lineage", ["job_id", "output_id", "at"])
    op.create_index("event_at", "event", ["at"])
    _facets()
    _people()
    _keys()
    _digests(op.get_bind())
    _seen()


def _columns(table: str, *moments: str) -> None:
    for name in moments:
        op.add_column(table, sa.Column(name, sa.BigInteger(), nullable=True))


def _facets() -> None:
    op.create_table(
        "facet",
        sa.Column("dataset_id", ID, nullable=False),
        sa.Column("job_id", ID, nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("at", sa.BigInteger(), nullable=False),
        sa.Column("event_digest", sa.LargeBinary(), nullable=False),
        sa.PrimaryKeyConstraint("dataset_id", "job_id", "name"),
        sqlite_with_rowid=False,
    )


def _people() -> None:
    times = ("created_at", "updated_at")
    for table, texts in (("namespace", ("name", "owner", "description")), ("source", _SOURCE)):
        columns = [sa.Column(name, sa.Text(), nullable=False) for name in texts]
        moments = [sa.Column(name, sa.BigInteger(), nullable=False) for name in times]
        op.create_table(table, sa.Column("key", sa.LargeBinary(), primary_key=True), *columns, *moments)
    _columns("namespace", "hidden_at")
    op.create_table(
        "tag",
        sa.Column("key", sa.LargeBinary(), primary_key=True),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("description", sa.Text(), nullable=False),
    )
    op.create_table(
        "tagging",
        sa.Column("dataset_id", ID, nullable=False),
        sa.Column("job_id", ID, nullable=False),
        sa.Column("field_id", ID, nullable=False),
        sa.Column("tag_key", sa.LargeBinary(), nullable=False),
        sa.Column("tag", sa.Text(), nullable=False),
        sa.Column("value", sa.Text(), nullable=False),
        sa.Column("source", sa.Text(), nullable=False),
        sa.Column("at", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("dataset_id", "job_id", "field_id", "tag_key"),
    )
    op.create_index("tagging_tag", "tagging", ["tag_key"])


_SOURCE = ("name", "type", "url", "description")


def _keys() -> None:
    op.create_table(
        "api_key",
        sa.Column("id", sa.Text(), primary_key=True),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("digest", sa.LargeBinary(), nullable=False),
        sa.Column("scope", sa.Text(), nullable=False),
        sa.Column("namespaces", sa.Text(), nullable=False),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.Column("expires_at", sa.BigInteger(), nullable=True),
        sa.Column("revoked_at", sa.BigInteger(), nullable=True),
    )


def _digests(connection: sa.Connection) -> None:
    tell = sa.update(EVENT).where(EVENT.c.id == sa.bindparam("row")).values(digest=sa.bindparam("new"))
    for rows in _events(connection):
        told = [{"row": row.id, "new": _digest(zlib.decompress(row.payload))} for row in rows]
        connection.execute(tell, told)


def _events(connection: sa.Connection) -> Iterator[list[Any]]:
    last = -1
    question = sa.select(EVENT).order_by(EVENT.c.id).limit(AT_ONCE)
    while rows := list(connection.execute(question.where(EVENT.c.id > last))):
        yield rows
        last = rows[-1].id


def _digest(text: bytes) -> bytes:
    try:
        canonical = orjson.dumps(orjson.loads(text), option=orjson.OPT_SORT_KEYS)
    except (orjson.JSONDecodeError, orjson.JSONEncodeError):
        canonical = json.dumps(json.loads(text), sort_keys=True, separators=(",", ":")).encode()
    return blake2b(canonical, digest_size=16).digest()


def _seen() -> None:
    """When events first and last spoke of a dataset or a job."""
    of_job = "SELECT {most}(e.at) FROM event e JOIN run r ON r.id = e.run_id WHERE r.job_id = job.id"
    of_dataset = (
        "SELECT {most}(e.at) FROM event e JOIN run_dataset t ON t.run_id = e.run_id WHERE t.dataset_id = dataset.id"
    )
    for table, times in (("job", of_job), ("dataset", of_dataset)):
        for column, most in (("first_at", "min"), ("last_at", "max")):
            op.execute(f"UPDATE {table} SET {column} = ({times.format(most=most)})")
