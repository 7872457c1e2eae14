"""The shape of an event, checked before anything else reads it.

The store reads as much as it can of an event, because a job that has run does not send it again. A client over HTTP can
be refused, with the reason.
"""

from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from typing import Any

from headwater.errors import EventError
from headwater.openlineage.reading.json_values import UNFIT, Record, record, records, remembered_by_content

LONGEST_NAME = 4_000
"""Characters of a namespace, a name or a field: four times what object stores allow."""

STATES = frozenset({"START", "RUNNING", "COMPLETE", "ABORT", "FAIL", "OTHER"})
"""OpenLineage 2-0-2, RunEvent, ``eventType``."""

_OBJECTS = (("run",), ("job",), ("dataset",), ("run", "facets"), ("job", "facets"), ("dataset", "facets"))
_KINDS: dict[type, str] = {dict: "an object", list: "a list", str: "a string"}
_NAMED = ("namespace", "name", "field")


def require_shape(event: object) -> None:
    """Check the shape of an event; null counts as absent.

    Raises:
        EventError: a part has another type than the specification says, or a name cannot be stored.
    """
    if not isinstance(event, dict):
        return  # the reader has a better message
    for path in _OBJECTS:
        _part(event, path, dict)
    state = event.get("eventType")
    if state is not None and (not isinstance(state, str) or state.upper() not in STATES):
        raise EventError(f"eventType is {_shown(state)}: expected one of {', '.join(sorted(STATES))}.")
    _require_names(_names(event))


def _part(value: Record, path: tuple[str, ...], kind: type) -> Any:
    """Return the value at a path, an empty one of its type where it is absent."""
    found: Any = value
    for step in path:
        found = found.get(step) if found is not None else None
    if found is not None and not isinstance(found, kind):
        raise EventError(f"{'.'.join(path)} is {_shown(found)}: expected {_KINDS[kind]}. Correct the producer.")
    return kind() if found is None else found


def _names(event: Record) -> Iterator[object]:
    """Return all names of jobs and datasets outside of facets; check the facets on the way."""
    yield from _of(event.get("job") or {})
    for dataset in _datasets(event):
        yield from _of(dataset)
        facets = _part(dataset, ("facets",), dict)
        for name, require in _NAMING_FACETS.items():
            if facets.get(name) is not None:
                require(facets[name])


def _datasets(event: Record) -> Iterator[Record]:
    for side in ("inputs", "outputs"):
        for place, one in enumerate(_part(event, (side,), list)):
            if not isinstance(one, dict):
                raise EventError(f"{side}[{place}] is {_shown(one)}: expected a dataset. Correct the producer.")
            yield one
    if event.get("dataset"):
        yield event["dataset"]


@remembered_by_content(16 << 20)
def _schema(facet: object) -> None:
    _require_names([one.get("name") for one in records(facet, "fields")])


@remembered_by_content(16 << 20)
def _symlinks(facet: object) -> None:
    _require_names([name for one in records(facet, "identifiers") for name in _of(one)])


@remembered_by_content(48 << 20)
def _column_lineage(facet: object) -> None:
    _require_names(_of_lineage(facet, "inputFields", "dataset"))


@remembered_by_content(48 << 20)
def _lineage(facet: object) -> None:
    _require_names(_of_lineage(facet, "inputs", "inputs"))


def _of_lineage(facet: object, inputs: str, whole: str) -> list[object]:
    """Return the names in a facet with column lineage; their members differ."""
    fields = record(facet, "fields")
    named = [one for field in fields.values() for one in records(field, inputs)] + records(facet, whole)
    names: list[object] = list(fields)
    for part in _NAMED:
        names += [one.get(part) for one in named]
    return names


_NAMING_FACETS: dict[str, Callable[[object], None]] = {
    "schema": _schema,
    "symlinks": _symlinks,
    "columnLineage": _column_lineage,
    "lineage": _lineage,
}


def _of(entry: Record) -> Iterator[object]:
    return map(entry.get, _NAMED)


def _require_names(names: Iterable[object]) -> None:
    every = list(names)
    with suppress(TypeError):  # a list or an object, which has no hash
        every = list(dict.fromkeys(every))  # most are repeated
    texts = [name for name in every if isinstance(name, str)]
    odd = [name for name in every if name is not None and not isinstance(name, str)]
    if odd:
        raise EventError(f"A name is {_shown(odd[0])}: expected a string. Correct the producer.")
    longest = max(texts, key=len, default="")
    if len(longest) > LONGEST_NAME:
        raise EventError(
            f"A name of {len(longest):,} characters, {_shown(longest)}: expected at most {LONGEST_NAME:,}."
        )
    together = "".join(texts)
    if not together.isprintable() and UNFIT.search(together):
        unfit = next(filter(UNFIT.search, texts))
        raise EventError(f"The name {_shown(unfit)} has a NUL or half a character in it: no database stores that.")


def _shown(value: object) -> str:
    return ascii(value)[:60]
