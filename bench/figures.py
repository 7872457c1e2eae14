"""Quantiles, lines through points, and tables of text."""

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import correlation, linear_regression


@dataclass(frozen=True, slots=True)
class Line:
    """A straight line through points, and how much of their spread it explains (R²)."""

    slope: float
    start: float
    r_squared: float


def quantile(values: Sequence[float], part: float) -> float:
    """The smallest value that at least ``part`` of the values do not exceed (nearest rank).

    >>> quantile([1, 2, 3, 4], 0.5), quantile([1, 2, 3, 4], 0.95)
    (2, 4)
    """
    ranked = sorted(values)
    return ranked[max(0, -int(-part * len(ranked) // 1) - 1)]


def line(xs: Sequence[float], ys: Sequence[float]) -> Line:
    """The least-squares line.

    >>> line([1, 2, 3], [2, 4, 6])
    Line(slope=2.0, start=0.0, r_squared=1.0)
    """
    slope, start = linear_regression(xs, ys)
    spread = len(set(ys)) > 1
    return Line(slope, start, correlation(xs, ys) ** 2 if spread else 1.0)


def table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """The rows as a Markdown table, the first column to the left and the others to the right.

    >>> print(table(["a", "n"], [["x", "10"]]))
    | a | n  |
    | - | -: |
    | x | 10 |
    """
    widths = [max(2 if place else 1, *(len(row[place]) for row in (head, *rows))) for place in range(len(head))]
    first, *others = widths
    ruler = "| " + " | ".join(["-" * first, *("-" * (width - 1) + ":" for width in others)]) + " |"
    return "\n".join([_row(head, widths), ruler, *(_row(row, widths) for row in rows)])


def _row(cells: Sequence[str], widths: Sequence[int]) -> str:
    first, *others = zip(cells, widths, strict=True)
    words = [first[0].ljust(first[1]), *(cell.rjust(width) for cell, width in others)]
    return "| " + " | ".join(words) + " |"
