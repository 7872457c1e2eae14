"""Names: their keys, which of them are one field or one run, and which field a name meant at a moment.

A name may be longer than a database can index, so that rows have digests of names as keys.

Spark's resolver compares names in lower case (``toLowerCase(Locale.ROOT)``), so one dataset has one field per name in
lower case. The exception are *twins*: names of one dataset that one event spells in two ways side by side, which only a
case-sensitive session can have made.

A field is known by its first name and the moment since when that name was its own: all renames that happen at one
moment happen at once, so that the order of events does not matter.
"""

import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from functools import lru_cache
from hashlib import blake2b
from itertools import pairwise
from typing import NamedTuple

from headwater.model import Dataset
from headwater.model.time import BEGINNING, FOREVER

_DROPPED = re.compile(r" \(dropped [^()]+\)$")
_SCOPED = " @"
_IDENTITY = re.compile(rf"(.*){_SCOPED}[0-9a-f]{{32}}", re.DOTALL)


def key_of(*parts: str) -> bytes:
    """A short key for names of any length; different parts give different keys.

    >>> key_of("a", "bc") == key_of("ab", "c")
    False
    """
    encoded = [part.encode() for part in parts]
    return blake2b(b"".join([b"%d:%s" % (len(part), part) for part in encoded]), digest_size=16).digest()


@lru_cache(maxsize=20_000)
def keys_of(field: str) -> tuple[bytes, bytes]:
    """The key of a field's name, and that of the name whatever its case: the same few names come again and again."""
    return key_of(field), key_of(field.casefold())


def digest_of_datasets(read: Iterable[int], written: Iterable[int]) -> bytes | None:
    """A digest of the datasets that a run read, and of those that it wrote; None when there are none.

    >>> digest_of_datasets([2, 1], []) == digest_of_datasets([1, 2], []) != digest_of_datasets([1], [2])
    True
    """
    sides = [",".join(map(str, sorted(ids))) for ids in (read, written)]
    return key_of(*sides) if any(sides) else None


def folded(dataset: Dataset) -> str:
    """A dataset's full name with case and kind of separator taken away, for finding it by an ending.

    >>> folded(Dataset("file", "/Data/Gold.db/delays"))
    'file:.data.gold.db.delays'
    """
    return str(dataset).casefold().replace("/", ".")


def run_within(run: str, namespace: str) -> str:
    """The identity of a run in an event of a key with limits: its id is unique among the jobs of one namespace alone.

    Whoever knows the id of another's run, or sends it first, has a run of their own.
    """
    return f"{run}{_SCOPED}{key_of(namespace).hex()}"


def shown_run(run: str) -> str | None:
    """The id in such an identity, None for a run without limits."""
    identity = _IDENTITY.fullmatch(run) if _SCOPED in run else None
    return None if identity is None else identity[1]


def dropped_name(name: str, run: str) -> str:
    """The name under which a column that a run dropped keeps its lineage: others may take its own.

    Several columns of one name may be dropped, one after the other: the id of the run keeps them apart.

    >>> dropped_name("n", "0190e6f2-7b5f-7c4a")
    'n (dropped 0190e6f2-7b5f-7c4a)'
    """
    return f"{name} (dropped {run})"


def name_before_drop(name: str) -> str:
    """The name that a column had until it was dropped; that of any other is its own.

    >>> name_before_drop("n (dropped 0190e6f2-7b5f-7c4a)"), name_before_drop("n")
    ('n', 'n')
    """
    return _DROPPED.sub("", name)


class FieldRename(NamedTuple):
    """From a moment on (microseconds since 1970) a field has another name."""

    at: int
    former: str
    present: str


def caseless(name: str) -> str:
    """A field's name as Spark's resolver compares it: in lower case, by Unicode's rules and no language's.

    Not ``casefold``, for which ``ß`` is ``ss``: in Spark those are two columns.

    >>> caseless("GRÖSSE") == caseless("größe")
    False
    """
    return name.lower()


def own_name(name: str, twins: Collection[str]) -> str:
    """The same text for all spellings of one field: in lower case, unless its dataset has twins of that name.

    >>> own_name("Id", ()), own_name("Id", {"id"})
    ('id', 'Id')
    """
    folded = caseless(name)
    return name if folded in twins else folded


def place_of(names: Sequence[str], searched: str) -> int | None:
    """The place of a name among those of a dataset: spelled so, else the only one that differs in case alone.

    >>> place_of(["id", "Name"], "NAME"), place_of(["a", "A"], "A"), place_of(["ab", "Ab"], "AB")
    (1, 1, None)
    """
    if searched in names:
        return names.index(searched)
    near = [place for place, name in enumerate(names) if caseless(name) == caseless(searched)]
    return near[0] if len(near) == 1 else None


