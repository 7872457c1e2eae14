"""Moments as the events and the store count them: microseconds since 1970-01-01T00:00:00Z."""

from datetime import UTC, datetime, timedelta
from time import time_ns

MILLISECOND = 1_000
SECOND = 1_000_000
DAY = 86_400 * SECOND

FOREVER = 2**63 - 1
"""The end of spans that have none."""

BEGINNING = -FOREVER
"""The begin of spans that have none."""

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)


def now() -> int:
    """Return the present moment."""
    return time_ns() // 1_000


def length_of(duration: timedelta) -> int:
    """Return the microseconds of a duration.

    >>> length_of(timedelta(hours=1))
    3600000000
    """
    return duration // _MICROSECOND


def microseconds_of(time: datetime) -> int:
    """Return the moment of a time; one without a zone is in UTC.

    >>> microseconds_of(datetime(1970, 1, 2))
    86400000000
    """
    return length_of((time if time.tzinfo else time.replace(tzinfo=UTC)) - _EPOCH)


def datetime_of(moment: int) -> datetime:
    """Return a moment as a time in UTC; never by way of a float, which has no room for the microseconds of all years.

    Raises:
        OverflowError: the moment is not in the years 1 to 9999.

    >>> datetime_of(-1).isoformat()
    '1969-12-31T23:59:59.999999+00:00'
    """
    return _EPOCH + timedelta(microseconds=moment)


def parse_iso(text: str) -> int:
    """Return the moment of an ISO 8601 time; one without a zone is in UTC.

    Raises:
        ValueError: the text is no such time.

    >>> parse_iso("1970-01-01T02:00:00.5+02:00")
    500000
    """
    return microseconds_of(datetime.fromisoformat(text))


def iso(moment: int) -> str:
    """Return a moment as ISO 8601 in UTC, to the microsecond.

    >>> iso(1_767_225_600_000_000)
    '2026-01-01T00:00:00Z'
    """
    return f"{datetime_of(moment).replace(tzinfo=None).isoformat()}Z"
