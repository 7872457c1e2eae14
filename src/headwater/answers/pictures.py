"""Pictures of columns and the edges between them as SVG, which needs no script; and pages of HTML around them."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from html import escape
from statistics import fmean

from headwater.answers.labels import readable
from headwater.graph import components

_ROW, _TITLE, _GAP, _BETWEEN, _CHAR = 20, 26, 24, 110, 7.2
"""Heights of a column and of a title, the space below a box, that between two, and the width of a character."""
_LONGEST = 48

_STYLE = """
body{font:15px/1.5 system-ui,sans-serif;margin:2em;max-width:75em;color:#1b1f24;background:#fff}
code{background:#f2f4f6;border-radius:3px;padding:0 .25em;overflow-wrap:anywhere}
table{border-collapse:collapse}td,th{text-align:left;padding:.2em 1em .2em 0}
figure{margin:1em 0;overflow-x:auto}figcaption{color:#57606a}
svg text{font:12px ui-monospace,monospace;fill:#1b1f24}.box{fill:#f6f8fa;stroke:#8c959f}.name{font-weight:600}
.edge{fill:none;stroke-width:2}.before{stroke:#8c959f}.changed{stroke:#bf8700;stroke-width:3}
.added{stroke:#1a7f37}.removed{stroke:#cf222e;stroke-dasharray:6 4}.tag{stroke:#8250df;stroke-width:3}
"""


class Look(str, Enum):
    """The look of an edge, the most important last."""

    BEFORE = "as before"
    REMOVED = "removed"
    ADDED = "added"
    CHANGED = "changed"
    TAG = "a tag newly arrives over it"


@dataclass(frozen=True, slots=True)
class DrawnEdge:
    """An edge between two columns, each a dataset and a name, with a text that a pointer shows."""

    input: tuple[str, str]
    output: tuple[str, str]
    look: Look
    text: str = ""


@dataclass(frozen=True, slots=True)
class _Box:
    dataset: str
    columns: tuple[str, ...]
    x: float
    y: float
    width: float

    def middle(self, column: str) -> float:
        return self.y + _TITLE + (self.columns.index(column) + 0.5) * _ROW


def page(title: str, markdown: str, picture: str = "") -> str:
    """Return a page of HTML that needs no other file and no script: a picture below the first heading of a text.

    Markup in the text is shown, not obeyed.
    """
    from markdown_it import MarkdownIt  # most commands need it not

    text = MarkdownIt("commonmark", {"html": False}).enable("table").render(markdown)
    heading, end, rest = text.partition("</h2>\n") if picture else ("", "", text)
    head = f'<!DOCTYPE html>\n<html lang="en"><meta charset="utf-8"><title>{escape(title)}</title>'
    return f"{head}<style>{_STYLE}</style>\n{heading}{end}{picture}{rest}</html>"


def picture(edges: Sequence[DrawnEdge]) -> str:
    """Return a figure of edges from left to right, the columns of a dataset in one box; empty without edges."""
    if not edges:
        return ""
    boxes = _boxes(edges)
    width = max(box.x + box.width for box in boxes.values())
    height = max(box.y + _TITLE + len(box.columns) * _ROW for box in boxes.values())
    order = sorted(edges, key=lambda one: list(Look).index(one.look))
    looks = dict.fromkeys(one.look for one in order)
    shown = ", ".join(
        f'<svg width="26" height="10"><path class="edge {one.name.lower()}" d="M0 5H26"/></svg> {one.value}'
        for one in looks
    )
    return "\n".join(
        (
            f'<figure><svg viewBox="-4 -4 {width + 8:.0f} {height + 8:.0f}" width="{width:.0f}" role="img">',
            *(_line(one, boxes[one.input[0]], boxes[one.output[0]]) for one in order),
            *(line for box in boxes.values() for line in _box_lines(box)),
            f"</svg><figcaption>{shown}</figcaption></figure>",
            "",
        )
    )


def _boxes(edges: Sequence[DrawnEdge]) -> dict[str, _Box]:
    """Place each dataset right of those that it is made of, at the mean height of these where there is room."""
    columns: dict[str, dict[str, None]] = {}
    inputs: dict[str, dict[str, None]] = {}
    for one in edges:
        for dataset, column in (one.input, one.output):
            columns.setdefault(dataset, {})[column] = None
            inputs.setdefault(dataset, {})
        inputs[one.output[0]][one.input[0]] = None
    boxes: dict[str, _Box] = {}
    x = 0.0
    for layer in _layers(inputs):
        y, width = 0.0, max(_width(dataset, columns[dataset]) for dataset in layer)
        wanted = {name: [boxes[source].y for source in inputs[name] if source in boxes] for name in layer}
        for dataset in sorted(layer, key=lambda dataset: (fmean(wanted[dataset] or (0.0,)), dataset)):
            boxes[dataset] = _Box(dataset, tuple(columns[dataset]), x, y, width)
            y += _TITLE + len(columns[dataset]) * _ROW + _GAP
        x += width + _BETWEEN
    return boxes


def _layers(inputs: Mapping[str, Iterable[str]]) -> Iterable[list[str]]:
    """Return the datasets by their largest distance from one that nothing makes; those of a cycle are side by side."""
    depth: dict[str, int] = {}
    for group in components(inputs, inputs.__getitem__):
        before = [depth[one] for member in group for one in inputs[member] if one not in group]
        depth |= dict.fromkeys(group, max(before, default=-1) + 1)
    found: dict[int, list[str]] = {}
    for dataset, place in depth.items():
        found.setdefault(place, []).append(dataset)
    return (found[place] for place in sorted(found))


def _width(dataset: str, columns: Iterable[str]) -> float:
    return max(len(_short(text)) for text in (dataset, *columns)) * _CHAR + 16


def _short(text: str) -> str:
    """Return the end of a text, by which names differ."""
    shown = readable(text)
    return shown if len(shown) <= _LONGEST else f"…{shown[1 - _LONGEST :]}"


def _line(edge: DrawnEdge, source: _Box, target: _Box) -> str:
    x, y, to_x, to_y = source.x + source.width, source.middle(edge.input[1]), target.x, target.middle(edge.output[1])
    bend = _BETWEEN / 2
    curve = f"M{x:.0f} {y:.0f}C{x + bend:.0f} {y:.0f} {to_x - bend:.0f} {to_y:.0f} {to_x:.0f} {to_y:.0f}"
    text = f"{edge.look.value}: {'.'.join(edge.input)} -> {'.'.join(edge.output)}  {edge.text}"
    return f'<path class="edge {edge.look.name.lower()}" d="{curve}"><title>{escape(text)}</title></path>'


def _box_lines(box: _Box) -> Iterator[str]:
    height = _TITLE + len(box.columns) * _ROW
    yield f'<rect class="box" x="{box.x:.0f}" y="{box.y:.0f}" width="{box.width:.0f}" height="{height}" rx="4"/>'
    title = f"<title>{escape(box.dataset)}</title>{escape(_short(box.dataset))}"
    yield f'<text class="name" x="{box.x + 8:.0f}" y="{box.y + 17:.0f}">{title}</text>'
    for column in box.columns:
        yield f'<text x="{box.x + 8:.0f}" y="{box.middle(column) + 4:.0f}">{escape(_short(column))}</text>'
