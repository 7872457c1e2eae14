"""Work on another thread: its result, its error, or the end of it when its time is over."""

import time

import pytest

from headwater.errors import ExtensionError
from headwater.ext.watchdog import within


def test_work_that_ends_just_as_its_time_does_leaves_nothing_behind(recwarn: pytest.WarningsRecorder) -> None:
    """An exception that came too late would be raised in what Python does when a thread ends."""

    def about_a_millisecond() -> int:
        until = time.perf_counter() + 0.001
        while time.perf_counter() < until:
            pass
        return 7

    ended = 0
    for _ in range(200):
        try:
            assert within(0.001, about_a_millisecond) == 7
        except ExtensionError:
            ended += 1
    assert ended
    assert not recwarn.list


def test_it_may_raise_one_of_our_own() -> None:
    def refuse() -> None:
        raise ExtensionError("it gave nothing")

    with pytest.raises(ExtensionError, match="^it gave nothing$"):
        within(1.0, refuse)
