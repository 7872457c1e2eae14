"""A DataFrame's lineage, as a notebook shows it."""

from pathlib import Path
from typing import Any

from headwater.capture.frames import FrameLineage
from headwater.model import ColumnLineage, Dataset, Dependency, Gap, InputField, Subtype, Transformation
from headwater.store import open_store

IDENTITY = Transformation(Subtype.IDENTITY)


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


def reading(*columns: tuple[str, str]) -> ColumnLineage:
    """The lineage of a column ``x`` that is made of columns, each by its dataset and name."""
    edges = [Dependency(InputField(Dataset("file", name), one), IDENTITY) for name, one in columns]
    return ColumnLineage({"x": frozenset(edges)}, frozenset())


def test_datasets_of_equal_short_names_differ_wherever_they_are_shown() -> None:
    shown = FrameLineage(reading(("/bronze/orders", "v"), ("/silver/orders", "v"), ("/gold/sales", "v")))
    for text in (shown.tree(), shown.mermaid(), shown._repr_html_()):
        assert all(name in text for name in ("bronze/orders.v", "silver/orders.v", "sales.v"))
        assert " orders.v" not in text
        assert ">orders.v" not in text
        assert '"orders.v' not in text
    assert FrameLineage(reading(("/bronze/orders", "v"))).mermaid().splitlines()[1] == '  i0["orders.v"]'


def test_inputs_are_those_of_the_plan_and_roots_go_on_to_the_origin(tmp_path: Path) -> None:
    def made(output: str, source: str, kind: str, minute: int) -> dict[str, Any]:
        transformation = {"type": "DIRECT" if kind == "IDENTITY" else "INDIRECT", "subtype": kind}
        edge = {"namespace": "file", "name": source, "field": "v", "transformations": [transformation]}
        facet = {"fields": {"v": {"inputFields": [edge]}}}
        return {
            "eventType": "COMPLETE",
            "eventTime": f"2026-01-01T00:0{minute}:00Z",
            "run": {"runId": f"0190000{minute}-0000-7000-8000-000000000000", "facets": {}},
            "job": {"namespace": "demo", "name": output, "facets": {}},
            "inputs": [],
            "outputs": [{"namespace": "file", "name": output, "facets": {"columnLineage": facet}}],
        }

    path = str(tmp_path / "lineage.db")
    events = [made("/silver", "/bronze", "IDENTITY", 1), made("/bronze", "/raw", "IDENTITY", 2)]
    with open_store(path) as store:
        store.ingest([*events, made("/bronze2", "/raw2", "CONDITIONAL", 3)])
    found = FrameLineage(reading(("/silver", "v"), ("/unknown", "v"), ("/bronze2", "v")), store=lambda: path)
    assert named(found.inputs("x")) == {"/silver", "/unknown", "/bronze2"}
    assert named(found.roots("x")) == {"/raw", "/unknown", "/bronze2"}
    assert named(found.roots("x", indirect=True)) == {"/raw", "/unknown", "/raw2"}


def test_without_a_store_the_inputs_are_the_roots(tmp_path: Path) -> None:
    lineage = reading(("/silver", "v"))
    assert named(FrameLineage(lineage, store=lambda: str(tmp_path / "none.db")).roots("x")) == {"/silver"}
    assert list(tmp_path.iterdir()) == []


def named(fields: tuple[InputField, ...]) -> set[str]:
    return {one.dataset.name for one in fields}
