"""Answers as trees. In that of a walk each column has its steps once, and a mark where it is repeated."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import chain

from rich.text import Text

from headwater.answers.labels import Labels, field, readable
from headwater.answers.transformations import Kind, expressions_text, transformation_parts
from headwater.cli.output import Branch, aligned
from headwater.model import Job
from headwater.store.questions import (
    Column,
    Direction,
    End,
    Evidence,
    Graph,
    Hop,
    Impact,
    KnownDataset,
    Origin,
    Paths,
    PathTransformation,
    Root,
    Roots,
)

_STYLES = {Kind.DIRECT: "green", Kind.INDIRECT: "yellow", Kind.MARK: "magenta", Kind.ASIDE: "dim"}
_EVIDENCE = {
    Evidence.UNWRITTEN: "no known job writes it",
    Evidence.LITERAL: "made without reading a column",
    Evidence.PARTIAL: "no input known, and its run's lineage has gaps, see: headwater coverage",
    Evidence.NO_LINEAGE: "lineage unknown from here on, see: headwater coverage",
    Evidence.UNNAMED: "no known run wrote a column of that name",
    Evidence.REPLACED: "its dataset was replaced, and what is in it now is not known to have it",
    Evidence.CYCLE: "made from itself only",
    Evidence.FILTERED: "what stands before it was filtered out",
}


def roots_tree(answer: Roots) -> Branch:
    """Return one line for each root: transformations, column, dataset, applications."""
    labels = Labels({answer.column.dataset, *(root.column.dataset for root in answer.roots)})
    rows = [_root_cells(root, labels) for root in answer.roots]
    tree = Branch(heading(answer.column, labels), [Branch(line) for line in aligned(rows)] if rows else [])
    if answer.origin is not None:
        tree.children.append(Branch(Text(f"a root itself: {evidence_text(answer)}", style="dim")))
    return tree


def _root_cells(root: Root, labels: Labels) -> list[Text]:
    column = Text(labels.column(root.column), style="bold")
    where = Text(readable(str(root.column.dataset)), style="dim")
    marks = [] if root.origin is Origin.SOURCE else [evidence_text(root)]
    marks += [f"possibly replaced by {root.possibly_replaced[-1].job.name}"] if root.possibly_replaced else []
    mark = f"({'; '.join(marks)})" if marks else ""
    return [
        styled_transformations(root.transformations),
        column,
        where,
        via(root.applications),
        Text(mark, style="dim"),
    ]


def evidence_text(end: Root | Roots | End) -> str:
    """Return the evidence on a column with nothing before it, and similar names."""
    near = f"; near: {', '.join(readable(str(one)) for one in end.near)}" if end.near else ""
    return f"{_EVIDENCE[end.evidence]}{near}" if end.evidence is not None else ""


def impact_tree(answer: Impact) -> Branch:
    """Return the dependent datasets, the nearest first, with their columns below."""
    start = answer.start if isinstance(answer.start, KnownDataset) else answer.start.dataset
    labels = Labels({start, *(one.dataset for one in answer.datasets)})
    tree = Branch(heading(answer.start, labels))
    for one in answer.datasets:
        parts = [heading(one.dataset, labels), styled_transformations(one.transformations), via(one.jobs)]
        line = Text("  ").join(part for part in parts if part.plain)
        rows = [
            [Text(field(column.column.name, column.column.path)), styled_transformations(column.transformations)]
            for column in one.columns
        ]
        tree.children.append(Branch(line, [Branch(row) for row in aligned(rows)]))
    if not answer.datasets:
        tree.children.append(Branch(Text("nothing known depends on it", style="dim")))
    return tree


def paths_tree(answer: Paths) -> Branch:
    """Return each path with a line for each step: column, transformations, jobs."""
    columns = [column for path in answer.paths for column in path.columns]
    labels = Labels({one.dataset for one in (answer.source, answer.target, *columns)})
    title = Text.assemble((labels.column(answer.source), "bold"), " → ", (labels.column(answer.target), "bold"))
    tree = Branch(title)
    for path in answer.paths:
        rows = [_step_cells(column, step, labels) for column, step in zip(path.columns[1:], path.steps, strict=True)]
        steps = len(path.steps)
        line = Text(f"{steps} step{'s' if steps != 1 else ''}", style="dim")
        tree.children.append(Branch(line, [Branch(row) for row in aligned(rows)] if rows else []))
    if not answer.paths:
        tree.children.append(Branch(Text("no path, in neither direction", style="dim")))
    return tree


def _step_cells(column: Column, step: Iterable[Hop], labels: Labels) -> list[Text]:
    hops = list(step)
    several = [PathTransformation(one, hop.whole_dataset) for hop in hops for one in hop.transformations]
    how = (styled_transformations(several), styled_expressions(several))
    return [Text(labels.column(column)), *how, via(hop.job for hop in hops)]


def heading(start: Column | KnownDataset, labels: Labels) -> Text:
    """Return the first line: the start, and its dataset."""
    dataset = start if isinstance(start, KnownDataset) else start.dataset
    name = labels.dataset(start) if isinstance(start, KnownDataset) else labels.column(start)
    return Text.assemble((name, "bold cyan"), "  ", (readable(str(dataset)), "dim"))


def via(jobs: Iterable[Job]) -> Text:
    """Return the jobs along the path, in the direction of the data; nothing for lineage without a job."""
    jobs_named = [job.name for job in jobs if job.name]
    return Text(f"via {' → '.join(jobs_named)}" if jobs_named else "", style="dim")


def styled_transformations(several: Iterable[PathTransformation]) -> Text:
    """Return the subtypes: those of the column, then those of whole datasets.

    >>> from headwater.model import Subtype, Transformation
    >>> aggregation, join = Transformation(Subtype.AGGREGATION), Transformation(Subtype.JOIN)
    >>> styled_transformations([PathTransformation(aggregation), PathTransformation(join, True)]).plain
    'AGGREGATION, JOIN (dataset)'
    """
    subtypes = (
        Text.assemble(*((part.text, _STYLES[part.kind]) for part in parts)) for parts in transformation_parts(several)
    )
    return Text(", ").join(subtypes)


def styled_expressions(several: Iterable[PathTransformation]) -> Text:
    """Return the SQL texts of the expressions, shortened; nothing where there are none."""
    return Text(readable(expressions_text(several)), style="italic")


@dataclass(frozen=True, slots=True)
class Rows:
    """Every row of a dataset, which some steps act on as a whole."""

    dataset: KnownDataset


Node = Column | KnownDataset | Rows
Visit = tuple[Node, frozenset[int]]
"""A column, or the rows of a dataset, and the nodes of a walk's readings that it stands for."""

