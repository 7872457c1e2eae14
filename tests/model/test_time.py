"""Moments: microseconds since 1970 from datetimes and ISO texts, and back."""

from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headwater.model.time import datetime_of, iso, length_of, microseconds_of, parse_iso

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
# Of whole minutes, as in ISO 8601: Python's fromisoformat reads an offset of one microsecond as none.
OFFSETS = st.integers(-1439, 1439).map(lambda minutes: timezone(timedelta(minutes=minutes)))
TIMES = st.datetimes(datetime(1, 1, 2), datetime(9999, 12, 30, 23, 59, 59, 999_999), timezones=OFFSETS)


@given(TIMES)
def test_a_moment_is_the_time_that_it_was_made_of(time: datetime) -> None:
    assert datetime_of(microseconds_of(time)) == time


@given(TIMES)
def test_an_iso_text_is_the_moment_that_it_was_made_of(time: datetime) -> None:
    moment = microseconds_of(time)
    assert parse_iso(iso(moment)) == parse_iso(time.isoformat()) == moment


@given(st.datetimes())
def test_a_time_without_a_zone_is_in_utc(time: datetime) -> None:
    assert microseconds_of(time) == microseconds_of(time.replace(tzinfo=UTC)) == parse_iso(time.isoformat())


@given(TIMES, TIMES)
def test_moments_are_in_the_order_of_their_times(one: datetime, other: datetime) -> None:
    assert (microseconds_of(one) < microseconds_of(other)) == (one < other)
    assert length_of(other - one) == microseconds_of(other) - microseconds_of(one)


@pytest.mark.parametrize(
    ("moment", "text"),
    [
        (-1, "1969-12-31T23:59:59.999999Z"),
        (0, "1970-01-01T00:00:00Z"),
        (253_402_300_799_999_999, "9999-12-31T23:59:59.999999Z"),
        (-62_135_596_800_000_000, "0001-01-01T00:00:00Z"),
    ],
)
def test_the_first_and_last_moments_have_exact_texts(moment: int, text: str) -> None:
    assert iso(moment) == text
    assert parse_iso(text) == moment


@pytest.mark.parametrize("text", ["", "yesterday", "2026-13-01T00:00:00Z", "10000-01-01T00:00:00Z"])
def test_a_text_that_is_no_time_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"isoformat|month"):
        parse_iso(text)


def test_a_moment_after_the_year_9999_has_no_text() -> None:
    with pytest.raises(OverflowError):
        iso(253_402_300_800_000_000)
