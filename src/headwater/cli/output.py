"""Printing: lines, trees, aligned columns, CSV and JSON; colour only on a terminal, never wrapped or cut."""

import json
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from enum import Enum
from typing import Any

import typer
from rich.cells import cell_len
from rich.console import Console
from rich.text import Text

_BETWEEN_NOTES = 30  # seconds


class Format(str, Enum):
    """A format of answers."""

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
    """Print lines as they are, without wrapping."""
    console = Console(highlight=False)
    for line in lines:
        console.print(line, soft_wrap=True, markup=False)


def note(text: str) -> None:
    """Print a note beside the answer, on stderr."""
    Console(stderr=True, highlight=False).print(text, soft_wrap=True, markup=False, style="dim")


def progress_notes(what: str) -> Callable[[int, int], None]:
    """Return a function that notes the progress on stderr, every 30 seconds at most."""
    last = time.monotonic()

    def note_progress(done: int, all: int) -> None:
        nonlocal last
        if time.monotonic() - last > _BETWEEN_NOTES:
            last = time.monotonic()
            note(f"{what} {done:,} of {all:,}")

    return note_progress


def tree_lines(root: Branch) -> Iterator[Text]:
    """Return the lines of a tree; without recursion, for deep ones."""
    yield root.line
    stack = [(child, "", child is root.children[-1]) for child in reversed(root.children)]
    while stack:
        branch, indent, last = stack.pop()
        yield Text.assemble((indent + ("└── " if last else "├── "), "dim"), branch.line)
        below = indent + ("    " if last else "│   ")
        stack += [(child, below, child is branch.children[-1]) for child in reversed(branch.children)]


def aligned(rows: Sequence[Sequence[Text]]) -> list[Text]:
    """Return rows of cells as lines with aligned columns."""
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
    """Return aligned rows under a header."""
    cells = [[Text(cell) for cell in row] for row in rows]
    return aligned([[Text(name, style="dim") for name in header], *cells])


def json_lines(document: Any) -> list[str]:
    """Return a document as indented JSON."""
    return [json.dumps(document, indent=2, ensure_ascii=False)]


def refuse(format_: Format, answer: str, possible: Iterable[Format]) -> typer.BadParameter:
    """Return the usage error for a format that an answer does not have."""
    names = ", ".join(one.value for one in possible)
    return typer.BadParameter(f"{answer} cannot be printed as {format_.value}: choose one of {names}.")