MOST_VISITS = 5_000  # lines with steps below, of a walk with readings: from then on it has each column once


def walk_tree(graph: Graph) -> Branch:
    """Return the tree of a walk: inputs below outputs upwards, outputs below inputs downwards."""
    return _Drawing(graph).tree()


class _Drawing:
    def __init__(self, graph: Graph) -> None:
        self._graph = graph
        self._up = graph.direction is Direction.UP
        start = graph.start.dataset if isinstance(graph.start, Column) else graph.start
        self._labels = Labels({start, *(column.dataset for column in graph.columns)})
        self._onward: dict[Node, dict[Node, list[Hop]]] = {}
        for hop in graph.hops:
            output: Node = hop.output or Rows(hop.output_dataset)
            near, far = (output, hop.input) if self._up else (hop.input, output)
            self._onward.setdefault(near, {}).setdefault(far, []).append(hop)
        self._columns: dict[KnownDataset, list[Column]] = {}
        for column in graph.columns:
            self._columns.setdefault(column.dataset, []).append(column)

    def tree(self) -> Branch:
        root = Branch(heading(self._graph.start, self._labels))
        shown: set[object] = set()
        stack: list[tuple[Visit, Branch]] = [(self._visit(self._graph.start), root)]
        while stack:
            visit, branch = stack.pop()
            if len(shown) > MOST_VISITS:
                visit = visit[0], self._every(visit[0])
            seen = self._seen(visit)
            if seen in shown:
                if any(True for _ in self._below(visit)):
                    branch.line.append("  ↑ shown above", style="dim")
                continue
            shown.add(seen)
            below = [(far, Branch(line)) for far, line in self._below(visit)]
            branch.children += [child for _, child in below]
            stack += reversed(below)
        if not root.children:
            root.children.append(Branch(self._nothing()))
        return root

    def _visit(self, node: Node) -> Visit:
        return node, frozenset([node.id] if isinstance(node, Column) else ())

    @cached_property
    def _nodes(self) -> dict[Column | KnownDataset, set[int]]:
        """The nodes that stand for a column, or for one of a dataset's, as they were read."""
        found: dict[Column | KnownDataset, set[int]] = {}
        for one, place in chain.from_iterable(self._graph.readings.values()):
            column = self._graph.hops[place].input
            for node in (column, column.dataset):
                found.setdefault(node, set()).add(one)
        return found

    def _every(self, node: Node) -> frozenset[int]:
        """Return all nodes that a column, or the rows of a dataset, may stand for."""
        if isinstance(node, Column):
            return self._visit(node)[1].union(self._nodes.get(node, ()))
        dataset = node.dataset if isinstance(node, Rows) else node
        return frozenset([-dataset.id]).union(self._nodes.get(dataset, ()))

    def _seen(self, visit: Visit) -> object:
        """Return what has steps of its own in the tree: a column that was read at several times has several."""
        node, nodes = visit
        return node, frozenset(step for one in nodes for step in self._graph.readings.get(one, ()))

    def _nothing(self) -> Text:
        end = self._graph.ends.get(self._graph.start) if isinstance(self._graph.start, Column) else None
        if end is not None:
            return Text(f"nothing before it: {evidence_text(end)}", style="dim")
        return Text("nothing known before it" if self._up else "nothing known after it")

    def _below(self, visit: Visit) -> Iterator[tuple[Visit, Text]]:
        node, nodes = visit
        if isinstance(node, KnownDataset):
            yield from self._rows(node, frozenset([-node.id]))
            yield from ((self._visit(column), self._name(column)) for column in self._columns.get(node, ()))
        for far, hops in self._steps(visit).items():
            several = [PathTransformation(one) for hop in hops for one in hop.transformations]
            jobs = via(dict.fromkeys(hop.job for hop in hops))
            parts = (self._name(far[0]), styled_transformations(several), styled_expressions(several), jobs)
            yield far, Text("  ").join(part for part in parts if part.plain)
        if isinstance(node, Column) and (node.dataset != self._graph.start or nodes != {node.id}):
            yield from self._rows(node.dataset, nodes | {-node.dataset.id} if node.id in nodes else nodes)
        if not self._up and isinstance(node, Rows):
            columns = self._columns.get(node.dataset, ())
            yield from ((self._visit(column), self._name(column)) for column in columns if column in self._onward)

    def _steps(self, visit: Visit) -> dict[Visit, list[Hop]]:
        """Return the steps onward: those that were there when the nodes of the visit were read."""
        node, nodes = visit
        if not self._graph.readings:
            return {self._visit(far): hops for far, hops in self._onward.get(node, {}).items()}
        before = sorted((place, one) for near in nodes for one, place in self._graph.readings.get(near, ()))
        found: dict[Column, dict[int, Hop]] = {}
        read: dict[Column, set[int]] = {}
        for place, one in before:
            hop = self._graph.hops[place]
            if hop.whole_dataset == isinstance(node, Rows):
                found.setdefault(hop.input, {})[place] = hop
                read.setdefault(hop.input, set()).add(one)
        return {(column, frozenset(read[column])): list(hops.values()) for column, hops in found.items()}

    def _rows(self, dataset: KnownDataset, nodes: frozenset[int]) -> Iterator[tuple[Visit, Text]]:
        rows: Visit = Rows(dataset), nodes
        if self._up and self._steps(rows):
            yield rows, self._name(rows[0])

    def _name(self, node: Node) -> Text:
        if isinstance(node, Rows):
            kind = "rows of" if self._up else "every column of"
            return Text.assemble((f"{kind} ", "dim"), self._labels.dataset(node.dataset))
        if isinstance(node, KnownDataset):
            return Text(self._labels.dataset(node))
        return Text.assemble(self._labels.column(node), (self._mark(node), "dim"))

    def _mark(self, column: Column) -> str:
        """Return the evidence on a column where the walk ends; nothing for a source, as most ends are."""
        end = self._graph.ends.get(column)
        return "" if end is None or end.evidence is Evidence.UNWRITTEN else f"  ({evidence_text(end)})"
