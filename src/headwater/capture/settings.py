"""The settings of capture: arguments of attach() first, then the environment, then the Spark conf."""

import difflib
import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields, replace
from functools import partial
from pathlib import Path
from typing import Any

from headwater.capture.setting_values import setting_value
from headwater.errors import SettingError
from headwater.ext.discovery import ExtensionSource, find_extensions, remembered_extensions
from headwater.ext.runtime import SECONDS, Extensions
from headwater.openlineage.delivery import client_targets, read_config

_PREFIX = "HEADWATER_"


@dataclass(frozen=True, slots=True)
class CaptureSettings:
    """Where lineage goes, and the budgets within which it is worked out.

    ``store`` is a store URL or file, ``events`` a file of JSON lines, ``config`` an OpenLineage client
    configuration; none of them means the store of this folder, unless the OpenLineage client is configured
    by its own environment. ``reads`` also reports queries that only read. ``queue`` counts executions,
    ``plan_nodes`` the nodes of one plan, ``plan_seconds`` the time to read it, ``flush_seconds`` how long
    the end of an application may wait for what is under way. ``description_length`` is the length of the
    expression texts in the lineage, 0 for none; without it the Spark conf decides. ``masking_functions`` hide
    values beside those known.
    ``extensions`` are used beside those of installed packages: a `headwater.ext.Extension`, a function that gives
    one, or a text ``module:name``; ``extensions_disabled`` are names of some that are not wanted, ``*`` is all.
    ``job_names`` is ``target``, or ``operator`` for the names that the OpenLineage Spark integration gives to jobs.
    ``extension_seconds`` is the time that the hooks of one extension may take for one plan,
    ``connector_seconds`` that in which a connector has to answer OpenLineage's interfaces, all of a plan twice that.
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
    description_length: int | None = None
    job_names: str = "target"
    masking_functions: tuple[str, ...] = ()
    extensions: tuple[ExtensionSource, ...] = ()
    extensions_disabled: tuple[str, ...] = ()
    extension_seconds: float = SECONDS
    connector_seconds: float = 3.0


def capture_settings(
    values: Mapping[str, Any], environment: Mapping[str, str] | None = None, label: str = "{}"
) -> CaptureSettings:
    """The settings with ``values`` (None counts as none) over ``HEADWATER_…`` variables over the defaults.

    A message about one of them has its name in ``label``.

    Raises:
        SettingError: a value that cannot be used, or a name that is no setting.

    >>> capture_settings({"reads": None}, {"HEADWATER_READS": "1"}).reads
    True
    """
    names = sorted(field.name for field in fields(CaptureSettings))
    unknown = sorted(set(values) - set(names))
    if unknown:
        raise SettingError(f"{unknown[0]!r} is no setting of headwater; the settings are {', '.join(names)}.")
    texts = {name: text for name, text in _texts(environment).items() if values.get(name) is None}
    found = {name: setting_value(name, text, _variable(name)) for name, text in texts.items()}
    for name, value in values.items():
        if value is not None:
            found[name] = setting_value(name, value, label.format(name))
    return replace(CaptureSettings(), **found)


def environment_settings(environment: Mapping[str, str] | None = None) -> tuple[CaptureSettings, tuple[str, ...]]:
    """The settings of the ``HEADWATER_…`` variables, and what is wrong with those whose defaults are used instead.

    The job's author may not have set them: never raises.
    """
    found: dict[str, Any] = {}
    problems: list[str] = []
    for name, text in _texts(environment).items():
        try:
            found[name] = setting_value(name, text, _variable(name))
        except SettingError as error:
            problems.append(f"{error} Its default is used.")
    problems += _misspelt(os.environ if environment is None else environment)
    return replace(CaptureSettings(), **found), tuple(problems)


def require_back_ends(settings: CaptureSettings) -> None:
    """Make sure that the back ends of ``config`` can be used, where somebody waits for the answer.

    Raises:
        SettingError: one cannot.
    """
    if settings.config:
        for target in client_targets(read_config(Path(settings.config))):
            target.close()


def _variable(name: str) -> str:
    return f"{_PREFIX}{name.upper()}"


def _misspelt(environment: Mapping[str, str]) -> Iterator[str]:
    """Name variables that nearly are settings; others with this beginning are the server's, or somebody's own."""
    names = [field.name.upper() for field in fields(CaptureSettings)]
    for variable in sorted(environment):
        name = variable.removeprefix(_PREFIX)
        near = difflib.get_close_matches(name, names, n=1, cutoff=0.8) if variable.startswith(_PREFIX) else []
        if near and name not in names:
            yield f"{variable} is no setting that headwater knows; did you mean {_PREFIX}{near[0]}?"


def _texts(environment: Mapping[str, str] | None) -> dict[str, str]:
    """The variables that are set; an empty one is not."""
    environment = os.environ if environment is None else environment
    texts = ((field.name, environment.get(_variable(field.name), "")) for field in fields(CaptureSettings))
    return {name: text for name, text in texts if text}


def extensions_of(settings: CaptureSettings) -> Extensions:
    """The extensions of one run; they are looked for at first use."""
    find = partial(find_extensions, settings.extensions, settings.extensions_disabled)
    return Extensions(find, settings.extension_seconds)


def installed_extensions() -> Extensions:
    """Those that installed packages and the environment name, for a question apart from any run."""
    settings = capture_settings({})
    find = partial(remembered_extensions, settings.extensions, settings.extensions_disabled)
    return Extensions(find, settings.extension_seconds)
