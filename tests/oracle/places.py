"""Packings in each place of a query: by them the oracle asks whether edges are exact.

A pipeline at random mostly hides what it computes: a filter that nothing passes, a LIMIT behind a LIMIT. Here one
packing, or one in another, stands in one place of one query, over columns alone.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

from hypothesis import strategies as st
from tests.extract.case_file import Case
from tests.extract.edge_text import Edges
from tests.oracle.expressions import Draw, Writer
from tests.oracle.packings import PACKED_AGGREGATES, PACKED_WINDOWS, PACKINGS
from tests.oracle.pipelines import Pipeline

COLUMNS: Mapping[str, tuple[str, ...]] = {
    "int": ("t.id", "t.age", "t.segment.tier"),
    "string": ("t.name", "t.email", "t.country", "t.segment.code"),
    "struct": ("t.segment", "named_struct('code', t.email, 'tier', t.age)", "struct(t.name AS code, t.id AS tier)"),
    "boolean": ("t.age > 25", "t.country = 'DE'", "t.name < t.email", "t.id = 2", "size(t.tags) > 1"),
}

PLACES: tuple[str, ...] = (
    "SELECT {string} AS a, {int} AS b, t.id AS c FROM customers t",
    "SELECT {struct} AS a FROM customers t",
    "SELECT CASE WHEN {boolean} THEN t.id END AS a, if({int} > 1, t.name, t.email) AS b FROM customers t",
    "SELECT nullif({string}, 'x') AS a, nvl2({string}, t.age, t.id) AS b FROM customers t",
    "SELECT t.id AS a FROM customers t WHERE {boolean}",
    "SELECT t.id AS a FROM customers t WHERE {int} >= 1 AND {string} <> 'x'",
    "SELECT t.id AS a, o.order_id AS b FROM customers t JOIN orders o ON {int} = o.customer_id",
    "SELECT t.id AS a, o.order_id AS b FROM customers t LEFT JOIN orders o ON {string} = o.status",
    "SELECT t.id AS a FROM customers t LEFT ANTI JOIN orders o ON o.qty = {int}",
    "SELECT t.id AS a, o.qty AS b FROM customers t FULL JOIN orders o ON t.id = o.customer_id AND {boolean}",
    "SELECT t.id AS a FROM customers t WHERE {int} IN (SELECT o.qty FROM orders o)",
    "SELECT {int} AS a FROM customers t INTERSECT SELECT o.qty FROM orders o",
    "SELECT {string} AS a FROM customers t EXCEPT SELECT o.status FROM orders o",
    "SELECT {int} AS a, {string} AS b FROM customers t UNION SELECT o.qty, o.status FROM orders o",
    "SELECT t.id AS a FROM customers t ORDER BY {string}, t.id LIMIT 3",
    "SELECT t.name AS a FROM customers t ORDER BY {int} DESC, t.id LIMIT 2",
    "SELECT t.country AS a FROM customers t ORDER BY {string}, {int}",
    "SELECT t.age AS a FROM customers t ORDER BY {struct}, t.id LIMIT 3",
    "SELECT t.email AS a FROM customers t ORDER BY {int} NULLS LAST, {string} LIMIT 4",
    "SELECT count(*) AS a FROM customers t GROUP BY {int}",
    "SELECT max(t.name) AS a FROM customers t GROUP BY {string}",
    "SELECT max({int}) AS a, min({string}) AS b FROM customers t GROUP BY t.country",
    "SELECT count(DISTINCT {string}) AS a, sum({int}) FILTER (WHERE {boolean}) AS b FROM customers t",
    "SELECT {packed string} AS a, {packed int} AS b FROM customers t GROUP BY t.country",
    "SELECT t.id AS a, count(*) OVER (PARTITION BY {string}) AS b FROM customers t",
    "SELECT t.tags AS a, rank() OVER (PARTITION BY {int} ORDER BY {string}) AS b FROM customers t",
    "SELECT t.email AS a, row_number() OVER (PARTITION BY t.country ORDER BY {int}, t.id) AS b FROM customers t",
    "SELECT t.id AS a, {window string} AS b, {window int} AS c, t.tags AS d FROM customers t",
    "SELECT g.x.code AS a, g.x.tier AS b FROM customers t LATERAL VIEW explode(array({struct}, {struct})) g AS x",
    "SELECT g.c AS a, g.i AS b FROM customers t LATERAL VIEW inline(array({struct}, {struct})) g AS c, i",
    "SELECT o.order_id AS a, (SELECT max({string}) FROM customers t WHERE t.id = o.customer_id) AS b FROM orders o",
)

SPECIAL = {
    "packed string": ("string", PACKED_AGGREGATES),
    "packed int": ("int", PACKED_AGGREGATES),
    "window string": ("string", PACKED_WINDOWS),
    "window int": ("int", PACKED_WINDOWS),
}


@dataclass(frozen=True, slots=True)
class Spread(Writer):
    """Takes each column once, before any comes again: two branches with one value are one branch."""

    taken: set[str] = field(default_factory=set)

    def column(self, kind: str) -> str:
        """A column of that type that is not in the query yet, while there are any."""
        free = [column for column in self.columns[kind] if column not in self.taken]
        found = str(self.draw(st.sampled_from(free or self.columns[kind])))
        self.taken.add(found)
        return found


@st.composite
def placed(draw: Draw) -> Pipeline:
    """A query with packings in one place."""
    place, used = draw(st.sampled_from(PLACES)), set[str]()
    inner = Spread(draw, COLUMNS, ("t.id",), used)
    structs = (*COLUMNS["struct"], inner.value("struct", 1, (PACKINGS,)))
    outer = Spread(draw, {**COLUMNS, "struct": structs}, ("t.id",), used)
    forms = {kind: PACKINGS[kind] for kind in ("struct", "string", "int", "boolean")}
    forms |= {hole: table[kind] for hole, (kind, table) in SPECIAL.items()}
    query = place
    for hole, found in forms.items():
        while f"{{{hole}}}" in query:
            query = query.replace(f"{{{hole}}}", outer.value(hole, 1, ({hole: found},)), 1)
    code = f'df = spark.sql("""{query}""")'
    return Pipeline(
        Case("oracle", "placed", "placed", code, Edges(), python=True, frame="df"), frozenset({place, *used})
    )
