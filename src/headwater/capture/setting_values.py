"""The values that each setting of capture may have: anything else is a SettingError that says what is allowed."""

import os
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from math import isfinite
from pathlib import Path
from typing import Any

from headwater.errors import SettingError
from headwater.openlineage.delivery import read_config
from headwater.redaction import redact
from headwater.store.sql.location import require_store_url

_BOOLEANS = {"1": True, "true": True, "yes": True, "on": True, "0": False, "false": False, "no": False, "off": False}
_JOB_NAMES = ("target", "operator")
_DAY = 86_400
_MOST = 2**31 - 1  # what Java counts with


@dataclass(frozen=True, slots=True)
class _Rule:
    """The allowed values, in words, and how one is read; ``read`` raises ValueError or SettingError."""

    allowed: str
    read: Callable[[Any], Any]


def setting_value(name: str, value: Any, label: str = "") -> Any:
    """The value of the setting ``name``, in its type.

    Raises:
        SettingError: it is none; the message has the ``label`` (the variable or option), the value and what is allowed.

    >>> setting_value("queue", "100")
    100
    """
    rule = _RULES[name]
    try:
        return rule.read(value)
    except SettingError as error:
        raise SettingError(f"{label or name}: {error}") from error
    except (TypeError, ValueError, LookupError, OverflowError):
        shown = redact(repr(value))[:200]
        raise SettingError(f"{label or name} is {shown}; expected {rule.allowed}.") from None


def _boolean(value: Any) -> bool:
    return value if isinstance(value, bool) else _BOOLEANS[_text_of(value).lower()]


def _whole(least: int, most: int) -> _Rule:
    def read(value: Any) -> int:
        number = int(_text_of(value)) if isinstance(value, str) else value
        if isinstance(number, bool) or not isinstance(number, int) or not least <= number <= most:
            raise ValueError
        return number

    return _Rule(f"a whole number from {least} to {most}", read)


def _seconds(value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        raise ValueError
    number = float(value)
    if not isfinite(number) or not 0 <= number <= _DAY:
        raise ValueError
    return number


def _text_of(value: Any) -> str:
    if not isinstance(value, str | int) or "\0" in str(value):
        raise ValueError
    return str(value).strip()


def _place(value: Any) -> str:
    text = os.fspath(value)
    if not isinstance(text, str) or "\0" in text or (text and not text.strip()):
        raise ValueError
    return text


def _store(value: Any) -> str:
    text = _place(value)
    if text:
        require_store_url(text)
    return text


def _events(value: Any) -> str:
    text = _place(value)
    if "://" in text:
        raise ValueError
    return text


def _config(value: Any) -> str:
    text = _place(value)
    if text:
        read_config(Path(text))
    return text


def _names(value: Any) -> tuple[str, ...]:
    if isinstance(value, bytes | Mapping) or not isinstance(value, Iterable):
        raise ValueError
    parts = tuple(value.split(",") if isinstance(value, str) else value)
    if not all(isinstance(part, str) for part in parts):
        raise ValueError
    return tuple(part.strip() for part in parts if part.strip())


def _extensions(value: Any) -> tuple[Any, ...]:
    if isinstance(value, bytes | Mapping) or not isinstance(value, Iterable):
        raise ValueError
    parts = value.split(",") if isinstance(value, str) else value
    stripped = (part.strip() if isinstance(part, str) else part for part in parts)
    return tuple(part for part in stripped if not isinstance(part, str) or part)


def _job_names(value: Any) -> str:
    text = _text_of(value).lower()
    if text not in _JOB_NAMES:
        raise ValueError
    return text


_SWITCH = _Rule("true or false", _boolean)
_SECONDS = _Rule(f"seconds from 0 to {_DAY}", _seconds)
_NAMES = _Rule("names, with commas between", _names)
_RULES: Mapping[str, _Rule] = {
    "store": _Rule("the path of a file, or a database URL", _store),
    "events": _Rule("the path of a file", _events),
    "config": _Rule("the path of an openlineage.yml", _config),
    "reads": _SWITCH,
    "quiet": _SWITCH,
    "queue": _whole(1, 100_000_000),
    "plan_nodes": _whole(1, _MOST),
    "plan_seconds": _SECONDS,
    "flush_seconds": _SECONDS,
    "description_length": _whole(0, 1_000_000),
    "job_names": _Rule(" or ".join(_JOB_NAMES), _job_names),
    "masking_functions": _NAMES,
    "extensions": _Rule("extensions, or texts module:name", _extensions),
    "extensions_disabled": _NAMES,
    "extension_seconds": _SECONDS,
    "connector_seconds": _SECONDS,
}
