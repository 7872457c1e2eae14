"""What a worker tells of an event, without Spark."""

from typing import Any

import pytest

from headwater.archive.events.rows import SeenDigests, row_of
from headwater.openlineage.reading.events import read_event
from tests.store.conftest import told, written


def row(met: SeenDigests, **parts: Any) -> dict[str, Any]:
    return row_of(read_event(told("j", written("out", parts.pop("fields", {"x": ["raw.x"]})), **parts)), met)


def test_lineage_is_told_once_and_then_by_its_digest() -> None:
    met = SeenDigests()
    first, second = row(met, minute=1), row(met, minute=2)
    assert first["told"] == second["told"]
    assert (len(first["shapes"]), len(second["shapes"])) == (1, 0)
    assert (len(first["schemas"]), len(second["schemas"])) == (1, 0)
    assert row(SeenDigests())["shapes"] == first["shapes"], "another worker tells it again"


def test_other_lineage_has_another_digest() -> None:
    met = SeenDigests()
    others = [{"x": ["raw.x"]}, {"x": ["raw.y"]}, {"y": ["raw.x"]}, {"*": ["raw.x FILTER"]}, {"x": []}, {}]
    others += [{"x": ["raw.x masked"]}, {"x": ["raw.x", "raw.y"]}]
    shapes = [row(met, fields=fields)["told"][0]["shape"] for fields in others]
    assert len(set(shapes)) == len(others)


def test_what_was_not_told_after_all_is_told_again(monkeypatch: pytest.MonkeyPatch) -> None:
    from headwater.archive.events import parser

    met = SeenDigests()
    line = parser.SourceLine("file", "line 1", b'{"eventTime": "2026-01-01T00:00:00Z", "job": {}}')
    assert "expected two strings" in parser.read_line(line, met)["rejected"]["reason"]
    assert len(row(met)["shapes"]) == 1
    with monkeypatch.context() as broken:
        broken.setattr(parser, "row_of", lambda event, digests: 1 / 0)
        good = b'{"eventTime": "2026-01-01T00:00:00Z", "job": {"namespace": "n", "name": "j"}}'
        rejected = parser.read_line(parser.SourceLine("file", "line 2", good), met)["rejected"]
    assert "a defect (ZeroDivisionError" in rejected["reason"]
    assert len(row(met)["shapes"]) == 1, "nobody knows whether the row before was kept"
