"""The lines of a packed file, as far as they can be read."""

import zlib
from collections.abc import Iterator
from typing import Any, NamedTuple

from headwater.errors import ArchiveError

PACKINGS = ("gz", "zst")
"""The last parts of the names of packed files."""

_PART = 1 << 16  # packed bytes at once: what they unpack to is held in memory
_WINDOW = 1 << 31  # of zstd: what `zstd --long=31` writes


class PackedLine(NamedTuple):
    """A line, counted from 1; where the file breaks off a line without text, and why there are no more."""

    number: int
    text: bytes
    broken: str = ""


def packed_lines(packing: str, content: bytes) -> Iterator[PackedLine]:
    """The lines of a packed file; of a truncated or damaged one all whole lines, then one with the reason.

    Raises:
        ArchiveError: the library that unpacks it is not installed.

    >>> whole = zlib.compress(b"one" + bytes([10]) + b"two", wbits=31)
    >>> [line.text for line in packed_lines("gz", whole)]
    [b'one', b'two']
    >>> [line.broken for line in packed_lines("gz", whole[:-9])]
    ['', 'The gz file ends too early, after 1 whole lines: copy it again from where it came from.']
    """
    number, rest = 0, b""
    try:
        for part in _unpacked(packing, content):
            *whole, rest = (rest + part).split(b"\n")
            for text in whole:
                number += 1
                yield PackedLine(number, text)
    except (EOFError, zlib.error, _zstd_error(packing)) as fault:
        why = "ends too early" if isinstance(fault, EOFError) else f"is damaged ({fault})"
        advice = "copy it again from where it came from."
        yield PackedLine(number + 1, b"", f"The {packing} file {why}, after {number} whole lines: {advice}")
        return
    if rest:
        yield PackedLine(number + 1, rest)


def _unpacked(packing: str, content: bytes) -> Iterator[bytes]:
    """The contents of all streams of a file: programs append new ones to it."""
    at = 0
    while at < len(content) and not _padding(packing, content, at):
        stream = _stream(packing)
        while at < len(content) and not stream.eof:
            part = memoryview(content)[at : at + _PART]
            yield stream.decompress(part)
            at += len(part) - len(stream.unused_data)
        if not stream.eof:
            raise EOFError


def _padding(packing: str, content: bytes, at: int) -> bool:
    """Whether only zeros follow, as tapes leave them (gzip, "trailing garbage")."""
    return packing == "gz" and content[at] == 0 and not content[at:].strip(b"\0")


def _stream(packing: str) -> Any:
    if packing == "gz":
        return zlib.decompressobj(wbits=31)
    return _zstandard().ZstdDecompressor(max_window_size=_WINDOW).decompressobj()


def _zstd_error(packing: str) -> type[Exception]:
    error: type[Exception] = zlib.error if packing == "gz" else _zstandard().ZstdError
    return error


def _zstandard() -> Any:
    try:
        import zstandard
    except ImportError:
        raise ArchiveError(
            "A file ends in .zst, and the Python library zstandard is not installed: "
            "pip install 'headwater[archive]' where Spark's Python workers run."
        ) from None
    return zstandard
