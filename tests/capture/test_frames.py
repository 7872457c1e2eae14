"""A DataFrame's lineage, as a notebook shows it."""

from headwater.capture.frames import FrameLineage
from headwater.model import ColumnLineage, Gap


def test_a_column_without_inputs_is_made_without_any_only_where_all_was_seen() -> None:
    lineage = ColumnLineage({"one": frozenset()}, frozenset())
    opaque, unknown = Gap("opaque", "mapInPandas", "cannot be seen into"), Gap("relation", "VALUES", "a variable")
    for gaps in ((), (opaque,)):
        shown = FrameLineage(lineage, gaps)
        assert shown.tree() == "one\n└── made without reading a column"
        assert "<i>made without reading a column</i>" in shown._repr_html_()
    for gaps in ((unknown,), (opaque, unknown)):
        shown = FrameLineage(lineage, gaps)
        assert shown.tree() == "one\n└── no input known: not all was seen"
        assert "<i>no input known: not all was seen</i>" in shown._repr_html_()
