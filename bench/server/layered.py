"""Stores with large synthetic graphs: layers of columns, each made of 1 to 4 columns of the layer before.

The rows are written as the store has them, not by events: ten million edges would take events hours. `rows` is the
same for SQLite and PostgreSQL and for the tables of a peer.
"""

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice

from sqlalchemy import Connection, Table

from headwater.model import Dataset
from headwater.model.names import folded, key_of
from headwater.store import Store, schema
from headwater.store.graph.timeline import note
from headwater.store.questions import ExactName

WIDTH = 25
"""Columns of a dataset."""

SUBTYPES = ("IDENTITY", "TRANSFORMATION", "AGGREGATION")
AT_ONCE = 20_000
SINCE = 1_767_225_600_000_000  # 2026-01-01


@dataclass(frozen=True, slots=True)
class Shape:
    """``edges`` wanted over so many ``layers``; the columns of a layer are drawn from a window of the layer before.

    ``spread`` is how many datasets wide that window is: what keeps a closure from being the whole graph.
    """

    edges: int
    layers: int = 12
    spread: int = 12
    seed: int = 1

    @property
    def datasets(self) -> int:
        """Datasets of one layer: a column has 2.5 inputs on average."""
        return max(2, round(self.edges / 2.5 / (self.layers - 1) / WIDTH))

    @property
    def columns(self) -> int:
        """Columns of one layer."""
        return self.datasets * WIDTH

    def field(self, layer: int, place: int) -> int:
        """The id of a column."""
        return layer * self.columns + place + 1


Edge = tuple[int, int, int, int]
"""Output field, input field, job, transformation."""


def edges(shape: Shape) -> Iterator[Edge]:
    """Every edge, ordered by output."""
    draw = random.Random(shape.seed)
    window = min(shape.columns, shape.spread * WIDTH)
    for layer in range(1, shape.layers):
        for place in range(shape.columns):
            begin = min(max(0, place - window // 2), shape.columns - window)
            job = (layer * shape.columns + place) // WIDTH + 1
            for source in sorted({begin + draw.randrange(window) for _ in range(draw.randint(1, 4))}):
                yield shape.field(layer, place), shape.field(layer - 1, source), job, draw.randint(1, len(SUBTYPES))


def start(shape: Shape, layer: int, number: int) -> ExactName:
    """The name of a column of a layer; numbers beyond the last begin anew."""
    dataset, place = divmod(number % shape.columns, WIDTH)
    return ExactName("s3://lake", _name(layer, dataset), f"c{place}")


def fill(store: Store, shape: Shape) -> int:
    """Writes the graph into an empty store; the number of its edges."""
    with store.write() as connection:
        if connection.dialect.name == "postgresql":
            connection.exec_driver_sql("SET LOCAL session_replication_role = replica")  # no look at each foreign key
        _names(connection, shape)
        columns = ("output_field", "input_field", "job_id", "transformation_id", "valid_from")
        written = _insert(connection, schema.edge, columns, ((*edge, SINCE) for edge in edges(shape)))
        note(connection, [(1, 1)])  # as any intake does
        if connection.dialect.name == "postgresql":
            _count_on(connection)
    store.analyze()
    return written


def _count_on(connection: Connection) -> None:
    """Lets new rows have ids after those that were written."""
    for table in (schema.dataset, schema.dataset_name, schema.field, schema.job, schema.transformation):
        last = f"SELECT max(id) FROM {table.name}"
        connection.exec_driver_sql(f"SELECT setval(pg_get_serial_sequence('{table.name}', 'id'), ({last}))")


def _names(connection: Connection, shape: Shape) -> None:
    transformations = ((key_of(one), place, "DIRECT", one, False, False, "") for place, one in enumerate(SUBTYPES, 1))
    _insert(
        connection,
        schema.transformation,
        ("key", "id", "type", "subtype", "masking", "opaque", "description"),
        transformations,
    )
    named = [
        Dataset("s3://lake", _name(layer, place)) for layer in range(shape.layers) for place in range(shape.datasets)
    ]
    numbered = list(enumerate(named, 1))
    _insert(
        connection, schema.dataset, ("id", "namespace", "name"), ((n, one.namespace, one.name) for n, one in numbered)
    )
    names = ((n, key_of(one.namespace, one.name), one.namespace, one.name, folded(one), n) for n, one in numbered)
    _insert(connection, schema.dataset_name, ("id", "key", "namespace", "name", "folded", "dataset_id"), names)
    jobs = ((n, key_of("prod", f"make_{one.name}"), "prod", f"make_{one.name}") for n, one in numbered)
    _insert(connection, schema.job, ("id", "key", "namespace", "name"), jobs)
    keys = [(f"c{at}", key_of(f"c{at}")) for at in range(WIDTH)]
    fields = (
        ((n - 1) * WIDTH + at + 1, n, name, key, key, "string", at)
        for n, _ in numbered
        for at, (name, key) in enumerate(keys)
    )
    columns = ("id", "dataset_id", "name", "key", "folded_key", "type", "ordinal")
    _insert(connection, schema.field, columns, fields)
    _insert(connection, schema.field_name, ("name", "key", "folded_key"), ((name, key, key) for name, key in keys))


def _name(layer: int, place: int) -> str:
    return f"layer_{layer:02}/table_{place:06}"


def _insert(connection: Connection, table: Table, columns: Sequence[str], rows: Iterator[tuple[object, ...]]) -> int:
    """Many rows by the quickest way that the driver has; how many."""
    written = 0
    while some := list(islice(rows, AT_ONCE)):
        written += len(some)
        if connection.dialect.name == "postgresql":
            _copy(connection, table, columns, some)
        else:
            marks = ", ".join("?" for _ in columns)
            connection.exec_driver_sql(f"INSERT INTO {table.name} ({', '.join(columns)}) VALUES ({marks})", some)
    return written


def _copy(connection: Connection, table: Table, columns: Sequence[str], rows: list[tuple[object, ...]]) -> None:
    cursor = connection.connection.cursor()
    with cursor.copy(f"COPY {table.name} ({', '.join(columns)}) FROM STDIN") as copy:  # type: ignore[attr-defined]
        for row in rows:
            copy.write_row(row)
