"""Transformations in words and colours."""

from collections.abc import Iterable

from rich.text import Text

from headwater.model import Transformation
from headwater.store.questions import Way


def way_text(ways: Iterable[Way]) -> Text:
    """The subtypes of several ways: those of the column, then those of whole datasets.

    >>> from headwater.model import Subtype
    >>> way_text([Way(Transformation(Subtype.AGGREGATION)), Way(Transformation(Subtype.JOIN), True)]).plain
    'AGGREGATION, JOIN (dataset)'
    """
    given = list(ways)
    own = _subtypes(way.transformation for way in given if not way.whole_dataset)
    whole = _subtypes(way.transformation for way in given if way.whole_dataset)
    if whole:
        whole[-1].append(" (dataset)", style="dim")
    return Text(", ").join([*own, *whole])


def _subtypes(transformations: Iterable[Transformation]) -> list[Text]:
    return [Text.assemble(*parts) for parts in dict.fromkeys(map(_parts, transformations))]


def _parts(one: Transformation) -> tuple[tuple[str, str], ...]:
    name = (one.subtype.value, "green" if one.direct else "yellow")
    marks = [(f" {mark}", "magenta") for mark, given in (("masked", one.masking), ("opaque", one.opaque)) if given]
    return (name, *marks)
