"""Printing: lines, trees, aligned columns, CSV and JSON; colour only on a terminal, never wrapped or cut."""

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from enum import Enum
from typing import Any

import typer
from rich.cells import cell_len
from rich.console import Console
from rich.text import Text


class Format(str, Enum):
    """How an answer is printed."""

    TREE = "tree"
    JSON = "json"
    CSV = "csv"
    MERMAID = "mermaid"
    DOT = "dot"


@dataclass(slots=True)
class Branch:
    """A line of a tree with the lines below it."""

    line: Text
    children: "list[Branch]" = field(default_factory=list)


def print_lines(lines: Iterable[Text | str]) -> None:
    """Prints lines as they are, each on one line however long."""
    console = Console(highlight=False)
    for line in lines:
        console.print(line, soft_wrap=True, markup=False)


def note(text: str) -> None:
    """Tells a person something beside the answer, on stderr."""
    Console(stderr=True, highlight=False).print(text, soft_wrap=True, markup=False, style="dim")


def tree_lines(root: Branch) -> Iterator[Text]:
    """The lines of a tree; deep ones too, hence no recursion."""
    yield root.line
    stack = [(child, "", child is root.children[-1]) for child in reversed(root.children)]
    while stack:
        branch, indent, last = stack.pop()
        yield Text.assemble((indent + ("└── " if last else "├── "), "dim"), branch.line)
        below = indent + ("    " if last else "│   ")
        stack += [(child, below, child is branch.children[-1]) for child in reversed(branch.children)]


def aligned(rows: Sequence[Sequence[Text]]) -> list[Text]:
    """Rows of cells as lines with the cells of a column below each other."""
    widths = [max(cell_len(cell.plain) for cell in column) for column in zip(*rows, strict=True)]
    lines = []
    for row in rows:
        line = Text()
        for cell, width in zip(row, widths, strict=True):
            line.append_text(cell).append(" " * (width - cell_len(cell.plain) + 2 if width else 0))
        line.rstrip()
        lines.append(line)
    return lines


def table(header: Sequence[str], rows: Iterable[Sequence[str]]) -> list[Text]:
    """Aligned rows under a header."""
    cells = [[Text(cell) for cell in row] for row in rows]
    return aligned([[Text(name, style="dim") for name in header], *cells])


def json_lines(document: Any) -> list[str]:
    """A document as indented JSON."""
    return [json.dumps(document, indent=2, ensure_ascii=False)]


def refuse(wanted: Format, answer: str, possible: Iterable[Format]) -> typer.BadParameter:
    """The usage error for a format that an answer does not come in."""
    names = ", ".join(one.value for one in possible)
    return typer.BadParameter(f"{answer} cannot be printed as {wanted.value}: choose one of {names}.")
