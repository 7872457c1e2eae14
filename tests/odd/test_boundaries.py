"""PySpark's classes are wrapped while an application is watched, and are as they were afterwards."""

import importlib
import sys

import pytest
from pyspark import RDD

from headwater.capture.hooks.boundaries import data_frame_type, watch_boundaries

NAMES = ("checkpoint", "localCheckpoint", "rdd", "toJSON")
OF_RDDS = ("foreach", "foreachPartition", "saveAsPickleFile", "saveAsTextFile")
STATISTICS = "pyspark.ml.stat"


def test_the_class_is_put_back_as_it_was() -> None:
    kind = data_frame_type()
    before = {name: vars(kind)[name] for name in NAMES}
    undo = watch_boundaries(lambda context: None)
    assert [name for name in NAMES if vars(kind)[name] is before[name]] == []
    assert kind.checkpoint.__doc__ == before["checkpoint"].__doc__
    undo()
    assert {name: vars(kind)[name] for name in NAMES} == before


def test_a_wrapper_that_another_put_over_ours_stays() -> None:
    kind = data_frame_type()
    before = vars(kind)["checkpoint"]
    undo = watch_boundaries(lambda context: None)
    kind.checkpoint = theirs = lambda self: None
    try:
        undo()
        assert vars(kind)["checkpoint"] is theirs
    finally:
        kind.checkpoint = before


def test_the_class_of_rdds_is_put_back_too() -> None:
    before = {name: vars(RDD)[name] for name in OF_RDDS}
    undo = watch_boundaries(lambda context: None)
    assert [name for name in OF_RDDS if vars(RDD)[name] is before[name]] == []
    assert RDD.saveAsTextFile.__doc__ == before["saveAsTextFile"].__doc__
    undo()
    assert {name: vars(RDD)[name] for name in OF_RDDS} == before


def finders_after_other_tests() -> list[object]:
    """Python's finders of modules, without the one that an agent of another test in this process may have left."""
    watch_boundaries(lambda context: None)()
    return list(sys.meta_path)


@pytest.mark.parametrize("earlier", [True, False])
def test_statistics_are_watched_wherever_they_are_imported(earlier: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    importlib.import_module(STATISTICS)
    if not earlier:
        monkeypatch.delitem(sys.modules, STATISTICS)
    finders = finders_after_other_tests()
    undo = watch_boundaries(lambda context: None)
    found = importlib.import_module(STATISTICS).Correlation
    wrapped = vars(found)["corr"]
    undo()
    assert wrapped.__func__.__wrapped__ is vars(found)["corr"].__func__
    assert found.corr.__doc__ == wrapped.__func__.__doc__
    assert sys.meta_path == finders


def test_statistics_that_nobody_imports_leave_nothing_behind(monkeypatch: pytest.MonkeyPatch) -> None:
    importlib.import_module(STATISTICS)
    monkeypatch.delitem(sys.modules, STATISTICS)
    finders = finders_after_other_tests()
    watch_boundaries(lambda context: None)()
    assert sys.meta_path == finders
    assert STATISTICS not in sys.modules
