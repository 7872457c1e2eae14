"""Answers as GraphML, which graph libraries and editors read (http://graphml.graphdrawing.org, version 1.0)."""

import re
from collections.abc import Iterator
from xml.sax.saxutils import escape, quoteattr

from headwater.answers.drawings import Arrow, Node
from headwater.store.questions import Column

_KEYS = {
    "node": {"kind": "string", "namespace": "string", "dataset": "string", "field": "string"},
    "edge": {"transformations": "string", "direct": "boolean"},
}
_NOT_IN_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")  # XML 1.0, section 2.2


def graphml(arrows: list[Arrow]) -> Iterator[str]:
    """A directed graph in the direction of the data; a node of kind ``dataset`` stands for every column of it."""
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
        yield f'    <node id="{id_}">{_data(_said_of(node))}</node>'
    for arrow in arrows:
        said = {"transformations": arrow.label, "direct": str(arrow.direct).lower()}
        said |= {"guess": "true"} if arrow.guess else {}
        yield f'    <edge source="{ids[arrow.input]}" target="{ids[arrow.output]}">{_data(said)}</edge>'
    yield "  </graph>"
    yield "</graphml>"


def _said_of(node: Node) -> dict[str, str]:
    known = node.dataset if isinstance(node, Column) else node
    named = {"namespace": known.dataset.namespace, "dataset": known.dataset.name}
    return {"kind": "column", **named, "field": node.name} if isinstance(node, Column) else {"kind": "dataset", **named}


def _data(said: dict[str, str]) -> str:
    return "".join(
        f"<data key={quoteattr(key)}>{escape(_NOT_IN_XML.sub('�', text))}</data>" for key, text in said.items()
    )
