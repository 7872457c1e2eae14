"""``headwater ingest``: events from files or a Kafka topic into the store."""

import contextlib
import gzip
import sys
from collections.abc import Sequence
from itertools import islice
from pathlib import Path
from typing import Annotated, BinaryIO, cast

import typer
from rich.console import Console
from rich.progress import Progress

from headwater.cli import topics
from headwater.cli.options import StoreOption
from headwater.cli.output import note, print_lines
from headwater.errors import SettingError
from headwater.store import Store, open_store
from headwater.store.ingest.pipeline import collect_seldom

_AT_ONCE = 500  # events in one transaction
_ENDINGS = (".ndjson", ".jsonl", ".json", ".ndjson.gz", ".jsonl.gz", ".json.gz")
_SHOWN = 10
_SOURCE = f"FILE|DIR|-|{topics.SCHEME}HOST:PORT/TOPIC"


def ingest(
    source: Annotated[str, typer.Argument(metavar=_SOURCE, help="OpenLineage events, one JSON a line; also .gz.")],
    store: StoreOption = None,
    group: Annotated[str, typer.Option(help="For a topic: the consumer group.")] = "headwater",
    until_end: Annotated[bool, typer.Option("--until-end", help="For a topic: stop at its present end.")] = False,
    kafka_properties: Annotated[
        Path | None, typer.Option(metavar="FILE", help="For a topic: settings of librdkafka, one key=value a line.")
    ] = None,
) -> None:
    """Store OpenLineage events of any producer; events that are there already change nothing."""
    collect_seldom()
    report = _Report()
    with open_store(store) as opened:
        if source.startswith(topics.SCHEME):
            _follow(report, opened, topics.Topic(source, group, topics.properties(kafka_properties)), until_end)
        else:
            _read(report, opened, source)
    report.print()


def _read(report: "_Report", store: Store, source: str) -> None:
    files = _files(source)
    with _progress() as progress:
        if source == "-":
            report.file(store, "standard input", sys.stdin.buffer)
        for file in files:
            with progress.open(file, "rb", description=file.name) as raw, _unpacked(file, raw) as lines:
                report.file(store, str(file), lines)


def _follow(report: "_Report", store: Store, topic: topics.Topic, until_end: bool) -> None:
    note(f"Reading {topic}" + ("" if until_end else "; Ctrl-C ends it."))
    with topic, contextlib.suppress(KeyboardInterrupt):
        for messages in topic.batches(until_end):
            for line in report.batch(store, messages):
                note(line)
            topic.commit()


class _Report:
    """The numbers of events, and the reasons of the first rejected ones."""

    def __init__(self) -> None:
        self._added = self._known = self._rejected = 0
        self._first: list[str] = []

    def file(self, store: Store, origin: str, file: BinaryIO) -> None:
        """Store the events of a file, some hundred at a time."""
        lines = ((f"{origin}, line {number}", line) for number, line in enumerate(file, 1) if line.strip())
        while batch := list(islice(lines, _AT_ONCE)):
            self.batch(store, batch)

    def batch(self, store: Store, events: Sequence[tuple[str, bytes]]) -> list[str]:
        """Store events, each given with its origin; return a line for each rejected one."""
        found = store.ingest(text for _, text in events)
        self._added += found.added
        self._known += found.known
        self._rejected += len(found.rejected)
        lines = [f"{events[one.index][0]}: {one.reason}" for one in found.rejected]
        self._first += lines[: _SHOWN - len(self._first)]
        return lines

    def print(self) -> None:
        """Print the numbers.

        Raises:
            typer.Exit: with code 1, when an event was rejected.
        """
        print_lines([f"events: {self._added} added, {self._known} known already, {self._rejected} rejected"])
        for line in self._first:
            note(line)
        if self._rejected > _SHOWN:
            note(f"and {self._rejected - _SHOWN} more")
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
        f"There is no file or folder {source}: expected OpenLineage events, one JSON a line, - for stdin, or a topic as"
        " kafka://HOST:PORT/TOPIC."
    )


def _unpacked(file: Path, raw: BinaryIO) -> BinaryIO:
    return cast(BinaryIO, gzip.GzipFile(fileobj=raw)) if file.suffix == ".gz" else raw


def _progress() -> Progress:
    console = Console(stderr=True)
    return Progress(console=console, transient=True, disable=not console.is_terminal)