def twins_among(names: Iterable[str]) -> frozenset[str]:
    """The names in lower case of which several spellings stand side by side.

    >>> sorted(twins_among(["a", "A", "b", "b"]))
    ['a']
    """
    distinct = set(names)
    folded = sorted(map(caseless, distinct))
    if len(set(folded)) == len(folded):
        return frozenset()
    return frozenset(one for one, other in pairwise(folded) if one == other)


def consistent_renames(renames: Iterable[FieldRename], twins: Collection[str] = ()) -> Iterator[FieldRename]:
    """The renames of a dataset without those that contradict another one of their moment, in their order.

    A field gets one name, and a name means one field: of two renames the first in the alphabet counts, so that the
    order of events does not matter. A field that keeps its name but for its case comes before all others.

    >>> for one in consistent_renames([FieldRename(5, "y", "z"), FieldRename(5, "x", "z")]): print(*one)
    5 x z
    >>> for one in consistent_renames([FieldRename(5, "a", "z"), FieldRename(5, "Z", "z")]): print(*one)
    5 Z z
    """
    present_of: dict[tuple[int, str], str] = {}
    former_of: dict[tuple[int, str], str] = {}
    owns = [(one.at, own_name(one.former, twins), own_name(one.present, twins), one) for one in renames]
    for at, former, present, one in sorted(owns, key=lambda own: (own[0], own[1] != own[2], own)):
        if present_of.get((at, former), present) == present and former_of.get((at, present), former) == former:
            present_of[at, former], former_of[at, present] = present, former
            yield one


def own_renames(renames: Iterable[FieldRename], twins: Collection[str]) -> Iterator[FieldRename]:
    """The renames in own names; one that changes the case alone leaves a field what it was."""
    for at, former, present in renames:
        own = FieldRename(at, own_name(former, twins), own_name(present, twins))
        if own.former != own.present:
            yield own


def field_key(first: str, since: int) -> bytes:
    """The key of a field, by its first name and since when that is its own."""
    return key_of(first) if since == BEGINNING else key_of(first, str(since))


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
    """The name of a field at a moment, from its first name.

    >>> swapped = [FieldRename(5, "x", "tmp"), FieldRename(6, "y", "x"), FieldRename(7, "tmp", "y")]
    >>> present_name(swapped, "x", BEGINNING), present_name(swapped, "x", BEGINNING, at=5)
    ('y', 'tmp')
    """
    name, moment = first, since
    while later := [one for one in renames if one.former == name and moment < one.at <= at]:
        moment = min(one.at for one in later)
        name = min(one.present for one in later if one.at == moment)
    return name


def renames_disagree(renames: Collection[FieldRename], twins: Collection[str] = ()) -> bool:
    """Whether one of the renames of a dataset contradicts another, or two of them spell a name differently.

    >>> renames_disagree([FieldRename(5, "x", "z"), FieldRename(5, "y", "z")])
    True
    >>> renames_disagree([FieldRename(5, "x", "y"), FieldRename(6, "y", "Y")])
    True
    """
    spellings = {one.present for one in renames}
    names = {own_name(one, twins) for one in spellings}
    return len(names) < len(spellings) or len(list(consistent_renames(renames, twins))) < len(renames)


def fields_with_taken_names(renames: Sequence[FieldRename]) -> Iterator[tuple[str, int]]:
    """The fields, by first name and since when that is theirs, whose name a rename gives to another while they have it.

    >>> list(fields_with_taken_names([FieldRename(5, "x", "y")])) == [("y", BEGINNING)]
    True
    >>> list(fields_with_taken_names([FieldRename(5, "x", "y"), FieldRename(5, "y", "x")]))
    []
    """
    for one in renames:
        if not any(other.at == one.at and other.former == one.present for other in renames):
            yield first_name(renames, one.present, one.at - 1)


def former_name(renames: Iterable[FieldRename], present: str, at: int, twins: Collection[str] = ()) -> str:
    """The name of a field at a moment, from the name that it has now.

    >>> former_name([FieldRename(5, "x", "y"), FieldRename(9, "y", "z")], "z", 6)
    'y'
    """
    name = present
    later = consistent_renames((one for one in renames if one.at > at), twins)
    for one in sorted(later, reverse=True):
        name = one.former if own_name(one.present, twins) == own_name(name, twins) else name
    return name
