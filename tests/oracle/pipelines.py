"""Pipelines made at random: a table, then some steps of SQL or of the DataFrame API, as the text of a case.

Columns get their names from a small pool again and again, so that whatever goes by name instead of by exprId is found.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from hypothesis import strategies as st
from tests.extract.case_file import Case
from tests.extract.edge_text import Edges
from tests.oracle.expressions import SCALARS, TYPES, Draw, Writer
from tests.oracle.forms import FORMS, SUBQUERIES, WINDOWS

NAMES = tuple("abcdefgh")

# The first column of each tells its rows apart.
BASES: Mapping[str, Mapping[str, str]] = {
    "customers": {
        "id": "int",
        "name": "string",
        "email": "string",
        "country": "string",
        "age": "int",
        "segment": "struct",
        "tags": "strings",
        "props": "map",
    },
    "orders": {
        "order_id": "int",
        "customer_id": "int",
        "product_id": "int",
        "amount": "double",
        "qty": "int",
        "status": "string",
        "ts": "timestamp",
        "note": "string",
    },
    "products": {"product_id": "int", "title": "string", "price": "double", "category": "string"},
}


class Columns(NamedTuple):
    """The columns of a relation with their types; ``unique`` are those that tell its rows apart."""

    types: Mapping[str, str]
    unique: tuple[str, ...] = ()

    def by_type(self, alias: str = "") -> dict[str, tuple[str, ...]]:
        """The columns as SQL, by type."""
        prefix = f"{alias}." if alias else ""
        kinds = dict.fromkeys(self.types.values())
        return {kind: tuple(f"{prefix}{name}" for name, own in self.types.items() if own == kind) for kind in kinds}


@dataclass(slots=True)
class Builder:
    """A pipeline that grows: ``lines`` of Python, and the SQL at its end that no line has taken up yet."""

    draw: Draw
    columns: Columns
    query: str
    lines: list[str] = field(default_factory=list)
    used: set[str] = field(default_factory=set)
    prelude: set[str] = field(default_factory=set)
    framed: bool = False

    def one_of(self, *choices: Any) -> Any:
        """One of these, the first the simplest."""
        return self.draw(st.sampled_from(choices))

    def kinds(self, least: int = 1, most: int = 3, of: Sequence[str] = TYPES) -> list[str]:
        """Some types, mostly such as there are columns of."""
        present = [kind for kind in dict.fromkeys(self.columns.types.values()) if kind in of]
        return list(self.draw(st.lists(st.sampled_from([*present, *present, *of]), min_size=least, max_size=most)))

    def names(self, count: int) -> tuple[str, ...]:
        """New names, among them such that other columns had before."""
        return tuple(self.draw(st.permutations(NAMES[: count + 2])))[:count]

    def writer(self, alias: str = "", *others: tuple[str, Columns]) -> Writer:
        """For expressions over the columns there are, and those of other relations by alias."""
        kinds: dict[str, tuple[str, ...]] = self.columns.by_type(alias)
        for name, columns in others:
            for kind, found in columns.by_type(name).items():
                kinds[kind] = (*kinds.get(kind, ()), *found)
        prefix = f"{alias}." if alias else ""
        unique = self.columns.unique or [name for name, kind in self.columns.types.items() if kind in SCALARS]
        return Writer(self.draw, kinds, tuple(f"{prefix}{name}" for name in unique), self.used)

    def value(self, writer: Writer, kind: str) -> str:
        """An expression that may be a window function or a subquery."""
        tables = self.one_of((FORMS,), (FORMS,), (WINDOWS,), (SUBQUERIES,))
        return writer.value(kind, 2, tables)

    def condition(self, writer: Writer) -> str:
        """A predicate; some of them have subqueries."""
        parts = [writer.value("boolean", 2, self.one_of((FORMS,), (FORMS,), (SUBQUERIES,)))]
        if self.one_of(False, True):
            parts.append(writer.value("boolean", 1))
        return self.one_of(" AND ", " OR ").join(f"({part})" for part in parts)

    def sql(self, text: str, columns: Columns) -> None:
        """Go on with a SELECT whose ``{prev}`` stands for the relation so far, as something that may stand in FROM."""
        prev, head = self._previous(text)
        self.query = head + text.replace("{prev}", prev)
        self.columns, self.framed = columns, False

    def frame(self, text: str, columns: Columns) -> None:
        """Go on with calls on the DataFrame so far."""
        self.flush()
        self.lines.append(f"df = df{text}")
        self.columns, self.framed = columns, True

    def flush(self) -> None:
        """Make a DataFrame of the SQL that waits."""
        if not self.framed:
            is_name = " " not in self.query
            self.lines.append(f'df = spark.table("{self.query}")' if is_name else f'df = spark.sql("""{self.query}""")')
            self.framed = True

    def _previous(self, text: str) -> tuple[str, str]:
        """The relation so far as SQL, and what must stand before ``text`` for it: one query has one WITH."""
        if not self.framed and " " not in self.query:
            return self.query, ""
        once, has_with = text.count("{prev}") == 1, text.startswith("WITH ")
        glue = "view" if self.framed else self.one_of(*["FROM"] * once, *["WITH"] * (not has_with), "view")
        self.used.add(f"step {glue}")
        if glue == "FROM":
            return f"({self.query})", ""
        name = f"s{len(self.lines)}_{len(self.query)}"
        if glue == "WITH":
            return name, f"WITH {name} AS ({self.query}) "
        self.flush()
        self.lines.append(f'df.createOrReplaceTempView("{name}")')
        return name, ""


Step = Callable[[Builder], None]


class Pipeline(NamedTuple):
    """A generated case, and the forms and steps in it."""

    case: Case
    used: frozenset[str]

    def __repr__(self) -> str:
        return f"\n{self.case.code}\n"


def base(name: str) -> Columns:
    """The columns of one of the three tables."""
    return Columns(BASES[name], tuple(BASES[name])[:1])


@st.composite
def pipelines(draw: Draw, steps: Mapping[str, Step], preludes: Mapping[str, str]) -> Pipeline:
    """A pipeline of one to four of ``steps``; ``preludes`` are definitions that a step may ask for by name."""
    table = draw(st.sampled_from(tuple(BASES)))
    builder = Builder(draw, base(table), table)
    for name in draw(st.lists(st.sampled_from(tuple(steps)), min_size=1, max_size=4)):
        steps[name](builder)
        builder.used.add(f"step {name}")
    builder.flush()
    code = "\n".join((*(preludes[name] for name in sorted(builder.prelude)), *builder.lines))
    return Pipeline(
        Case("oracle", "generated", "generated", code, Edges(), python=True, frame="df"), frozenset(builder.used)
    )
