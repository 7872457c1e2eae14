"""Transformations in colours."""

from collections.abc import Iterable

from rich.text import Text

from headwater.answers.ways import Kind, way_parts
from headwater.store.questions import Way

_STYLES = {Kind.DIRECT: "green", Kind.INDIRECT: "yellow", Kind.MARK: "magenta", Kind.ASIDE: "dim"}


def way_text(ways: Iterable[Way]) -> Text:
    """The subtypes of several ways: those of the column, then those of whole datasets.

    >>> from headwater.model import Subtype, Transformation
    >>> way_text([Way(Transformation(Subtype.AGGREGATION)), Way(Transformation(Subtype.JOIN), True)]).plain
    'AGGREGATION, JOIN (dataset)'
    """
    subtypes = (Text.assemble(*((part.text, _STYLES[part.kind]) for part in parts)) for parts in way_parts(ways))
    return Text(", ").join(subtypes)
