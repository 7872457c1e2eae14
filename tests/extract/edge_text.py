"""Lineage as text that a reviewer reads, and back: the part of a case below its ``---``.

    id   <- IDENTITY customers.id
    rank <- WINDOW customers.country, WINDOW! customers.email
    none <-
    *    <- FILTER orders.status
    gap: opaque tidy

One line for each column of the output, in order, and one or more ``*`` lines for what touches every column. After the
kind, ``!`` says masking and ``?`` opaque. A dataset goes by the last component of its name. A name of anything but
letters, digits and ``_`` stands in backticks, its own backticks doubled.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from headwater.model import ColumnLineage, Dependency, Gap, Subtype

KINDS = tuple(subtype.value for subtype in Subtype)
NAME = r"(?:\w+|`(?:[^`]|``)+`)"
EDGE = re.compile(rf"(?P<kind>[A-Z_]+)(?P<marks>[!?]*)\s+(?P<dataset>{NAME})\.(?P<field>{NAME})")
LINE = re.compile(rf"(?P<name>{NAME}|\*)\s*<-\s*(?P<edges>.*)")
COMMA = re.compile(r",(?=(?:[^`]*`[^`]*`)*[^`]*$)")  # not inside backticks
GAP = re.compile(r"gap:\s+(?P<kind>[a-z]+)\s+(?P<what>\S.*)")


class CaseError(ValueError):
    """A case file that cannot be read; the message says where, what was met and what was expected."""


@dataclass(frozen=True, slots=True)
class Edge:
    """An input column and one way in which it takes part; ``dataset`` is the last component of the name."""

    kind: str
    dataset: str
    field: str
    masking: bool = False
    opaque: bool = False

    @property
    def order(self) -> tuple[int, str, str, bool, bool]:
        """DIRECT kinds first, then by name."""
        return KINDS.index(self.kind), self.dataset, self.field, self.masking, self.opaque

    def __str__(self) -> str:
        marks = "!" * self.masking + "?" * self.opaque
        return f"{self.kind}{marks} {quoted(self.dataset)}.{quoted(self.field)}"


@dataclass(frozen=True, slots=True)
class Edges:
    """The lineage of one output: its columns in order, what touches all of them, and what could not be seen."""

    columns: tuple[tuple[str, frozenset[Edge]], ...] = ()
    dataset: frozenset[Edge] = frozenset()
    gaps: frozenset[tuple[str, str]] = frozenset()


def quoted(name: str) -> str:
    """The name, in backticks when it is not a plain word.

    >>> quoted("price"), quoted("a.b"), quoted("e`f")
    ('price', '`a.b`', '`e``f`')
    """
    return name if re.fullmatch(r"\w+", name) else "`" + name.replace("`", "``") + "`"


def unquoted(text: str) -> str:
    """The name that ``quoted`` wrote."""
    return text[1:-1].replace("``", "`") if text.startswith("`") else text


def last_component(name: str) -> str:
    """A dataset's own name, without folders, catalog and database.

    >>> last_component("/data/shop.db/orders"), last_component("spark_catalog.shop.orders")
    ('orders', 'orders')
    """
    separator = "/" if "/" in name else "."
    return name.rstrip(separator).rpartition(separator)[2]


def read(text: str) -> Edges:
    """The lineage that a text describes.

    Raises:
        CaseError: a line is none of the three forms, an edge has an unknown kind, or a column comes twice.
    """
    columns: dict[str, frozenset[Edge]] = {}
    dataset: frozenset[Edge] = frozenset()
    gaps: set[tuple[str, str]] = set()
    for line in filter(None, map(str.strip, text.splitlines())):
        if gap := GAP.fullmatch(line):
            gaps.add((gap["kind"], gap["what"]))
            continue
        name, edges = _line(line)
        if name == "*":
            dataset |= edges
        elif unquoted(name) in columns:
            raise CaseError(f"The column {name} has two lines; expected one: put its edges together.")
        else:
            columns[unquoted(name)] = edges
    return Edges(tuple(columns.items()), dataset, frozenset(gaps))


def _line(line: str) -> tuple[str, frozenset[Edge]]:
    if not (found := LINE.fullmatch(line)):
        raise CaseError(f"Cannot read {line!r}; expected `column <- KIND dataset.column, ...` or `gap: kind what`.")
    return found["name"], frozenset(_edges(found["edges"], line))


def _edges(text: str, line: str) -> Iterator[Edge]:
    for part in map(str.strip, COMMA.split(text) if text else ()):
        if not (found := EDGE.fullmatch(part)) or found["kind"] not in KINDS:
            raise CaseError(
                f"Cannot read {part!r} in {line!r}; expected dataset.column after one of {', '.join(KINDS)}."
            )
        names = unquoted(found["dataset"]), unquoted(found["field"])
        yield Edge(found["kind"], *names, masking="!" in found["marks"], opaque="?" in found["marks"])


def edges_of(lineage: ColumnLineage, gaps: Iterable[Gap] = ()) -> Edges:
    """A lineage in the terms of a case: datasets by their last component, descriptions left out."""
    return Edges(
        tuple((name, frozenset(map(_edge, found))) for name, found in lineage.fields.items()),
        frozenset(map(_edge, lineage.dataset)),
        frozenset((gap.kind, gap.what) for gap in gaps),
    )


def _edge(dependency: Dependency) -> Edge:
    how = dependency.transformation
    dataset = last_component(dependency.input.dataset.name)
    return Edge(how.subtype.value, dataset, dependency.input.name, how.masking, how.opaque)


def render(edges: Edges, *, ordered: bool = True) -> str:
    """The text of a lineage; equal lineages have equal texts. Unless ``ordered``, columns stand by name."""
    columns = edges.columns if ordered else tuple(sorted(edges.columns, key=lambda column: column[0]))
    lines = [(quoted(name), found) for name, found in columns]
    if edges.dataset:
        lines.append(("*", edges.dataset))
    width = max((len(name) for name, _ in lines), default=0)
    text = [f"{name:{width}} <- {_listed(found)}".rstrip() for name, found in lines]
    return "".join(f"{line}\n" for line in text + [f"gap: {kind} {what}" for kind, what in sorted(edges.gaps)])


def _listed(edges: frozenset[Edge]) -> str:
    return ", ".join(map(str, sorted(edges, key=lambda edge: edge.order)))
