"""An extension: a name, a version and its hooks, in one value."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields, replace
from types import MappingProxyType
from typing import Any

from openlineage.client.transport import Transport as ClientTransport

from headwater.errors import ExtensionError
from headwater.ext.hooks import (
    DatasetFacets,
    DatasetResolver,
    EventFilter,
    ExpressionVisitor,
    JobFacets,
    NamingRule,
    OperatorVisitor,
    RunFacets,
    Transport,
)
from headwater.ext.watchdog import packages

API = 1
"""The version of this interface. It grows when something changes in what an extension can answer."""

OLDEST_API = 1
"""The oldest version whose extensions are still taken."""


@dataclass(frozen=True, slots=True)
class Extension:
    """An addition to headwater. ``api`` is the version of `headwater.ext` that it was written for, a plain number.

    >>> Extension("shop", "1.0", api=1, masking_functions=("pseudonym",)).hooks
    ('masking_functions',)
    """

    name: str
    version: str
    api: int
    operators: tuple[OperatorVisitor, ...] = ()
    expressions: tuple[ExpressionVisitor, ...] = ()
    datasets: tuple[DatasetResolver, ...] = ()
    dataset_facets: tuple[DatasetFacets, ...] = ()
    run_facets: tuple[RunFacets, ...] = ()
    job_facets: tuple[JobFacets, ...] = ()
    masking_functions: tuple[str, ...] = ()
    naming_rules: tuple[NamingRule, ...] = ()
    event_filters: tuple[EventFilter, ...] = ()
    transports: Mapping[str, Transport] = field(default_factory=lambda: MappingProxyType({}))

    @property
    def hooks(self) -> tuple[str, ...]:
        """The names of the hooks that it has."""
        return tuple(name for name in HOOKS if getattr(self, name))


HOOKS = tuple(one.name for one in fields(Extension) if one.name not in ("name", "version", "api"))
"""The names of all hooks."""


def packages_of(extension: Extension) -> frozenset[str]:
    """The packages that its hooks are of, but for transports, which `transport_targets` watches."""
    hooks = (one for name in HOOKS if name != "transports" for one in getattr(extension, name))
    return packages(hooks)


def verified(extension: Any) -> Extension:
    """``extension``, when it is an extension that can be used.

    Raises:
        ExtensionError: it is not; the message says what was met and what was expected.
    """
    if type(extension) is not Extension:
        raise ExtensionError(
            f"a {type(extension).__name__} was met; expected a headwater.ext.Extension, or a function without "
            "arguments that gives one."
        )
    if type(extension.api) is not int or not OLDEST_API <= extension.api <= API:
        raise ExtensionError(_of_another_version(extension.api))
    for name in ("name", "version"):
        if not isinstance(getattr(extension, name), str) or not getattr(extension, name).strip():
            raise ExtensionError(f"{name} is {getattr(extension, name)!r}; expected a text that is not empty.")
    for hook, (problem, expected) in _EXPECTED.items():
        values = getattr(extension, hook)
        if not isinstance(values, Mapping if hook == "transports" else tuple):
            raise ExtensionError(f"{hook} is a {type(values).__name__}; expected {expected}.")
        wrong = [one for one in (values.items() if isinstance(values, Mapping) else values) if problem(one)]
        if wrong:
            raise ExtensionError(f"{hook} holds {wrong[0]!r:.80}; expected {expected}.")
    return replace(extension, transports=MappingProxyType(dict(extension.transports)))


def _of_another_version(api: Any) -> str:
    if type(api) is not int:
        return f"api is {api!r}; expected the number of the version of headwater.ext that it was written for, {API}."
    advice = "upgrade headwater" if api > API else "upgrade the extension"
    versions = f"{OLDEST_API} to {API}" if OLDEST_API < API else str(API)
    return f"it was written for version {api} of headwater.ext, and this headwater has version {versions}: {advice}."


def _not_for_classes(*methods: str) -> Callable[[Any], bool]:
    def problem(value: Any) -> bool:
        missing = not all(callable(getattr(value, method, None)) for method in methods)
        return missing or isinstance(value, type) or not _names(value)

    return problem


def _names(value: Any) -> bool:
    """Whether a visitor says what it is for, in tuples of names."""
    values = (getattr(value, "classes", ()), getattr(value, "functions", ()))
    texts = all(isinstance(names, tuple) and all(isinstance(name, str) and name for name in names) for names in values)
    return texts and any(values)


def _not_callable(value: Any) -> bool:
    return not callable(value)


def _no_text(value: Any) -> bool:
    return not isinstance(value, str) or not value


def _no_transport(value: Any) -> bool:
    name, transport = value
    return (
        _no_text(name)
        or isinstance(transport, type)
        or not (isinstance(transport, ClientTransport) or callable(transport))
    )


_FOR_CLASSES = "a tuple of objects (no classes) that have a tuple of names in `classes`, and the methods"
_FUNCTIONS = "a tuple of functions"

_EXPECTED: Mapping[str, tuple[Callable[[Any], bool], str]] = {
    "operators": (
        _not_for_classes("inputs", "outputs", "dependencies"),
        f"{_FOR_CLASSES} inputs(node), outputs(node) and dependencies(node)",
    ),
    "expressions": (_not_for_classes("children"), f"{_FOR_CLASSES} children(node), or names in `functions`"),
    "datasets": (_not_for_classes("datasets"), f"{_FOR_CLASSES} datasets(relation)"),
    "dataset_facets": (_not_callable, _FUNCTIONS),
    "run_facets": (_not_callable, _FUNCTIONS),
    "job_facets": (_not_callable, _FUNCTIONS),
    "masking_functions": (_no_text, "a tuple of names of functions"),
    "naming_rules": (_not_callable, _FUNCTIONS),
    "event_filters": (_not_callable, _FUNCTIONS),
    "transports": (_no_transport, "transports of the OpenLineage client, or functions, by their names"),
}
