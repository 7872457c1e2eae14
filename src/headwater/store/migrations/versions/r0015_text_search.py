"""Full-text indexes of what jobs and datasets say of themselves, and of tags.

Those of SQLite are tables of FTS5 that triggers keep up to date; those of PostgreSQL are indexes of an expression. A
later revision that copies `job`, `dataset` or `tag_text` on SQLite must make its triggers again.
"""

from collections.abc import Iterator

import sqlalchemy as sa
from alembic import op

from headwater.model.name_keys import key_of

revision = "0015"
down_revision = "0014"

ID = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
INDEXED = {"job": ("sql", "description"), "dataset": ("description",), "tag_text": ("tag", "value")}
_MARKS = """!"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~"""


def upgrade() -> None:
    """Adds the table of tags and values, fills it, and makes the indexes."""
    op.create_table(
        "tag_text",
        sa.Column("id", ID, primary_key=True),
        sa.Column("key", sa.LargeBinary(), nullable=False),
        sa.Column("tag_key", sa.LargeBinary(), nullable=False),
        sa.Column("tag", sa.Text(), nullable=False),
        sa.Column("value", sa.Text(), nullable=False),
        sa.UniqueConstraint("key", name="tag_text_key"),
    )
    connection = op.get_bind()
    _fill(connection)
    statements = _of_sqlite if connection.dialect.name == "sqlite" else _of_postgres
    for table, columns in INDEXED.items():
        for statement in statements(table, columns):
            connection.exec_driver_sql(statement)


def _fill(connection: sa.Connection) -> None:
    columns = (("key", sa.LargeBinary()), ("tag_key", sa.LargeBinary()), ("tag", sa.Text()), ("value", sa.Text()))
    tagging, text = (
        sa.table(name, *(sa.column(column, kind) for column, kind in some))
        for name, some in (("tagging", columns[1:]), ("tag_text", columns))
    )
    rows = {key_of(row.tag, row.value): row for row in connection.execute(sa.select(*tagging.c).distinct())}
    if rows:
        connection.execute(sa.insert(text), [{"key": key, **row._mapping} for key, row in rows.items()])


def _of_sqlite(table: str, columns: tuple[str, ...]) -> Iterator[str]:
    index, listed = f"{table}_words", ", ".join(columns)
    yield (
        f"CREATE VIRTUAL TABLE IF NOT EXISTS {index} USING fts5({listed}, content='{table}', content_rowid='id', "
        "columnsize=0, tokenize='unicode61 remove_diacritics 0')"  # so a row without text takes no room
    )
    yield f"INSERT INTO {index}({index}) VALUES ('delete-all')"
    yield f"INSERT INTO {index}(rowid, {listed}) SELECT id, {listed} FROM {table} WHERE {_there('', columns)}"
    take = f"INSERT INTO {index}({index}, rowid, {listed}) SELECT 'delete', old.id, {_each('old.', columns)}"
    put = f"INSERT INTO {index}(rowid, {listed}) SELECT new.id, {_each('new.', columns)}"
    take, put = f"{take} WHERE {_there('old.', columns)};", f"{put} WHERE {_there('new.', columns)};"
    yield f"CREATE TRIGGER {index}_added AFTER INSERT ON {table} BEGIN {put} END"
    yield f"CREATE TRIGGER {index}_removed AFTER DELETE ON {table} BEGIN {take} END"
    changed = " OR ".join(f"old.{name} IS NOT new.{name}" for name in columns)
    yield f"CREATE TRIGGER {index}_changed AFTER UPDATE OF {listed} ON {table} WHEN {changed} BEGIN {take} {put} END"


def _each(side: str, columns: tuple[str, ...]) -> str:
    return ", ".join(side + name for name in columns)


def _there(side: str, columns: tuple[str, ...]) -> str:
    return " OR ".join(f"{side}{name} IS NOT NULL" for name in columns)


def _of_postgres(table: str, columns: tuple[str, ...]) -> Iterator[str]:
    whole = " || ' ' || ".join(f"coalesce({name}, '')" for name in columns)
    marks = _MARKS.replace("'", "''").replace("%", "%%")
    words = f"to_tsvector('simple', translate({whole}, '{marks}', '{' ' * len(_MARKS)}'))"
    yield f"CREATE INDEX {table}_words ON {table} USING gin ({words})"
