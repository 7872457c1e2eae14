"""Answers as graphs of columns grouped by dataset, written as Mermaid or DOT."""

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from headwater.answers.labels import Labels, field
from headwater.answers.ways import way_words
from headwater.store.questions import Column, DatasetGraph, Graph, Hop, KnownDataset, Paths, Roots, Way

_EVERY = "every column"

Node = Column | KnownDataset
"""A dataset as a node stands for every column of it."""


@dataclass(frozen=True, slots=True)
class Arrow:
    """From a column to another, or to every column of a dataset; from dataset to dataset in a collapsed graph.

    ``direct`` says that the value is known to be carried, ``guess`` that nobody told of it.
    """

    input: Node
    output: Node
    label: str
    direct: bool
    guess: bool = False


def arrows_of(answer: Roots | Graph | DatasetGraph | Paths) -> list[Arrow]:
    """The arrows of an answer, in the direction of the data, each once."""
    if isinstance(answer, Roots):
        return [_arrow(root.column, answer.column, root.ways) for root in answer.roots]
    if isinstance(answer, DatasetGraph):
        return [_arrow(hop.input, hop.output, map(Way, hop.transformations)) for hop in answer.hops]
    if isinstance(answer, Graph):
        hops: Iterable[Hop] = answer.hops
    else:
        hops = (hop for path in answer.paths for step in path.steps for hop in step)
    together: dict[tuple[Node, Node], list[Way]] = {}
    for hop in hops:
        ends: tuple[Node, Node] = (hop.input, hop.output or hop.output_dataset)
        together.setdefault(ends, []).extend(Way(one) for one in hop.transformations)
    return [_arrow(source, target, dict.fromkeys(ways)) for (source, target), ways in together.items()]


def mermaid(arrows: list[Arrow]) -> Iterator[str]:
    """A Mermaid flowchart; dotted arrows influence without carrying the value, or are guesses."""
    yield "flowchart LR"
    drawing = _Drawing(arrows)
    yield from (f'  {drawing.id(node)}["{_mermaid_text(label)}"]' for node, label in drawing.alone())
    for place, (dataset, nodes) in enumerate(drawing.groups.items()):
        yield f'  subgraph d{place}["{_mermaid_text(drawing.labels.dataset(dataset))}"]'
        yield from (f'    {drawing.id(node)}["{_mermaid_text(_name(node))}"]' for node in nodes)
        yield "  end"
    for arrow in arrows:
        line = "-->" if arrow.direct else "-.->"
        yield f'  {drawing.id(arrow.input)} {line}|"{arrow.label}"| {drawing.id(arrow.output)}'


def dot(arrows: list[Arrow]) -> Iterator[str]:
    """A Graphviz graph; dashed arrows influence without carrying the value, or are guesses."""
    yield "digraph lineage {"
    yield "  rankdir=LR; node [shape=box, fontname=Helvetica]; edge [fontname=Helvetica, fontsize=10];"
    drawing = _Drawing(arrows)
    yield from (f"  {drawing.id(node)} [label={_dot_text(label)}];" for node, label in drawing.alone())
    for place, (dataset, nodes) in enumerate(drawing.groups.items()):
        yield f"  subgraph cluster_{place} {{ label={_dot_text(drawing.labels.dataset(dataset))};"
        yield from (f"    {drawing.id(node)} [label={_dot_text(_name(node))}];" for node in nodes)
        yield "  }"
    for arrow in arrows:
        style = "" if arrow.direct else ", style=dashed"
        yield f"  {drawing.id(arrow.input)} -> {drawing.id(arrow.output)} [label={_dot_text(arrow.label)}{style}];"
    yield "}"


class _Drawing:
    def __init__(self, arrows: list[Arrow]) -> None:
        nodes = dict.fromkeys(node for arrow in arrows for node in (arrow.input, arrow.output))
        self._ids = {node: f"n{place}" for place, node in enumerate(nodes)}
        datasets: dict[KnownDataset, list[Node]] = {}
        for node in nodes:
            datasets.setdefault(node.dataset if isinstance(node, Column) else node, []).append(node)
        self.labels = Labels(datasets)
        columns = any(isinstance(node, Column) for node in nodes)
        self.groups, self._alone = (datasets, []) if columns else ({}, list(datasets))

    def id(self, node: Node) -> str:
        return self._ids[node]

    def alone(self) -> Iterator[tuple[Node, str]]:
        """The datasets of a collapsed graph, which have no columns to stand around, with their labels."""
        return ((dataset, self.labels.dataset(dataset)) for dataset in self._alone)


def _arrow(source: Node, target: Node, ways: Iterable[Way]) -> Arrow:
    given = list(ways)
    told = [way.transformation for way in given if not way.transformation.guess]
    return Arrow(source, target, way_words(given), any(one.direct for one in told), guess=not told)


def _name(node: Node) -> str:
    return field(node.name) if isinstance(node, Column) else _EVERY


def _mermaid_text(text: str) -> str:
    # Mermaid reads entity codes with # in place of &; quotes and markup characters end or change a label.
    return "".join(f"#{ord(char)};" if char in '"#<>&`' else char for char in text)


def _dot_text(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)
