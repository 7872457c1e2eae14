"""The data that the oracle runs queries on, and the ways it changes a column.

Each table has rows and as many *other* rows, whose values a change may take instead. A change says for each row which
row the value comes from: those of the table count from 0, the other ones go on from there, -1 stands for NULL. So one
description serves rows that lie in Spark's memory and rows that are written to files, whatever their type.

*Common* rows have the values that the literals of generated conditions have, the same in all tables, and texts that
are numbers and JSON. Scattered places take any of the three, so that joins match, filters pass and NULLs are met in one
database or another; some have few values, so that rows tie and are alike.
"""

import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

Source = tuple[str, str]
"""A table and one of its columns."""

Places = Sequence[int]
"""For each row of a table, where the changed value comes from."""


@dataclass(frozen=True, slots=True)
class Table:
    """A table: its columns, and its rows, other rows and common rows as texts of SQL, one for each row."""

    columns: tuple[str, ...]
    rows: tuple[str, ...]
    others: tuple[str, ...]
    common: tuple[str, ...]

    @property
    def query(self) -> str:
        """SQL for the rows, the other rows, the common rows, and one of NULLs."""
        nulls = ", ".join(["NULL"] * len(self.columns))
        values = ", ".join(f"({row})" for row in (*self.rows, *self.others, *self.common, nulls))
        return f"SELECT * FROM VALUES {values} AS t({', '.join(self.columns)})"

    def scattered(self, seed: str, *, few: bool = False) -> Places:
        """Places at random: one in eight NULL, the others anywhere, or among the common rows and one more."""
        chosen, count = random.Random(seed), len(self.rows)
        own = count + len(self.others)
        stock: Sequence[int] = range(own + len(self.common))
        if few:
            stock = [*stock[own:], chosen.randrange(own)]
        return [chosen.choice(stock) if chosen.randrange(8) else -1 for _ in range(count)]


def _table(columns: str, rows: str, others: str, common: str) -> Table:
    lines = (tuple(filter(None, map(str.strip, text.splitlines()))) for text in (rows, others, common))
    return Table(tuple(columns.split()), *lines)


