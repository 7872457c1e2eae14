"""Names of fields over time: which field a name meant at a moment, and what it is called at another.

A field is known by its first name and the moment since when that name was its own: all renames that happen at one
moment happen at once, so that the order of events does not matter.
"""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from headwater.store.schema import BEGINNING, FOREVER


class FieldRename(NamedTuple):
    """From a moment on (microseconds since 1970) a field has another name."""

    at: int
    former: str
    present: str


def first_name(renames: Sequence[FieldRename], name: str, at: int) -> tuple[str, int]:
    """The first name of the field that ``name`` meant at a moment, and since when that was its name.

    >>> first_name([FieldRename(5, "x", "y")], "y", 7)[0]
    'x'
    >>> first_name([FieldRename(5, "x", "y")], "x", 7)
    ('x', 5)
    """
    while True:
        moment = max((one.at for one in renames if one.at <= at and name in one[1:]), default=BEGINNING)
        formers = [one.former for one in renames if one.at == moment and one.present == name]
        if not formers:
            return name, moment
        name, at = min(formers), moment - 1


def present_name(renames: Sequence[FieldRename], first: str, since: int, at: int = FOREVER) -> str:
    """What a field is called at a moment, from its first name.

    >>> swapped = [FieldRename(5, "x", "tmp"), FieldRename(6, "y", "x"), FieldRename(7, "tmp", "y")]
    >>> present_name(swapped, "x", BEGINNING), present_name(swapped, "x", BEGINNING, at=5)
    ('y', 'tmp')
    """
    name, moment = first, since
    while later := [one for one in renames if one.former == name and moment < one.at <= at]:
        moment = min(one.at for one in later)
        name = min(one.present for one in later if one.at == moment)
    return name


def former_name(renames: Iterable[FieldRename], present: str, at: int) -> str:
    """What a field was called at a moment, from the name that it has now.

    >>> former_name([FieldRename(5, "x", "y"), FieldRename(9, "y", "z")], "z", 6)
    'y'
    """
    name = present
    for one in sorted((one for one in renames if one.at > at), reverse=True):
        name = one.former if one.present == name else name
    return name
