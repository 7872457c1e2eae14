"""A walk as a tree: each column with its steps once, and a mark where it is repeated."""

from collections.abc import Iterator
from dataclasses import dataclass

from rich.text import Text

from headwater.answers.labels import Labels
from headwater.cli.output import Branch
from headwater.cli.trees import evidence_text, heading, styled_expressions, styled_transformations, via
from headwater.store.questions import Column, Direction, Evidence, Graph, Hop, KnownDataset, PathTransformation


@dataclass(frozen=True, slots=True)
class Rows:
    """Every row of a dataset, which some steps act on as a whole."""

    dataset: KnownDataset


Node = Column | KnownDataset | Rows


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
        shown: set[Node] = set()
        stack: list[tuple[Node, Branch]] = [(self._graph.start, root)]
        while stack:
            node, branch = stack.pop()
            if node in shown:
                if any(True for _ in self._below(node)):
                    branch.line.append("  ↑ shown above", style="dim")
                continue
            shown.add(node)
            below = [(far, Branch(line)) for far, line in self._below(node)]
            branch.children += [child for _, child in below]
            stack += reversed(below)
        if not root.children:
            root.children.append(Branch(self._nothing()))
        return root

    def _nothing(self) -> Text:
        end = self._graph.ends.get(self._graph.start) if isinstance(self._graph.start, Column) else None
        if end is not None:
            return Text(f"nothing before it: {evidence_text(end)}", style="dim")
        return Text("nothing known before it" if self._up else "nothing known after it")

    def _below(self, node: Node) -> Iterator[tuple[Node, Text]]:
        if isinstance(node, KnownDataset):
            yield from self._rows(node)
            yield from ((column, self._name(column)) for column in self._columns.get(node, ()))
        for far, hops in self._onward.get(node, {}).items():
            several = [PathTransformation(one) for hop in hops for one in hop.transformations]
            jobs = via(dict.fromkeys(hop.job for hop in hops))
            parts = (self._name(far), styled_transformations(several), styled_expressions(several), jobs)
            yield far, Text("  ").join(part for part in parts if part.plain)
        if isinstance(node, Column) and node.dataset != self._graph.start:
            yield from self._rows(node.dataset)
        if not self._up and isinstance(node, Rows):
            columns = self._columns.get(node.dataset, ())
            yield from ((column, self._name(column)) for column in columns if column in self._onward)

    def _rows(self, dataset: KnownDataset) -> Iterator[tuple[Node, Text]]:
        rows = Rows(dataset)
        if self._up and rows in self._onward:
            yield rows, self._name(rows)

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
