"""The times of moments, in an order that names over time can be told by."""

from datetime import UTC, datetime, timedelta


class Clock:
    """Spark tells milliseconds, and a statement may end and the next begin in one.

    A change of names is put between them, by microseconds: before it a name means another dataset than after it.
    """

    def __init__(self) -> None:
        self._latest = self._change = datetime.min.replace(tzinfo=UTC)

    def after(self, time: datetime) -> datetime:
        """The time, or that of the last change of names where both are in one millisecond."""
        same = time < self._change < time + timedelta(milliseconds=1)
        self._latest = max(self._latest, self._change if same else time)
        return self._change if same else time

    def change(self, time: datetime) -> datetime:
        """A time for a change of names: after all that was told before it in the same millisecond."""
        same = time <= self._latest < time + timedelta(milliseconds=1)
        self._change = self._latest + timedelta(microseconds=1) if same else time
        self._latest = max(self._latest, self._change)
        return self._change