TABLES: Mapping[str, Table] = {
    "customers": _table(
        "id name email country age segment tags props",
        """
        1, 'Ann', 'ann@x.io', 'DE', 30, named_struct('code', 'a', 'tier', 1), array('x', 'y'), map('k', 'v')
        2, 'Bob', 'bob@x.io', 'FR', 40, named_struct('code', 'b', 'tier', 2), array('y'), map('k', 'w', 'm', '2')
        3, 'Cid', 'cid@y.de', 'DE', 16, named_struct('code', 'a', 'tier', 3), array('z', 'x', 'z'), map('m', 'v')
        4, 'Dan', 'dan@y.de', 'IT', 25, named_struct('code', 'd', 'tier', 2), array(), map('k', 'u')
        5, 'Eve', 'eve@x.io', NULL, 30, named_struct('code', 'b', 'tier', 1), array('w'), NULL
        6, 'Flo', NULL, 'FR', 51, named_struct('code', 'c', 'tier', 5), NULL, map('n', 'v')
        """,
        """
        3, 'Zoe', 'zoe@q.fr', 'IT', 17, named_struct('code', 'q', 'tier', 2), array('q'), map('k', 'q')
        5, 'Yan', 'yan@q.fr', 'DE', 55, named_struct('code', 'a', 'tier', 4), array('x', 'q'), map('m', '7')
        11, 'Bob', 'x@y.de', 'PL', 31, named_struct('code', 'r', 'tier', 9), array(), map('k', 'v', 'q', 'q')
        1, 'Xi', 'ann@x.io', 'FR', 8, named_struct('code', 'b', 'tier', 1), array('y', 'y'), map('n', '3')
        12, 'W', 'w', 'ES', 26, named_struct('code', 's', 'tier', 6), array('z'), map('k', 'p')
        2, 'Vi', 'v@x.io', 'DE', 77, named_struct('code', 'd', 'tier', 3), array('p', 'x'), map('m', 'v')
        """,
        """
        1, 'x', 'DE', 'DE', 2, named_struct('code', 'x', 'tier', 1), array('x', 'z'), map('k', 'x')
        2, 'DE', 'x', 'x', 30, named_struct('code', 'DE', 'tier', 30), array('DE', 'x', '2'), map('k', 'DE', 'x', 'x')
        30, 'ok', '2', 'ok', 1, named_struct('code', 'ok', 'tier', 2), array('ok'), map('k', '2', 'DE', 'ok')
        3, '7', '{"a":1,"b":"x"}', '2', 30, named_struct('code', 'x', 'tier', 2), array('x'), map('x', '2')
        """,
    ),
    "orders": _table(
        "order_id customer_id product_id amount qty status ts note",
        """
        10, 1, 100, 5.0D, 2, 'ok', TIMESTAMP '2026-01-01 00:00:00', 'n1'
        11, 2, 101, 7.5D, 1, 'bad', TIMESTAMP '2026-01-02 00:10:00', 'n2'
        12, 1, 101, 2.5D, 4, 'ok', TIMESTAMP '2026-01-02 00:40:00', NULL
        13, 4, 102, 9.0D, 3, 'new', TIMESTAMP '2026-02-03 12:00:00', 'n4'
        14, 2, 100, 5.0D, 1, 'ok', TIMESTAMP '2026-02-03 12:05:00', 'n2'
        15, NULL, 103, 1.25D, 6, 'bad', TIMESTAMP '2026-03-04 08:00:00', 'n6'
        16, 3, 102, 12.0D, 2, 'ok', TIMESTAMP '2026-03-05 09:00:00', '2'
        """,
        """
        12, 3, 101, 6.5D, 3, 'bad', TIMESTAMP '2026-01-01 00:30:00', 'm1'
        21, 1, 102, 0.5D, 2, 'ok', TIMESTAMP '2026-04-02 07:00:00', 'n1'
        22, 5, 103, 8.75D, 9, 'old', TIMESTAMP '2025-12-31 23:00:00', 'm3'
        10, 2, 100, 4.0D, 1, 'ok', TIMESTAMP '2026-02-03 12:30:00', '5'
        23, 6, 101, 15.0D, 5, 'new', TIMESTAMP '2026-05-06 01:00:00', 'm5'
        15, 1, 100, 3.25D, 2, 'bad', TIMESTAMP '2027-03-04 08:00:00', 'n2'
        24, 9, 108, 0.25D, 7, 'x', TIMESTAMP '2026-03-05 09:05:00', '9'
        """,
        """
        1, 2, 30, 2.5D, 1, 'x', TIMESTAMP '2026-02-01 00:00:00', 'DE'
        2, 1, 2, 7.0D, 2, 'DE', TIMESTAMP '2026-02-01 00:00:00', 'x'
        30, 30, 1, 2.0D, 30, 'x', TIMESTAMP '2026-01-31 23:00:00', 'ok'
        2, 30, 2, 2.5D, 1, 'DE', TIMESTAMP '2026-02-01 00:00:00', '{"a":2,"b":"ok"}'
        """,
    ),
    "products": _table(
        "product_id title price category",
        """
        100, 'Pen', 2.5D, 'office'
        101, 'Cup', 7.5D, 'kitchen'
        102, 'Pan', 12.0D, 'kitchen'
        103, 'Ink', 5.0D, NULL
        104, 'Mat', 1.5D, 'home'
        """,
        """
        102, 'Box', 6.0D, 'home'
        100, 'Ann', 0.5D, 'office'
        109, 'Mug', 9.0D, 'toys'
        101, 'Tin', 12.0D, 'kitchen'
        110, 'Lid', 3.5D, 'office'
        """,
        """
        1, 'x', 2.5D, 'DE'
        2, 'DE', 7.0D, 'x'
        30, 'ok', 30.0D, 'ok'
        2, 'a', 2.0D, 'a'
        """,
    ),
}

SOURCES: tuple[Source, ...] = tuple((name, column) for name, table in TABLES.items() for column in table.columns)

CHANGES: Mapping[str, Callable[[int], Places]] = {
    "other values": lambda n: range(n, 2 * n),
    "every other value NULL": lambda n: [place if place % 2 else -1 for place in range(n)],
    "the values in reverse": lambda n: range(n - 1, -1, -1),
    "one value for all": lambda n: [0] * n,
    "another last value": lambda n: [*range(n - 1), 2 * n - 1],
}
"""By what a change does: from the number of rows to the places of the new values; those that show most come first."""

SCATTERED = "values at random"
"""A change to places at random."""
