"""Transformations in words."""

from collections.abc import Iterable
from enum import Enum
from typing import NamedTuple

from headwater.model import Transformation
from headwater.store.questions import GUESS, Way


class Kind(Enum):
    """What a piece of text says, for those who print it in colours."""

    DIRECT = "direct"
    INDIRECT = "indirect"
    MARK = "mark"
    ASIDE = "aside"


class Part(NamedTuple):
    """A piece of text."""

    text: str
    kind: Kind


def way_parts(ways: Iterable[Way]) -> list[tuple[Part, ...]]:
    """The subtypes of several ways, each once and in parts: those of the column, then those of whole datasets."""
    given = list(ways)
    own = _subtypes(way.transformation for way in given if not way.whole_dataset)
    whole = _subtypes(way.transformation for way in given if way.whole_dataset)
    if whole:
        whole[-1] += (Part(" (dataset)", Kind.ASIDE),)
    return own + whole


def way_words(ways: Iterable[Way]) -> str:
    """The same as one text.

    >>> from headwater.model import Subtype
    >>> way_words([Way(Transformation(Subtype.AGGREGATION)), Way(Transformation(Subtype.JOIN), True)])
    'AGGREGATION, JOIN (dataset)'
    """
    return ", ".join("".join(part.text for part in parts) for parts in way_parts(ways))


def _subtypes(transformations: Iterable[Transformation]) -> list[tuple[Part, ...]]:
    return list(dict.fromkeys(map(_parts, transformations)))


def _parts(one: Transformation) -> tuple[Part, ...]:
    if one.guess:
        return _guess_parts(one)
    marks = [Part(f" {mark}", Kind.MARK) for mark, given in (("masked", one.masking), ("opaque", one.opaque)) if given]
    return (Part(one.subtype.value, Kind.DIRECT if one.direct else Kind.INDIRECT), *marks)


def _guess_parts(one: Transformation) -> tuple[Part, ...]:
    """What is certain of a way that is a guess: that it would mask, or influence no more than that."""
    mark = Part("guess masked" if one.masking else "guess", Kind.MARK)
    if one.subtype is GUESS.subtype:
        return (mark,)
    return (Part(f"{one.subtype.value} ", Kind.DIRECT if one.direct else Kind.INDIRECT), mark)
