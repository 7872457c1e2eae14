"""The times of events put a change of names between what was before it and what comes after."""

from datetime import UTC, datetime, timedelta

from headwater.capture.runs.executions import Clock

MOMENT = datetime(2026, 1, 1, tzinfo=UTC)
MILLISECOND = timedelta(milliseconds=1)


def test_ends_changes_and_beginnings_of_one_millisecond_are_sent_in_that_order() -> None:
    clock = Clock()
    before, change, after = clock.after(MOMENT), clock.change(MOMENT), clock.after(MOMENT)
    assert before < change <= after < MOMENT + MILLISECOND


def test_changes_in_one_millisecond_follow_each_other() -> None:
    clock = Clock()
    times = [clock.change(MOMENT) for _ in range(3)]
    assert times == sorted(set(times))


def test_other_times_stay_as_they_are() -> None:
    clock = Clock()
    assert [clock.after(MOMENT), clock.change(MOMENT + MILLISECOND), clock.after(MOMENT + 2 * MILLISECOND)] == [
        MOMENT,
        MOMENT + MILLISECOND,
        MOMENT + 2 * MILLISECOND,
    ]
    assert clock.after(MOMENT) == MOMENT, "late"
