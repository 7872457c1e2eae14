"""Rows of events that differ from one before in their time and in ids of runs alone: a job that runs again sends such.

They are made of the row and the text of the one before, and are not parsed.
"""

import re
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass

import orjson

from headwater.archive.events.rows import Row, SeenDigests, row_of
from headwater.errors import EventError
from headwater.openlineage.reading.events import Event, event_of, event_time
from headwater.openlineage.reading.json_values import Memory, Part, canonical, digest_of, text
from headwater.openlineage.reading.known_facets import ShortLine, placeholder, shorten, value_of, with_parts

_LONGEST = 1 << 14  # bytes of a line without the large facets that are known: longer ones seldom come again
_BESIDE = 5_000  # bytes that the smallest template takes
_MOST_SEEN = 100_000  # lines that are known to have come, without a template
_READS = 4  # events that are read in the time that it takes to make a template
_UNTRIED = 5_000  # templates that are made before one is of use
_SEPARATOR = b"\0"  # which JSON cannot have
_VARYING = re.compile(rb'("(?:eventTime|runId)":[ \t]*")([0-9A-Za-z:.+-]{1,200})(?=")')
"""A member that differs from run to run; what its value is written with is the same in all JSON."""

_RUN_IDS = (("run", "runId"), *(("run", "facets", "parent", *of, "run", "runId") for of in ((), ("root",))))
"""Where ids of runs may be. The reader takes those of the run and of its parent, and takes nothing else from them."""

_PLACEHOLDER = re.compile(rb'"%s(value )?(\d+)"' % placeholder("").encode())
_OTHER_TIME = b"2000-01-01T00:00:00Z"


@dataclass(frozen=True, slots=True)
class EventTemplate:
    """The row and the text of an event, for others that differ in their time and in ids of runs alone.

    Args:
        event: the row, with all its lineage and schemas.
        offsets: the microseconds from the time of the event to that of each of the row's datasets.
        pieces: the canonical text, between what is put in.
        places: what is put in, by its place among the values that differ and, behind these, the facets of the line.
        time: the place of the event's time among the values.
        run: that of the id of its run.
        parent: that of the id of the run's parent, None without one.
    """

    event: Row
    offsets: tuple[int, ...]
    pieces: tuple[bytes, ...]
    places: tuple[int, ...]
    time: int
    run: int
    parent: int | None

    def row(self, values: Sequence[bytes], facets: Sequence[Part], digests: SeenDigests) -> Row:
        """The row of an event with other values, with the lineage and schemas that come for the first time.

        Raises:
            EventError: the time is none.
        """
        at = event_time({"eventTime": values[self.time].decode()})
        put_in = [*(b'"%s"' % one for one in values), *(one.text for one in facets)]
        pieces = [b""] * (2 * len(self.places)) + [self.pieces[-1]]
        pieces[:-1:2], pieces[1::2] = self.pieces[:-1], [put_in[place] for place in self.places]
        payload = b"".join(pieces)
        parent = self.event["parent"]
        if parent is not None and self.parent is not None:
            parent = {**parent, "run": values[self.parent].decode()}
        datasets = zip(self.event["datasets"], self.offsets, strict=True)
        return {
            **self.event,
            "digest": digest_of(payload).hex(),
            "at": at,
            "run": values[self.run].decode(),
            "parent": parent,
            "datasets": [{**one, "at": at + offset} for one, offset in datasets],
            "shapes": digests.new_of(digests.shapes, "shape", self.event["shapes"]),
            "schemas": digests.new_of(digests.schemas, "schema", self.event["schemas"]),
            "payload": payload.decode(),
        }


@dataclass(frozen=True, slots=True)
class CutLine:
    """A line without the values that differ from run to run; ``key`` is equal for lines that differ in these alone."""

    short: ShortLine
    pieces: list[bytes]
    key: bytes

    @classmethod
    def of(cls, short: ShortLine) -> "CutLine":
        """Cut the values out of a line."""
        pieces = _VARYING.split(short.text)
        same = [*pieces[::3], *pieces[1::3], short.digests.hex().encode()]
        return cls(short, pieces, _SEPARATOR.join(same))

    @property
    def values(self) -> list[bytes]:
        """The values."""
        return self.pieces[2::3]

    @property
    def facets(self) -> list[Part]:
        """The large facets."""
        return list(self.short.parts.values())

    def with_values(self, values: Sequence[bytes]) -> bytes:
        """The line with other values."""
        pieces = list(self.pieces)
        pieces[2::3] = values
        return b"".join(pieces)


class KnownEvents:
    """Events that came before, by their lines without what differs from run to run; ``most`` bytes in all."""

    def __init__(self, most: int) -> None:
        self._templates = Memory[EventTemplate | None](most)
        self._seen: set[int] = set()
        self._reads_left = _READS * _UNTRIED

    def row(self, line: bytes, digests: SeenDigests) -> Row:
        """The row of the event in a line, as `headwater.archive.events.rows.row_of` makes it.

        Raises:
            EventError: it is no event.
        """
        short = shorten(line)
        if short.others or len(short.text) > _LONGEST or _SEPARATOR in short.text:
            return row_of(event_of(value_of(line, short)), digests)
        cut = CutLine.of(short)
        known, cost = self._templates.values.get(cut.key, (None, 0))
        if known is not None:
            with suppress(EventError):  # which is raised below, with its reason
                row = known.row(cut.values, cut.facets, digests)
                self._reads_left += 1
                return row
        event = event_of(value_of(line, short))
        row = row_of(event, digests)
        if not cost and self._seen_before(cut.key) and self._reads_left > 0:
            self._remember(event, cut)
        return row

    def _remember(self, event: Event, cut: CutLine) -> None:
        try:
            made = _template(event, cut)
        except Exception:  # the event was read, and must not be lost for those that come after it
            made = None
        self._reads_left -= _READS
        self._templates.put(cut.key, made, 2 * len(cut.key) + _BESIDE)

    def _seen_before(self, key: bytes) -> bool:
        before = hash(key) in self._seen
        if len(self._seen) >= _MOST_SEEN:
            self._seen.clear()
        self._seen.add(hash(key))
        return before


def _template(event: Event, cut: CutLine) -> EventTemplate | None:
    """The template of an event; None where more depends on what differs than a template puts in.

    That nothing does is shown by an event with other values, which is read as a whole.
    """
    placeholders = [placeholder(f"value {place}") for place in range(len(cut.values))]
    marked = cut.with_values([one.encode() for one in placeholders])
    value = with_parts(marked, cut.short.parts)
    places = {name: place for place, name in enumerate(placeholders)}
    time = places.pop(text(value, "eventTime"), None)
    run, parent, _ = (places.pop(text(value, *path), None) for path in _RUN_IDS)
    if time is None or run is None or places or event.renames:  # a rename is in the row with its time
        return None
    pieces = _PLACEHOLDER.split(canonical(orjson.loads(marked)))
    numbered = zip(pieces[1::3], pieces[2::3], strict=True)
    put_in = [int(number) + (0 if kind else len(placeholders)) for kind, number in numbered]
    others = [_OTHER_TIME if place == time else b"%d" % place for place in range(len(placeholders))]
    other = row_of(event_of(with_parts(cut.with_values(others), cut.short.parts)), SeenDigests())
    offsets = tuple(one["at"] - other["at"] for one in other["datasets"])
    made = EventTemplate(other, offsets, tuple(pieces[::3]), tuple(put_in), time, run, parent)
    same = made.row(cut.values, cut.facets, SeenDigests()) == row_of(event, SeenDigests())
    return made if same else None
