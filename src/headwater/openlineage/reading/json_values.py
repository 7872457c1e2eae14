"""JSON that others wrote: texts that are equal for equal events, and values of the kind that is expected, or nothing.

Facets that come again and again, event after event, are each written as a text once, and known again by it.
"""

import json
import re
import zlib
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import lru_cache
from hashlib import blake2b
from random import Random
from threading import Lock
from typing import Any, Generic, TypeVar

import orjson

from headwater.errors import EventError

Record = dict[str, Any]
Value = TypeVar("Value")
_NOTHING: Record = {}
UNFIT = re.compile("[\0\ud800-\udfff]")
"""Characters that cannot be stored: PostgreSQL stores no NUL, neither database stores a lone surrogate."""


def record(value: object, *path: str) -> Record:
    """The object at ``path``, empty when there is none.

    >>> record({"facets": {"sql": {"query": "SELECT 1"}}}, "facets", "sql")
    {'query': 'SELECT 1'}
    >>> record({"facets": None}, "facets", "sql")
    {}
    """
    for step in path:
        value = value.get(step) if isinstance(value, dict) else None
    return value if isinstance(value, dict) else _NOTHING


def records(value: object, *path: str) -> list[Record]:
    """The objects of the list at ``path``; what is no object is left out."""
    for step in path:
        value = value.get(step) if isinstance(value, dict) else None
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []


def text(value: object, *path: str) -> str:
    """The string at ``path``, fit to be stored, or an empty one.

    What is `UNFIT` becomes U+FFFD.

    >>> text({"a": {"b": "x"}}, "a", "b"), text({"a": 1}, "a")
    ('x', '')
    """
    found = value
    for step in path:
        found = found.get(step) if isinstance(found, dict) else None
    if not isinstance(found, str):
        return ""
    return found if found.isprintable() else UNFIT.sub("\N{REPLACEMENT CHARACTER}", found)


def remembered(most: int) -> Callable[[Callable[..., Value]], Callable[..., Value]]:
    """Cache the results of a function of JSON values.

    >>> remembered(10)(text)(["no string, and has no hash"])
    ''
    """

    def with_memory(read: Callable[..., Value]) -> Callable[..., Value]:
        known = lru_cache(maxsize=most, typed=True)(read)  # 1 is not true

        def value(*parts: object) -> Value:
            try:
                return known(*parts)
            except TypeError:
                return read(*parts)

        return value

    return with_memory


class Part:
    """A JSON value with its text, which is the same for equal values, and by which it is known again.

    Args:
        value: the value.
        packed: JSON that it was read from, compressed, which is held in its place: that takes little memory.
        text: the text, where it is known already.

    Raises:
        JSONEncodeError: orjson cannot write it as deep within an event as its datasets' facets are.
    """

    __slots__ = ("_value", "packed", "text")

    def __init__(self, value: Any, packed: bytes = b"", text: bytes = b"") -> None:
        self._value = None if packed else value
        self.packed = packed
        self.text = text or orjson.dumps([[[[value]]]], option=orjson.OPT_SORT_KEYS)[4:-4]

    @property
    def value(self) -> Any:
        """The value."""
        return orjson.loads(zlib.decompress(self.packed)) if self.packed else self._value


def remembered_by_content(most: int) -> Callable[[Callable[[Any], Value]], Callable[[Any], Value]]:
    """Cache the results of a function by the text of a JSON value: a job that runs again sends the same facets.

    It holds values of ``most`` bytes of JSON in a `Memory`, each with `_BESIDE` of its own. Of slightly more values
    than fit, read in turn, most are still found, where dropping the oldest would find none.

    >>> remembered_by_content(1000)(text)("x")
    'x'
    """

    def with_memory(read: Callable[[Any], Value]) -> Callable[[Any], Value]:
        memory = Memory[Value](most)

        def value(content: Any) -> Value:
            try:
                part = content if isinstance(content, Part) else Part(content)
            except orjson.JSONEncodeError:
                return read(content)
            known = memory.values.get(part.text)
            if known is not None:
                return known[0]
            made = read(part.value)
            memory.put(part.text, made, len(part.text) + _BESIDE)
            return made

        return value

    return with_memory


@dataclass(slots=True)
class MemoryLimit:
    """How many ``times`` what they hold at first the memories of this process may hold."""

    times: int = 1


LIMIT = MemoryLimit()


