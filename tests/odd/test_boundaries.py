"""PySpark's DataFrame is wrapped while an application is watched, and is as it was afterwards."""

from headwater.capture.boundaries import _data_frame_type, watch_boundaries

NAMES = ("checkpoint", "localCheckpoint", "rdd")


def test_the_class_is_put_back_as_it_was() -> None:
    kind = _data_frame_type()
    before = {name: vars(kind)[name] for name in NAMES}
    undo = watch_boundaries(lambda context: None)
    assert [name for name in NAMES if vars(kind)[name] is before[name]] == []
    assert kind.checkpoint.__doc__ == before["checkpoint"].__doc__
    undo()
    assert {name: vars(kind)[name] for name in NAMES} == before


def test_a_wrapper_that_another_put_over_ours_stays() -> None:
    kind = _data_frame_type()
    before = vars(kind)["checkpoint"]
    undo = watch_boundaries(lambda context: None)
    kind.checkpoint = theirs = lambda self: None
    try:
        undo()
        assert vars(kind)["checkpoint"] is theirs
    finally:
        kind.checkpoint = before
