"""The events of a store as packed files of lines: what archives are made of, and what any OpenLineage back end takes.

Events are written in the order in which the store took them, so that an export goes on behind the last one, also with
what came meanwhile. A file is there when it is whole.
"""

import gzip
import os
import re
import zlib
from collections import deque
from collections.abc import Callable, Iterator
from io import BufferedReader
from pathlib import Path
from typing import IO, Any, NamedTuple

from sqlalchemy import func, select

from headwater.errors import ArchiveError, SettingError
from headwater.openlineage.reading.json_values import digest_of
from headwater.store import schema
from headwater.store.store import Store

_AT_ONCE = 500  # events in one question
_EVENT = schema.event.c
_ID_AND_PAYLOAD = select(_EVENT.id, _EVENT.payload).order_by(_EVENT.id).limit(_AT_ONCE)
_NAME = "events-{first:015}-{last:015}.ndjson.{packing}"
_NAMED = re.compile(r"events-\d+-(?P<last>\d+)\.ndjson\.(?P<packing>gz|zst)")

Progress = Callable[[int, int], None]


class ExportReport(NamedTuple):
    """How many events were written, in how many files."""

    events: int
    files: int


class _Line(NamedTuple):
    """An event: the number that the store gives it, and its text with the end of the line."""

    event: int
    text: bytes


def export(
    store: Store, folder: Path, *, packing: str, size: int, progress: Progress = lambda done, all: None
) -> ExportReport:
    """Writes the events of a store into a folder: all of them, or those behind the last one that is there.

    Args:
        store: others may write to it meanwhile; what comes after the begin is left for the next time.
        folder: is made when it is missing. Its files are ``events-FIRST-LAST.ndjson.PACKING``, with the numbers that
            the store gives events, which grow in the order of taking them.
        packing: ``gz`` or ``zst``.
        size: bytes of text in a file at most, before it is packed; but one event at least.
        progress: is given the number of the last event that was written, and that of the last one there is.

    Raises:
        ArchiveError: the folder has the events of another store, or cannot be written; whole files stay.
        SettingError: the library that packs is not installed.
        StoreError: the store cannot be read.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
        return _export(store, folder, _packing(packing), size, progress)
    except OSError as fault:
        raise ArchiveError(
            f"{folder} cannot be written ({fault.strerror or fault}): make room, or name another folder. The files in "
            "it are whole; run it again to go on."
        ) from fault


class _Packing(NamedTuple):
    """How files are packed: the last part of their names, and what writes and reads them."""

    name: str
    writing: Callable[[IO[bytes]], Any]
    reading: Callable[[IO[bytes]], Any]


def _packing(name: str) -> _Packing:
    if name == "gz":
        return _Packing(name, lambda raw: gzip.GzipFile("", "wb", fileobj=raw, mtime=0), gzip.open)
    try:
        import zstandard
    except ImportError:
        raise SettingError(
            "Files packed with zstd need the Python library zstandard, which is not installed: "
            "pip install 'headwater[archive]', or choose gz."
        ) from None
    return _Packing(
        name,
        lambda raw: zstandard.ZstdCompressor().stream_writer(raw, closefd=False),
        lambda raw: BufferedReader(zstandard.ZstdDecompressor().stream_reader(raw)),
    )


def _export(store: Store, folder: Path, packing: _Packing, size: int, progress: Progress) -> ExportReport:
    last = _last_event(store)
    lines = _lines(store, _written_before(store, folder, last), last)
    line = next(lines, None)
    events = files = 0
    while line is not None:
        begun = folder / f".events-{line.event:015}.part"
        done = _write(begun, packing, size, line, lines)
        # Who reads the folder sees whole files only: Spark and headwater leave names with a dot alone.
        os.replace(begun, folder / _NAME.format(first=line.event, last=done.last, packing=packing.name))
        line, events, files = done.following, events + done.events, files + 1
        progress(done.last, last)
    return ExportReport(events, files)


class _Done(NamedTuple):
    """How many events a file has, the number of the last one, and the first that there was no room for."""

    events: int
    last: int
    following: _Line | None


def _write(file: Path, packing: _Packing, size: int, first: _Line, lines: Iterator[_Line]) -> _Done:
    """Writes a line, and those that follow as long as there is room."""
    events, left, last = 0, size, first
    following: _Line | None = first
    with file.open("wb") as raw:
        with packing.writing(raw) as packed:
            while following is not None and (not events or len(following.text) <= left):
                packed.write(following.text)
                events, left, last = events + 1, left - len(following.text), following
                following = next(lines, None)
        raw.flush()
        os.fsync(raw.fileno())
    return _Done(events, last.event, following)


def _lines(store: Store, after: int, last: int) -> Iterator[_Line]:
    while after < last:
        with store.read() as connection:
            rows = connection.execute(_ID_AND_PAYLOAD.where(_EVENT.id > after, _EVENT.id <= last)).all()
        yield from (_Line(row.id, zlib.decompress(row.payload) + b"\n") for row in rows)
        after = rows[-1].id if rows else last


def _last_event(store: Store) -> int:
    with store.read() as connection:
        return int(connection.execute(select(func.coalesce(func.max(_EVENT.id), 0))).scalar_one())


def _written_before(store: Store, folder: Path, last: int) -> int:
    """The number of the last event in the folder, 0 when there is none."""
    found = {int(named["last"]): file for file in folder.iterdir() if (named := _NAMED.fullmatch(file.name))}
    if not found:
        return 0
    before = max(found)
    with store.read() as connection:
        digest = connection.execute(select(_EVENT.digest).where(_EVENT.id == before)).scalar()
    # One that is not there any more was pruned: its place is all that counts.
    if before > last or (digest is not None and digest != _last_digest(found[before])):
        raise ArchiveError(
            f"{found[before]} has events of another store, or this one was pruned since: expected that the last event "
            f"in it is number {before} of the store. Name another folder."
        )
    return before


def _last_digest(file: Path) -> bytes:
    with file.open("rb") as raw, _packing(file.suffix[1:]).reading(raw) as unpacked:
        (text,) = deque(unpacked, maxlen=1)
    return digest_of(text.rstrip(b"\n"))
