"""The options that several commands share; durations as typed, and moments as printed."""

import re
from typing import Annotated

import typer

from headwater.cli.output import Format
from headwater.model.time import SECOND, iso
from headwater.store import Store, open_store
from headwater.store.questions import EdgeType

StoreOption = Annotated[
    str | None,
    typer.Option(
        "--store",
        metavar="URL",
        help="The lineage store: a file or a database URL. Otherwise HEADWATER_STORE, "
        "otherwise the nearest .headwater/lineage.db.",
    ),
]
FormatOption = Annotated[Format, typer.Option("--format", "-f", help="The format of the answer.")]
DepthOption = Annotated[int | None, typer.Option("--depth", min=1, metavar="N", help="The largest number of steps.")]
TypeOption = Annotated[
    EdgeType | None,
    typer.Option(
        "--type",
        case_sensitive=False,
        help="Only edges that carry the value (direct), or that influence it (indirect).",
    ),
]
GuessOption = Annotated[
    bool,
    typer.Option(
        "--guess",
        help="Also guesses, marked as such: that a run without column lineage made outputs from inputs.",
    ),
]
NAME_HELP = "The name, or an ending of it that no other has."
NameArgument = Annotated[str, typer.Argument(metavar="DATASET[.COLUMN]", help=NAME_HELP)]
NestedOption = Annotated[
    bool,
    typer.Option(
        "--nested",
        help="Follow fields within columns one by one, where events have them; always so for a question about one.",
    ),
]


def reading(url: str | None) -> Store:
    """Open a store for reading; it must exist.

    Raises:
        StoreError: the store is missing or cannot be read.
    """
    return open_store(url, create=False, read_only=True)


_UNITS = {"s": 1, "m": 60, "h": 3_600, "d": 86_400, "w": 604_800}
_LENGTH = re.compile(r"(\d{1,6})([smhdw])")


def seconds(text: str) -> int:
    """Return the seconds of a duration.

    Raises:
        typer.BadParameter: the text is not a duration.

    >>> seconds("90d")
    7776000
    """
    parts = _LENGTH.fullmatch(text.strip())
    if parts is None:
        raise typer.BadParameter(f"The duration is {text!r}: expected a number and one of s, m, h, d, w, such as 90d.")
    return int(parts[1]) * _UNITS[parts[2]]


def shown(moment: int | None) -> str:
    """Return a moment in microseconds since 1970 as ISO 8601; empty for 0 and None.

    >>> shown(60_000_000)
    '1970-01-01T00:01:00Z'
    """
    if not moment:
        return ""
    return iso(moment // SECOND * SECOND)
