"""The options that several commands share."""

from typing import Annotated

import typer

from headwater.cli.output import Format
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
    typer.Option("--type", help="Only edges that carry the value (direct), or that influence it (indirect)."),
]
GuessOption = Annotated[
    bool,
    typer.Option(
        "--guess",
        help="Also guesses, marked as such: that a run without column lineage made outputs from inputs.",
    ),
]


def reading(url: str | None) -> Store:
    """Open a store for reading; it must exist.

    Raises:
        StoreError: the store is missing or cannot be read.
    """
    return open_store(url, create=False, read_only=True)
