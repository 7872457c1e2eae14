"""Durations as typed, and moments as printed."""

import re

import typer

from headwater.model.time import SECOND, iso

_UNITS = {"s": 1, "m": 60, "h": 3_600, "d": 86_400, "w": 604_800}
_LENGTH = re.compile(r"(\d{1,6})([smhdw])")


def seconds(text: str) -> int:
    """Return the seconds of a duration.

    Raises:
        typer.BadParameter: the text is not a duration.

    >>> seconds("90d")
    7776000
    """
    parts = _LENGTH.fullmatch(text.strip())
    if parts is None:
        raise typer.BadParameter(f"The duration is {text!r}: expected a number and one of s, m, h, d, w, such as 90d.")
    return int(parts[1]) * _UNITS[parts[2]]


def shown(moment: int | None) -> str:
    """Return a moment in microseconds since 1970 as ISO 8601; empty for 0 and None.

    >>> shown(60_000_000)
    '1970-01-01T00:01:00Z'
    """
    if not moment:
        return ""
    return iso(moment // SECOND * SECOND)
