"""Lengths of time as people type them, and moments as people read them."""

import re
from datetime import UTC, datetime

import typer

_UNITS = {"s": 1, "m": 60, "h": 3_600, "d": 86_400, "w": 604_800}
_LENGTH = re.compile(r"(\d{1,6})([smhdw])")


def seconds(text: str) -> int:
    """The seconds of a length of time.

    Raises:
        typer.BadParameter: it is none.

    >>> seconds("90d")
    7776000
    """
    parts = _LENGTH.fullmatch(text.strip())
    if parts is None:
        raise typer.BadParameter(f"{text!r} is no length of time: expected a number and one of s, m, h, d, w: 90d.")
    return int(parts[1]) * _UNITS[parts[2]]


def shown(moment: int | None) -> str:
    """A moment in microseconds since 1970 as ISO 8601; empty for none.

    >>> shown(0)
    '1970-01-01T00:00:00Z'
    """
    if moment is None:
        return ""
    return datetime.fromtimestamp(moment // 1_000_000, UTC).isoformat().replace("+00:00", "Z")