class Memory(Generic[Value]):
    """Values by texts, each with what it costs: ``most`` bytes in all, times those of `LIMIT`.

    When there are more, random ones are dropped.
    """

    def __init__(self, most: int) -> None:
        self.values: dict[bytes, tuple[Value, int]] = {}
        self._most = most
        self._texts: list[bytes] = []
        self._used = 0
        self._chance = Random(0)
        self._changing = Lock()

    def put(self, text: bytes, value: Value, cost: int) -> None:
        """Remember a value, in place of one of the same text, and forget others for it.

        One that costs more than an eighth of all is not remembered: a large event must not push out what comes again
        and again, and stay itself.
        """
        if cost > self._most * LIMIT.times // 8:
            return
        with self._changing:
            if text not in self.values:
                self._texts.append(text)
            self._used += cost - self.values.get(text, (None, 0))[1]
            self.values[text] = value, cost
            while self._used > self._most * LIMIT.times:
                place = self._chance.randrange(len(self._texts))
                self._texts[place], self._texts[-1] = self._texts[-1], self._texts[place]
                self._used -= self.values.pop(self._texts.pop())[1]


_BESIDE = 500  # bytes that the smallest value takes: its key, its place, and what was made of it


LARGE = ("columnLineage", "schema")
"""The facets of datasets that most of an event is."""

_NAME_FACETS = ("headwater_names", "lifecycleStateChange", "symlinks")


def read_json(source: str | bytes) -> Any:
    """The value that a JSON text stands for.

    Raises:
        EventError: it is no JSON.
    """
    try:
        try:
            return orjson.loads(source)
        except orjson.JSONDecodeError:
            return json.loads(source)  # which knows NaN and halves of characters
    except (ValueError, RecursionError) as fault:
        raise EventError(
            f"Not JSON ({fault}): expected one OpenLineage event. Correct or leave out the line."
        ) from None


def in_parts(value: Any) -> Any:
    """A JSON value that was just read, with a `Part` for each large facet when it is an event."""
    for dataset in (*records(value, "inputs"), *records(value, "outputs")):
        facets = record(dataset, "facets")
        for name in LARGE:
            if isinstance(facet := facets.get(name), dict):
                with suppress(orjson.JSONEncodeError):  # too deep for orjson: all of the event is written otherwise
                    facets[name] = Part(facet)
    return value


def digest_of(canonical: bytes) -> bytes:
    """The digest by which an event is recognized."""
    return blake2b(canonical, digest_size=16).digest()


def canonical(value: Mapping[str, Any]) -> bytes:
    """The JSON text that is the same for equal events.

    Raises:
        EventError: it is no JSON.
    """
    try:
        return orjson.dumps(value, _fragment, orjson.OPT_SORT_KEYS)
    except orjson.JSONEncodeError:
        return _spelled_out(value)


def _spelled_out(value: Mapping[str, Any]) -> bytes:
    """The same for what has large integers or halves of characters in it."""
    try:
        return json.dumps(value, sort_keys=True, separators=(",", ":"), default=_whole).encode()
    except (TypeError, ValueError, RecursionError) as fault:
        raise EventError(f"An event that is not JSON ({fault}): expected dicts, lists, strings and numbers.") from None


def _fragment(value: object) -> orjson.Fragment:
    return orjson.Fragment(_of(value).text)


def _whole(value: object) -> Any:
    return _of(value).value


def _of(value: object) -> Part:
    if isinstance(value, Part):
        return value
    raise TypeError(f"Object of type {type(value).__name__} is not JSON serializable")


def names_alone(text: bytes) -> str:
    """The JSON of an event without the parts that names do not depend on.

    >>> names_alone(b'{"eventTime": "t", "producer": "p", "dataset": {"namespace": "n", "name": "d", "facets": {}}}')
    '{"dataset":{"facets":{},"name":"d","namespace":"n"},"eventTime":"t"}'
    """
    value = read_json(text)
    parts = {key: value[key] for key in ("eventTime", "eventType") if key in value}
    if "run" in value:
        parts["run"] = {"runId": value["run"]["runId"]}
    if "job" in value:
        parts["job"] = {key: value["job"][key] for key in ("namespace", "name")}
    if "outputs" in value:
        parts["outputs"] = [_name_facets(one) for one in records(value, "outputs")]
    if "dataset" in value:
        parts["dataset"] = _name_facets(record(value, "dataset"))
    return canonical(parts).decode()


def _name_facets(dataset: Record) -> Record:
    facets = {key: one for key, one in record(dataset, "facets").items() if key in _NAME_FACETS}
    return {"namespace": dataset["namespace"], "name": dataset["name"], "facets": facets}
