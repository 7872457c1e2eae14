"""What a worker tells of an event, without Spark."""

from typing import Any

import pytest

from headwater.archive.events.rows import Met, row_of
from headwater.openlineage.reading.events import read_event
from tests.store.conftest import told, written


def row(met: Met, **parts: Any) -> dict[str, Any]:
    return row_of(read_event(told("j", written("out", parts.pop("fields", {"x": ["raw.x"]})), **parts)), met)


def test_lineage_is_packed_once_and_then_named_by_its_digest() -> None:
    met = Met()
    first, second = row(met, minute=1), row(met, minute=2)
    assert first["told"] == second["told"]
    assert (len(first["shapes"]), len(second["shapes"])) == (1, 0)
    assert (len(first["schemas"]), len(second["schemas"])) == (1, 0)
    assert row(Met())["shapes"] == first["shapes"], "another worker tells it again"


def test_other_lineage_has_another_digest() -> None:
    met = Met()
    others = [{"x": ["raw.x"]}, {"x": ["raw.y"]}, {"y": ["raw.x"]}, {"*": ["raw.x FILTER"]}, {"x": []}, {}]
    others += [{"x": ["raw.x masked"]}, {"x": ["raw.x", "raw.y"]}]
    shapes = [row(met, fields=fields)["told"][0]["shape"] for fields in others]
    assert len(set(shapes)) == len(others)


def test_lineage_of_a_lost_packing_is_packed_again(monkeypatch: pytest.MonkeyPatch) -> None:
    from headwater.archive.events import parser

    met = Met()
    line = parser.Placed("file", "line 1", b'{"eventTime": "2026-01-01T00:00:00Z", "job": {}}')
    assert "expected two strings" in parser._read(line, met)["rejected"]["reason"]
    assert len(row(met)["shapes"]) == 1
    with monkeypatch.context() as broken:
        broken.setattr(parser, "row_of", lambda event, met: 1 / 0)
        good = b'{"eventTime": "2026-01-01T00:00:00Z", "job": {"namespace": "n", "name": "j"}}'
        rejected = parser._read(parser.Placed("file", "line 2", good), met)["rejected"]
    assert "a defect (ZeroDivisionError" in rejected["reason"]
    assert len(row(met)["shapes"]) == 1, "nobody knows whether the row before was kept"
