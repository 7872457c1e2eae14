"""What the name of a dataset means, and when: a table that is renamed or dropped leaves its name to another."""

from typing import NamedTuple

from headwater.model.time import BEGINNING, FOREVER


class Meaning(NamedTuple):
    """A name means a dataset from a moment on, up to but not including another; ``id`` is the row that says so."""

    id: int
    dataset: int
    since: int
    until: int

    def covers(self, at: int) -> bool:
        """Whether the name has this meaning at a moment."""
        return self.since <= at < self.until

    def spans(self, at: int) -> bool:
        """Whether it has this meaning both before and after a moment at which it should have ended."""
        return self.since < at < self.until


def free_span(known: list[Meaning], at: int) -> tuple[int, int]:
    """The time around a moment in which a name has no meaning yet.

    >>> free_span([Meaning(1, 1, 10, 20), Meaning(2, 2, 30, FOREVER)], 25)
    (20, 30)
    """
    since = max((one.until for one in known if one.until <= at), default=BEGINNING)
    return since, min((one.since for one in known if one.since > at), default=FOREVER)
