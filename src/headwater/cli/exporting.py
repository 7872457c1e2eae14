"""``headwater archive export``: the events of a store as files, without Spark."""

from enum import Enum
from pathlib import Path
from typing import Annotated

import typer

from headwater.cli.options import StoreOption, reading
from headwater.cli.output import print_lines
from headwater.cli.steps import from_time_to_time
from headwater.store.maintenance.exporting import export as export_events

_MIB = 1 << 20


class Packing(str, Enum):
    """How files are packed."""

    GZ = "gz"
    ZST = "zst"


def export(
    target: Annotated[Path, typer.Argument(metavar="DIR", help="The folder for the files; made when it is missing.")],
    store: StoreOption = None,
    packing: Annotated[Packing, typer.Option(help="How the files are packed.")] = Packing.GZ,
    file_size: Annotated[
        int, typer.Option("--file-size", min=1, metavar="MIB", help="Text in one file at most, before it is packed.")
    ] = 256,
) -> None:
    """Write the events of a store to files that `archive build` and others read; the next time those that are new."""
    with reading(store) as opened:
        done = export_events(
            opened, target, packing=packing.value, size=file_size * _MIB, progress=from_time_to_time("event")
        )
    print_lines([f"events: {done.events:,} written, in {done.files:,} files"])
