"""Answers as graphs of columns: Mermaid and DOT, grouped by dataset, and GraphML."""

import json
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from xml.sax.saxutils import escape, quoteattr

from headwater.answers.labels import Labels, field, readable
from headwater.answers.transformations import expressions_text, transformations_text
from headwater.store.questions import Column, DatasetGraph, Graph, Hop, KnownDataset, Paths, PathTransformation, Roots

_EVERY = "every column"
_KEYS = {
    "node": {"kind": "string", "namespace": "string", "dataset": "string", "field": "string"},
    "edge": {"transformations": "string", "expression": "string", "direct": "boolean"},
}
_NOT_IN_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")  # XML 1.0, section 2.2

Drawable = Roots | Graph | DatasetGraph | Paths
"""The answers that can be drawn."""

Node = Column | KnownDataset
"""A dataset as a node stands for every column of it."""


@dataclass(frozen=True, slots=True)
class Arrow:
    """From a column to another, or to every column of a dataset; from dataset to dataset in a collapsed graph.

    ``direct`` says that a value is carried; ``guess`` that no event describes the arrow. ``expression`` is the SQL
    text of what computes the output, where the lineage has it.
    """

    input: Node
    output: Node
    label: str
    direct: bool
    guess: bool = False
    expression: str = ""

    @property
    def text(self) -> str:
        """The label with the expression, shortened."""
        return f"{self.label}: {readable(self.expression)}" if self.expression else self.label


def arrows_of(answer: Drawable) -> list[Arrow]:
    """Return the arrows of an answer, in the direction of the data, each once."""
    if isinstance(answer, Roots):
        return [_arrow(root.column, answer.column, root.transformations) for root in answer.roots]
    if isinstance(answer, DatasetGraph):
        return [_arrow(hop.input, hop.output, map(PathTransformation, hop.transformations)) for hop in answer.hops]
    if isinstance(answer, Graph):
        hops: Iterable[Hop] = answer.hops
    else:
        hops = (hop for path in answer.paths for step in path.steps for hop in step)
    together: dict[tuple[Node, Node], list[PathTransformation]] = {}
    for hop in hops:
        ends: tuple[Node, Node] = (hop.input, hop.output or hop.output_dataset)
        together.setdefault(ends, []).extend(PathTransformation(one) for one in hop.transformations)
    return [_arrow(source, target, dict.fromkeys(several)) for (source, target), several in together.items()]


def mermaid(arrows: list[Arrow]) -> Iterator[str]:
    """Return a Mermaid flowchart; dotted arrows influence without carrying the value, or are guesses."""
    yield "flowchart LR"
    drawing = _Drawing(arrows)
    yield from (f'  {drawing.id(node)}["{_mermaid_text(label)}"]' for node, label in drawing.alone())
    for place, (dataset, nodes) in enumerate(drawing.groups.items()):
        yield f'  subgraph d{place}["{_mermaid_text(drawing.labels.dataset(dataset))}"]'
        yield from (f'    {drawing.id(node)}["{_mermaid_text(_name(node))}"]' for node in nodes)
        yield "  end"
    for arrow in arrows:
        line = "-->" if arrow.direct else "-.->"
        yield f'  {drawing.id(arrow.input)} {line}|"{_mermaid_text(arrow.text)}"| {drawing.id(arrow.output)}'


def dot(arrows: list[Arrow]) -> Iterator[str]:
    """Return a Graphviz graph; dashed arrows influence without carrying the value, or are guesses."""
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
        yield f"  {drawing.id(arrow.input)} -> {drawing.id(arrow.output)} [label={_dot_text(arrow.text)}{style}];"
    yield "}"


def graphml(arrows: list[Arrow]) -> Iterator[str]:
    """Return a directed graph in GraphML 1.0 (http://graphml.graphdrawing.org).

    A node of kind ``dataset`` stands for every column of the dataset.
    """
    yield '<?xml version="1.0" encoding="UTF-8"?>'
    yield '<graphml xmlns="http://graphml.graphdrawing.org/xmlns">'
    guesses = {"edge": {**_KEYS["edge"], "guess": "boolean"}} if any(arrow.guess for arrow in arrows) else {}
    for of, keys in (_KEYS | guesses).items():
        yield from (
            f'  <key id="{name}" for="{of}" attr.name="{name}" attr.type="{kind}"/>' for name, kind in keys.items()
        )
    yield '  <graph id="lineage" edgedefault="directed">'
    nodes = dict.fromkeys(node for arrow in arrows for node in (arrow.input, arrow.output))
    ids = {node: f"n{place}" for place, node in enumerate(nodes)}
    for node, id_ in ids.items():
        yield f'    <node id="{id_}">{_xml_data(_node_data(node))}</node>'
    for arrow in arrows:
        data = {"transformations": arrow.label, "expression": arrow.expression, "direct": str(arrow.direct).lower()}
        data |= {"guess": "true"} if arrow.guess else {}
        yield f'    <edge source="{ids[arrow.input]}" target="{ids[arrow.output]}">{_xml_data(data)}</edge>'
    yield "  </graph>"
    yield "</graphml>"


DRAWINGS = {"mermaid": mermaid, "dot": dot, "graphml": graphml}
"""The forms of drawings by their names."""


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
        """The datasets of a collapsed graph, with their labels."""
        return ((dataset, self.labels.dataset(dataset)) for dataset in self._alone)


def _arrow(source: Node, target: Node, transformations: Iterable[PathTransformation]) -> Arrow:
    several = list(transformations)
    certain = [one.transformation for one in several if not one.transformation.guess]
    direct = any(one.direct for one in certain)
    label, expression = transformations_text(several), expressions_text(several)
    return Arrow(source, target, label, direct, guess=not certain, expression=expression)


def _name(node: Node) -> str:
    return field(node.name, node.path) if isinstance(node, Column) else _EVERY


def _mermaid_text(text: str) -> str:
    # Mermaid reads entity codes with # in place of &; quotes and markup characters end or change a label.
    return "".join(f"#{ord(char)};" if char in '"#<>&`' else char for char in text)


def _dot_text(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)


def _node_data(node: Node) -> dict[str, str]:
    known = node.dataset if isinstance(node, Column) else node
    named = {"namespace": known.dataset.namespace, "dataset": known.dataset.name}
    return {"kind": "column", **named, "field": node.name} if isinstance(node, Column) else {"kind": "dataset", **named}


def _xml_data(data: dict[str, str]) -> str:
    return "".join(
        f"<data key={quoteattr(key)}>{escape(_NOT_IN_XML.sub('�', text))}</data>" for key, text in data.items()
    )
