"""``headwater ingest``: events from files into the store."""

import gzip
import sys
from itertools import islice
from pathlib import Path
from typing import Annotated, BinaryIO, cast

import typer
from rich.console import Console
from rich.progress import Progress

from headwater.cli.options import StoreOption
from headwater.cli.output import note, print_lines
from headwater.errors import SettingError
from headwater.store import Store, open_store

_AT_ONCE = 500  # events in one transaction
_ENDINGS = (".ndjson", ".jsonl", ".json", ".ndjson.gz", ".jsonl.gz", ".json.gz")
_SHOWN = 10


def ingest(
    source: Annotated[str, typer.Argument(metavar="FILE|DIR|-", help="OpenLineage events, one JSON a line; also .gz.")],
    store: StoreOption = None,
) -> None:
    """Take OpenLineage events of any producer into the store; what is there already changes nothing."""
    files = _files(source)
    taken = _Taken()
    with open_store(store) as opened, _progress() as progress:
        if source == "-":
            taken.ingest(opened, "standard input", sys.stdin.buffer)
        for file in files:
            with progress.open(file, "rb", description=file.name) as raw, _unpacked(file, raw) as lines:
                taken.ingest(opened, str(file), lines)
    taken.tell()


class _Taken:
    """What became of the events of all files."""

    def __init__(self) -> None:
        self._added = 0
        self._known = 0
        self._rejected: list[str] = []

    def ingest(self, store: Store, origin: str, file: BinaryIO) -> None:
        """Takes in a file, some hundred events at a time."""
        lines = ((number, line) for number, line in enumerate(file, 1) if line.strip())
        while batch := list(islice(lines, _AT_ONCE)):
            report = store.ingest(line for _, line in batch)
            self._added += report.added
            self._known += report.known
            self._rejected += [f"{origin}, line {batch[one.index][0]}: {one.reason}" for one in report.rejected]

    def tell(self) -> None:
        """Prints the sum.

        Raises:
            typer.Exit: with code 1, when an event was rejected.
        """
        print_lines([f"events: {self._added} added, {self._known} known already, {len(self._rejected)} rejected"])
        for line in self._rejected[:_SHOWN]:
            note(line)
        if len(self._rejected) > _SHOWN:
            note(f"and {len(self._rejected) - _SHOWN} more")
        if self._rejected:
            raise typer.Exit(1)


def _files(source: str) -> list[Path]:
    path = Path(source)
    if source == "-":
        return []
    if path.is_dir():
        return sorted(file for file in path.rglob("*") if file.name.endswith(_ENDINGS))
    if path.is_file():
        return [path]
    raise SettingError(
        f"{source} is no file and no folder: expected OpenLineage events, one JSON a line, or - for stdin."
    )


def _unpacked(file: Path, raw: BinaryIO) -> BinaryIO:
    return cast(BinaryIO, gzip.GzipFile(fileobj=raw)) if file.suffix == ".gz" else raw


def _progress() -> Progress:
    console = Console(stderr=True)
    return Progress(console=console, transient=True, disable=not console.is_terminal)
