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
FormatOption = Annotated[Format, typer.Option("--format", "-f", help="How to print the answer.")]
DepthOption = Annotated[int | None, typer.Option("--depth", min=1, metavar="N", help="So many steps at most.")]
TypeOption = Annotated[
    EdgeType | None,
    typer.Option("--type", help="Only what carries the value (direct), or only what influences it without (indirect)."),
]
GuessOption = Annotated[
    bool,
    typer.Option("--guess", help="Also what nobody told: that what a run read went into what it wrote. Marked so."),
]


def reading(url: str | None) -> Store:
    """The store to ask; it must exist and is not changed.

    Raises:
        StoreError: it is missing or cannot be read.
    """
    return open_store(url, create=False, read_only=True)
