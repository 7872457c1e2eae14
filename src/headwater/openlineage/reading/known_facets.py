"""Lines of events read without parsing large facets that came before: a job that runs again sends the same text."""

import json
import re
from collections.abc import Iterator
from random import Random
from secrets import token_hex
from threading import Lock
from typing import Any

import orjson

from headwater.openlineage.reading.json_values import LARGE, Part, in_parts, read_json, record, records

_MOST = 48 << 20  # bytes that are remembered of facets
_BESIDE = 500  # bytes that the smallest one takes
_HEAD = 256  # bytes by which a facet is looked for; shorter ones are quickly parsed
_ALIKE = 16  # facets with one beginning
_FACET = re.compile(rb'"(?:%s)":[ \t\r\n]*(?=\{)' % b"|".join(name.encode() for name in LARGE))


class KnownFacets:
    """The large facets in lines that came before, by the beginnings of their texts.

    They take ``most`` bytes in all. When there are more, random ones are dropped: of slightly more than fit, read in
    turn, most are still found.
    """

    def __init__(self, most: int) -> None:
        self._by_head: dict[bytes, tuple[Part, ...]] = {}
        self._heads: list[bytes] = []
        self._left = most
        self._largest = most // 8
        self._chance = Random(0)
        self._changing = Lock()

    def at(self, line: bytes, begin: int) -> Part | None:
        """The facet that begins somewhere in a line, None where it is not known."""
        for part in self._by_head.get(line[begin : begin + _HEAD], ()):
            if line.startswith(part.raw, begin):
                return part
        return None

    def add(self, part: Part) -> None:
        """Remember a facet, unless it is too short or too large."""
        if not _HEAD <= len(part.raw) <= self._largest:
            return
        head = part.raw[:_HEAD]
        with self._changing:
            before = self._by_head.get(head, ())
            if not before:
                self._heads.append(head)
            self._by_head[head] = (part, *before[: _ALIKE - 1])
            self._left += _cost(before[_ALIKE - 1 :]) - _cost((part,))
            while self._left < 0:
                place = self._chance.randrange(len(self._heads))
                self._heads[place], self._heads[-1] = self._heads[-1], self._heads[place]
                self._left += _cost(self._by_head.pop(self._heads.pop()))


def _cost(parts: tuple[Part, ...]) -> int:
    return sum(len(one.raw) + len(one.text) + _BESIDE for one in parts)


_KNOWN = KnownFacets(_MOST)
_NAME = token_hex(16)  # of strings that stand for facets, which nobody can have written


def read_known(line: bytes, known: KnownFacets = _KNOWN) -> Any:
    """The value that a JSON text stands for, with a `Part` for each large facet when it is an event.

    Raises:
        EventError: it is no JSON.

    >>> read_known(b'{"eventTime": "2026-01-31T09:30:00Z"}')
    {'eventTime': '2026-01-31T09:30:00Z'}
    """
    pieces: list[bytes] = []
    parts: dict[str, Part] = {}
    others: list[int] = []
    done, at = 0, 0
    while found := _FACET.search(line, at):
        # Whatever the place in the line is, what follows is a value: an unescaped quote and a colon are before it.
        begin = at = found.end()
        if part := known.at(line, begin):
            name = f"{_NAME} {len(parts)}"
            pieces += (line[done:begin], b'"%s"' % name.encode())
            parts[name], done = part, begin + len(part.raw)
            at = done
        else:
            others.append(begin)
    value = _with_parts(b"".join((*pieces, line[done:])), parts) if parts else None
    value = in_parts(read_json(line) if value is None else value)
    for facet in _facets(value) if others else ():
        if isinstance(facet, Part) and not facet.raw and (raw := _raw_of(facet.value, line, others)):
            known.add(Part(facet.value, raw, facet.text))
    return value


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


def _with_parts(text: bytes, parts: dict[str, Part]) -> Any:
    """The value of a text with facets in place of their names; None where one is at another place, or it is no JSON."""
    try:
        value = orjson.loads(text)
    except orjson.JSONDecodeError:
        return None
    for dataset in (*records(value, "inputs"), *records(value, "outputs")):
        facets = record(dataset, "facets")
        for name in LARGE:
            if isinstance(named := facets.get(name), str) and named in parts:
                facets[name] = parts.pop(named)
    return None if parts else value
