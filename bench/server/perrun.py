"""The same lineage as rows of every run, and the questions that such rows allow.

So Marquez keeps it (its table column_lineage): a row for each edge of each version of an output, with random UUIDs of
versions and fields. Its own question for lineage first takes the latest row of each edge in the whole table and then
follows every path, with the list of its steps to notice cycles. `REACHED` is what one would ask instead: each field
once. Tables and questions here are written anew from that description.
"""

from hashlib import md5
from uuid import UUID

from sqlalchemy import Connection

from headwater.store import Store
from headwater.store.questions import Direction

_TABLE = """
CREATE TABLE per_run (
    output_version uuid, output_field uuid, input_version uuid, input_field uuid,
    kind text, created_at timestamp NOT NULL, updated_at timestamp NOT NULL,
    UNIQUE (output_version, output_field, input_version, input_field)
)"""

# Ids of fields follow each other; what md5 makes of them has no order, as random UUIDs have none.
_FILL = """
INSERT INTO per_run
SELECT md5('v' || o.dataset_id || ' ' || run)::uuid, md5('f' || e.output_field)::uuid,
       md5('v' || i.dataset_id || ' ' || run)::uuid, md5('f' || e.input_field)::uuid,
       'IDENTITY', moment, moment
FROM edge e JOIN field o ON o.id = e.output_field JOIN field i ON i.id = e.input_field,
     generate_series(1, {runs}) run, LATERAL (SELECT timestamp '2026-01-01' + run * interval '1 hour') t(moment)
"""

REACHED = """
WITH RECURSIVE reached(field) AS (
    SELECT %s::uuid UNION SELECT l.{far} FROM reached r JOIN per_run l ON l.{near} = r.field
) SELECT field FROM reached"""

PATHS = """
WITH RECURSIVE latest AS (
    SELECT DISTINCT ON (output_field, input_field) output_field, input_field
    FROM per_run ORDER BY output_field, input_field, updated_at DESC
), walked AS (
    SELECT output_field, input_field, ARRAY[ROW(output_field, input_field)] AS path, false AS again
    FROM latest WHERE {near} = %s::uuid
    UNION ALL
    SELECT l.output_field, l.input_field, w.path || ROW(l.output_field, l.input_field),
           ROW(l.output_field, l.input_field) = ANY(w.path)
    FROM walked w JOIN latest l ON l.{near} = w.{far} WHERE NOT w.again
) SELECT DISTINCT {far} FROM walked"""

_ENDS = {
    Direction.UP: {"near": "output_field", "far": "input_field"},
    Direction.DOWN: {"near": "input_field", "far": "output_field"},
}


def fill(store: Store, runs: int) -> None:
    """Makes the rows of so many runs of each job, from the edges of a store in PostgreSQL."""
    with store.write() as connection:
        connection.exec_driver_sql("DROP TABLE IF EXISTS per_run")
        connection.exec_driver_sql(_TABLE)
        connection.exec_driver_sql(_FILL.format(runs=runs))
        for column in ("output_field", "input_field"):
            connection.exec_driver_sql(f"CREATE INDEX ON per_run ({column})")
    store.analyze()


def ask(connection: Connection, question: str, field: UUID, direction: Direction) -> set[UUID]:
    """The fields that one of the questions above gives."""
    statement = question.format(**_ENDS[direction])
    return set(connection.exec_driver_sql(statement, (field,)).scalars())


def uuid_of(field: int) -> UUID:
    """The UUID of a field."""
    return UUID(md5(f"f{field}".encode(), usedforsecurity=False).hexdigest())
