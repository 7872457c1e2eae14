"""Rows of events, as a worker of Spark makes them; without Spark."""

from typing import Any

import pytest

from headwater.archive.events.rows import SeenDigests, row_of
from headwater.openlineage.reading.events import read_event
from tests.store.conftest import run_event, written


def row(digests: SeenDigests, **parts: Any) -> dict[str, Any]:
    return row_of(read_event(run_event("j", written("out", parts.pop("fields", {"x": ["raw.x"]})), **parts)), digests)


def test_lineage_is_in_the_first_row_and_its_digest_in_each() -> None:
    digests = SeenDigests()
    first, second = row(digests, minute=1), row(digests, minute=2)
    assert first["outputs"] == second["outputs"]
    assert (len(first["shapes"]), len(second["shapes"])) == (1, 0)
    assert (len(first["schemas"]), len(second["schemas"])) == (1, 0)
    assert row(SeenDigests())["shapes"] == first["shapes"], "another worker begins anew"


def test_other_lineage_has_another_digest() -> None:
    digests = SeenDigests()
    others = [{"x": ["raw.x"]}, {"x": ["raw.y"]}, {"y": ["raw.x"]}, {"*": ["raw.x FILTER"]}, {"x": []}, {}]
    others += [{"x": ["raw.x masked"]}, {"x": ["raw.x", "raw.y"]}]
    shapes = [row(digests, fields=fields)["outputs"][0]["shape"] for fields in others]
    assert len(set(shapes)) == len(others)


def test_a_row_after_a_defect_has_its_lineage_again(monkeypatch: pytest.MonkeyPatch) -> None:
    from headwater.archive.events import known_events, parser

    digests = SeenDigests()
    line = parser.SourceLine("file", "line 1", b'{"eventTime": "2026-01-01T00:00:00Z", "job": {}}')
    assert "expected two strings" in parser.read_line(line, digests)["rejected"]["reason"]
    assert len(row(digests)["shapes"]) == 1
    with monkeypatch.context() as broken:
        broken.setattr(known_events, "row_of", lambda event, digests: 1 / 0)
        good = b'{"eventTime": "2026-01-01T00:00:00Z", "job": {"namespace": "n", "name": "j"}}'
        rejected = parser.read_line(parser.SourceLine("file", "line 2", good), digests)["rejected"]
    assert "a defect (ZeroDivisionError" in rejected["reason"]
    assert len(row(digests)["shapes"]) == 1, "the row before may not have been put out"
