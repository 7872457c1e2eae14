"""What a user may set about capture: arguments of attach() first, then the environment, then the Spark conf."""

import os
from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from functools import partial
from typing import Any

from headwater.errors import SettingError
from headwater.ext.found import Given, find_extensions, remembered_extensions
from headwater.ext.running import SECONDS, Extensions

_TRUE = ("1", "true", "yes", "on")
_FALSE = ("0", "false", "no", "off", "")


@dataclass(frozen=True, slots=True)
class CaptureSettings:
    """Where lineage goes, and the budgets within which it is worked out.

    ``store`` is a store URL or file, ``events`` a file of JSON lines, ``config`` an OpenLineage client
    configuration; none of them means the store of this folder, unless the OpenLineage client is configured
    by its own environment. ``reads`` also tells of queries that only read. ``queue`` counts executions,
    ``plan_nodes`` the nodes of one plan, ``plan_seconds`` the time to read it, ``flush_seconds`` how long
    the end of an application may wait for what is under way. ``description_length`` is the length of the
    expression texts in the lineage, 0 for none. ``masking_functions`` hide values beside those known.
    ``extensions`` are used beside those of installed packages: a `headwater.ext.Extension`, a function that gives
    one, or a text ``module:name``; ``extensions_disabled`` are names of some that are not wanted, ``*`` is all.
    ``extension_seconds`` is the time that the hooks of one extension may take for one plan.
    """

    store: str = ""
    events: str = ""
    config: str = ""
    reads: bool = False
    quiet: bool = False
    queue: int = 10_000
    plan_nodes: int = 2_000_000
    plan_seconds: float = 20.0
    flush_seconds: float = 15.0
    description_length: int = 0
    masking_functions: tuple[str, ...] = ()
    extensions: tuple[Given, ...] = ()
    extensions_disabled: tuple[str, ...] = ()
    extension_seconds: float = SECONDS


def capture_settings(given: Mapping[str, Any], environment: Mapping[str, str] | None = None) -> CaptureSettings:
    """The settings with ``given`` (None counts as not given) over ``HEADWATER_…`` variables over the defaults.

    Raises:
        SettingError: a value that cannot be used, or a name that is no setting.

    >>> capture_settings({"reads": None}, {"HEADWATER_READS": "1"}).reads
    True
    """
    environment = os.environ if environment is None else environment
    known = {field.name: field.default for field in fields(CaptureSettings)}
    unknown = sorted(set(given) - set(known))
    if unknown:
        raise SettingError(f"{unknown[0]!r} is no setting of headwater; the settings are {', '.join(sorted(known))}.")
    found: dict[str, Any] = {}
    for name, default in known.items():
        text = environment.get(f"HEADWATER_{name.upper()}")
        if given.get(name) is not None:
            found[name] = _converted(name, given[name], default)
        elif text is not None:
            found[name] = _converted(f"HEADWATER_{name.upper()}", text, default)
    return replace(CaptureSettings(), **found)


def extensions_of(settings: CaptureSettings) -> Extensions:
    """The extensions of one run; they are looked for at first use."""
    find = partial(find_extensions, settings.extensions, settings.extensions_disabled)
    return Extensions(find, settings.extension_seconds)


def installed_extensions() -> Extensions:
    """Those that installed packages and the environment name, for a question apart from any run."""
    settings = capture_settings({})
    find = partial(remembered_extensions, settings.extensions, settings.extensions_disabled)
    return Extensions(find, settings.extension_seconds)


def _converted(name: str, value: Any, default: Any) -> Any:
    try:
        if isinstance(default, bool):
            return _boolean(value)
        if isinstance(default, int):
            return int(value)
        if isinstance(default, float):
            return float(value)
        if isinstance(default, tuple):
            parts = value.split(",") if isinstance(value, str) else value
            stripped = (part.strip() if isinstance(part, str) else part for part in parts)
            return tuple(part for part in stripped if not isinstance(part, str) or part)
    except (TypeError, ValueError):
        raise SettingError(f"{name} is {value!r}, but a {type(default).__name__} was expected.") from None
    return str(value)


def _boolean(value: Any) -> bool:
    text = str(value).strip().lower()
    if text in _TRUE or text in _FALSE:
        return text in _TRUE
    raise ValueError(text)
