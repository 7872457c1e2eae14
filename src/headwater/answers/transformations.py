"""Transformations as text."""

from collections.abc import Iterable
from enum import Enum
from typing import NamedTuple

from headwater.model import Transformation
from headwater.store.questions import GUESS, PathTransformation

# Descriptions of opaque transformations begin with it (openlineage.writing.column_lineage).
_OPAQUE = "opaque"


class Kind(Enum):
    """The meaning of a part of the text, by which it is coloured."""

    DIRECT = "direct"
    INDIRECT = "indirect"
    MARK = "mark"
    ASIDE = "aside"


class Part(NamedTuple):
    """A part of the text."""

    text: str
    kind: Kind


def transformation_parts(transformations: Iterable[PathTransformation]) -> list[tuple[Part, ...]]:
    """Return the subtypes, each once and in parts: those of the column, then those of whole datasets."""
    several = list(transformations)
    own = _subtypes(one.transformation for one in several if not one.whole_dataset)
    whole = _subtypes(one.transformation for one in several if one.whole_dataset)
    if whole:
        whole[-1] += (Part(" (dataset)", Kind.ASIDE),)
    return own + whole


def transformations_text(transformations: Iterable[PathTransformation]) -> str:
    """Return the same as one text.

    >>> from headwater.model import Subtype
    >>> aggregation, join = Transformation(Subtype.AGGREGATION), Transformation(Subtype.JOIN)
    >>> transformations_text([PathTransformation(aggregation), PathTransformation(join, True)])
    'AGGREGATION, JOIN (dataset)'
    """
    return ", ".join("".join(part.text for part in parts) for parts in transformation_parts(transformations))


def expressions_text(transformations: Iterable[PathTransformation]) -> str:
    """Return the SQL texts of the expressions, each once; nothing where the lineage has none, or is a guess.

    >>> from headwater.model import Subtype
    >>> sum_ = Transformation(Subtype.AGGREGATION, description="sum(amount)")
    >>> udf = Transformation(Subtype.TRANSFORMATION, opaque=True, description="opaque: score(name)")
    >>> expressions_text(map(PathTransformation, (sum_, udf, sum_)))
    'sum(amount); score(name)'
    """
    certain = (one.transformation for one in transformations if not one.transformation.guess)
    texts = (one.description.removeprefix(_OPAQUE).removeprefix(": ") for one in certain)
    return "; ".join(dict.fromkeys(filter(None, texts)))


def _subtypes(transformations: Iterable[Transformation]) -> list[tuple[Part, ...]]:
    return list(dict.fromkeys(map(_parts, transformations)))


def _parts(transformation: Transformation) -> tuple[Part, ...]:
    if transformation.guess:
        return _guess_parts(transformation)
    marks = [
        Part(f" {mark}", Kind.MARK)
        for mark, holds in (("masked", transformation.masking), ("opaque", transformation.opaque))
        if holds
    ]
    return (Part(transformation.subtype.value, Kind.DIRECT if transformation.direct else Kind.INDIRECT), *marks)


def _guess_parts(transformation: Transformation) -> tuple[Part, ...]:
    """Return the parts of a guess: whether it masks, and its subtype where that is certain."""
    mark = Part("guess masked" if transformation.masking else "guess", Kind.MARK)
    if transformation.subtype is GUESS.subtype:
        return (mark,)
    return (Part(f"{transformation.subtype.value} ", Kind.DIRECT if transformation.direct else Kind.INDIRECT), mark)
