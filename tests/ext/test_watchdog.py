"""Work on another thread: its result, its error, or the end of it when its time is over."""

import time

import pytest

from headwater.errors import ExtensionError
from headwater.ext.watchdog import within


@pytest.mark.filterwarnings("error")
def test_work_that_ends_just_as_its_time_does_leaves_nothing_behind() -> None:
    """An exception that came too late would be raised in what Python does when a thread ends."""

    def about_two_milliseconds() -> int:
        until = time.perf_counter() + 0.002
        while time.perf_counter() < until:
            time.sleep(0.0001)
        return 7

    found: list[int | str] = []
    for place in range(200):
        try:
            found.append(within(0.0018 + place % 9 * 0.0001, about_two_milliseconds))
        except ExtensionError as error:
            found.append(str(error)[:17])
    assert set(found) <= {7, "it took more than"}


def test_it_may_raise_one_of_our_own() -> None:
    def refuse() -> None:
        raise ExtensionError("it gave nothing")

    with pytest.raises(ExtensionError, match=r"^it gave nothing$"):
        within(1.0, refuse)
