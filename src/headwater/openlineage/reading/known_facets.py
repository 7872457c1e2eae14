"""Lines of events read without parsing large facets that came before: a job that runs again sends the same text."""

import json
import re
import zlib
from collections.abc import Iterator, Mapping
from hashlib import sha256
from secrets import token_hex
from typing import Any, NamedTuple

import orjson

from headwater.openlineage.reading.json_values import (
    LARGE,
    Memory,
    Part,
    in_parts,
    read_json,
    record,
    records,
)

_MOST = 48 << 20  # bytes that are remembered of facets
_BESIDE = 700  # bytes that the smallest one takes
_HEAD = 256  # bytes by which a facet is looked for; shorter ones are quickly parsed
_ALIKE = 16  # facets with one beginning
_FACET = re.compile(rb'"(?:%s)":[ \t\r\n]*(?=\{)' % b"|".join(name.encode() for name in LARGE))


class KnownFacet(NamedTuple):
    """A facet with the length and the digest of the text that it was read from."""

    length: int
    digest: bytes
    part: Part


_NOTHING: tuple[tuple[KnownFacet, ...], int] = (), 0


class KnownFacets:
    """The large facets in lines that came before, by the beginnings of their texts; ``most`` bytes in all."""

    def __init__(self, most: int) -> None:
        self._by_head = Memory[tuple[KnownFacet, ...]](most)

    def at(self, line: bytes, begin: int) -> KnownFacet | None:
        """The facet that begins somewhere in a line, None where it is not known."""
        some, _ = self._by_head.values.get(line[begin : begin + _HEAD], _NOTHING)
        for one in some:
            if _digest(line[begin : begin + one.length]) == one.digest:
                return one
        return None

    def add(self, facet: Part, raw: bytes) -> None:
        """Remember a facet by a text that it was read from, unless that is too short or too large."""
        if len(raw) >= _HEAD:
            head = raw[:_HEAD]
            before, _ = self._by_head.values.get(head, _NOTHING)
            new = KnownFacet(len(raw), _digest(raw), Part(None, zlib.compress(raw, 1), facet.text))
            some = (new, *before[: _ALIKE - 1])
            self._by_head.put(head, some, sum(len(one.part.packed) + len(one.part.text) + _BESIDE for one in some))


_KNOWN = KnownFacets(_MOST)
_NAME = token_hex(16)  # of placeholders: nobody can have written it


def placeholder(part: object) -> str:
    """A string that stands for a part of a line, and is in no line."""
    return f"{_NAME} {part}"


class ShortLine(NamedTuple):
    """A line with a placeholder for each large facet that came before.

    Args:
        text: the line with placeholders, which are strings of JSON.
        parts: the facets, by placeholder.
        digests: those of the facets, one after the other.
        others: where the line itself has large facets that did not come before.
    """

    text: bytes
    parts: dict[str, Part]
    digests: bytes
    others: list[int]


def shorten(line: bytes, known_facets: KnownFacets = _KNOWN) -> ShortLine:
    """Put placeholders for the large facets of a line that came before."""
    pieces: list[bytes] = []
    parts: dict[str, Part] = {}
    digests: list[bytes] = []
    others: list[int] = []
    done, at = 0, 0
    while found := _FACET.search(line, at):
        # Whatever the place in the line is, what follows is a value: an unescaped quote and a colon are before it.
        begin = at = found.end()
        if facet := known_facets.at(line, begin):
            name = placeholder(len(parts))
            pieces += (line[done:begin], b'"%s"' % name.encode())
            parts[name] = facet.part
            digests.append(facet.digest)
            at = done = begin + facet.length
        else:
            others.append(begin)
    return ShortLine(b"".join((*pieces, line[done:])), parts, b"".join(digests), others)


def value_of(line: bytes, short: ShortLine, known_facets: KnownFacets = _KNOWN) -> Any:
    """The value that a line stands for, with a `Part` for each large facet when it is an event.

    Facets that did not come before are remembered.

    Args:
        line: a JSON text.
        short: the same, as `shorten` has it.
        known_facets: those that came before.

    Raises:
        EventError: it is no JSON.

    >>> line = b'{"eventTime": "2026-01-31T09:30:00Z"}'
    >>> value_of(line, shorten(line))
    {'eventTime': '2026-01-31T09:30:00Z'}
    """
    value = with_parts(short.text, short.parts) if short.parts else None
    value = in_parts(read_json(line) if value is None else value)
    for part in _facets(value) if short.others else ():
        if isinstance(part, Part) and not part.packed and (raw := _raw_of(part.value, line, short.others)):
            known_facets.add(part, raw)
    return value


def _digest(raw: bytes) -> bytes:
    """A digest that processors have instructions for: half of the time of that of events."""
    return sha256(raw).digest()


def _facets(value: Any) -> Iterator[object]:
    for dataset in (*records(value, "inputs"), *records(value, "outputs")):
        facets = record(dataset, "facets")
        yield from filter(None, map(facets.get, LARGE))


def _raw_of(facet: Any, line: bytes, begins: list[int]) -> bytes:
    """The text of a facet in a line, which begins at one of some places; empty where it is written in another way."""
    raw = orjson.dumps(facet)
    if any(line.startswith(raw, begin) for begin in begins):
        return raw
    spaced = json.dumps(facet).encode()
    return spaced if any(line.startswith(spaced, begin) for begin in begins) else b""


def with_parts(text: bytes, parts: Mapping[str, Part]) -> Any:
    """The value of a text with facets for placeholders; None where one is not at a facet, or the text is no JSON."""
    try:
        value = orjson.loads(text)
    except orjson.JSONDecodeError:
        return None
    left = dict(parts)
    for dataset in (*records(value, "inputs"), *records(value, "outputs")):
        facets = record(dataset, "facets")
        for name in LARGE:
            if isinstance(named := facets.get(name), str) and named in left:
                facets[name] = left.pop(named)
    return None if left else value
