"""Which extensions there are, from where, and what became of each when it was loaded."""

from collections.abc import Callable, Iterable, Iterator, Sequence, Set
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from importlib.metadata import EntryPoint, entry_points
from pkgutil import resolve_name
from typing import Any, NamedTuple

from headwater.errors import ExtensionError
from headwater.ext.extension import Extension, verified
from headwater.ext.watchdog import package_of, packages, within
from headwater.redaction import redact

GROUP = "headwater.extensions"
"""The group of the entry points that are extensions."""

LOADING_SECONDS = 5.0
"""How long one extension may take to be imported and made."""


@dataclass(frozen=True, slots=True)
class FoundExtension:
    """An extension that was met. ``extension`` is None of one that is not loaded, and ``why`` says the reason.

    ``source`` is where it was named: ``entry point``, ``attach`` or ``setting``. ``distribution`` and
    ``distribution_version`` are those of the installed package behind an entry point, ``target`` is what the entry
    point or the setting names. ``broken`` distinguishes one that failed from one that nobody wants.
    """

    name: str
    source: str
    target: str = ""
    distribution: str = ""
    distribution_version: str = ""
    extension: Extension | None = None
    why: str = ""
    broken: bool = False


ExtensionSource = Extension | Callable[[], Extension] | str
"""How an extension is given to ``attach``: itself, a function that gives it, or a text ``module:name`` of either."""


def find_extensions(
    sources: Sequence[ExtensionSource] = (),
    disabled: Sequence[str] = (),
    seconds: float = LOADING_SECONDS,
    *,
    installed: bool = True,
) -> tuple[FoundExtension, ...]:
    """Those that are ``given``, then those of installed packages by their entry points; of each name the first counts.

    ``disabled`` are names of extensions or entry points that are not wanted, ``*`` is every one. Never raises: what
    goes wrong is in `Found.why`.
    """
    by_name: dict[str, FoundExtension] = {}
    passed_over: list[FoundExtension] = []
    for place, load, own in _candidates(sources, _entry_points() if installed else ()):
        found = _unwanted(place, disabled) or _loaded(place, load, seconds, own)
        found = _unwanted(found, disabled) or _twice(found, by_name) or found
        if found.extension is None:
            passed_over.append(found)
        else:
            by_name[found.name] = found
    return (*by_name.values(), *passed_over)


def remembered_extensions(
    sources: Sequence[ExtensionSource] = (), disabled: Sequence[str] = ()
) -> tuple[FoundExtension, ...]:
    """The same, looked for once in a process as long as the same packages are installed: a broken one too."""
    return _remembered(tuple(sources), tuple(disabled), tuple(_entry_points()))


@lru_cache(maxsize=8)
def _remembered(
    sources: Sequence[ExtensionSource], disabled: Sequence[str], points: Sequence[EntryPoint]
) -> tuple[FoundExtension, ...]:
    return find_extensions(sources, disabled)


class _Candidate(NamedTuple):
    """Where an extension was named, what loads it, and the packages whose code that is."""

    place: FoundExtension
    load: Callable[[], Any]
    own: Set[str]


def _candidates(sources: Sequence[ExtensionSource], points: Iterable[EntryPoint]) -> Iterator[_Candidate]:
    for one in sources:
        if isinstance(one, str):
            yield _Candidate(FoundExtension(one, "setting", one), partial(resolve_name, one), {package_of(one)})
        else:
            yield _Candidate(FoundExtension(_name_of(one), "attach"), partial(_itself, one), packages([one]))
    for point in points:
        owner = point.dist
        version = (owner.name, owner.version) if owner is not None else ("", "")
        place = FoundExtension(point.name, "entry point", point.value, *version)
        yield _Candidate(place, point.load, {package_of(point.value)})


def _entry_points() -> Iterable[EntryPoint]:
    return sorted(entry_points(group=GROUP), key=lambda point: (point.name, point.value))


def _name_of(value: object) -> str:
    """How a given one is called until it is loaded."""
    name = value.name if type(value) is Extension else getattr(value, "__qualname__", None)
    return name if isinstance(name, str) and name else type(value).__name__


def _itself(value: Any) -> Any:
    return value


def _loaded(place: FoundExtension, load: Callable[[], Any], seconds: float, packages: Set[str]) -> FoundExtension:
    try:
        extension = within(seconds, partial(_made, load), packages)
    except ExtensionError as error:
        return replace(place, why=redact(str(error)), broken=True)
    return replace(place, name=extension.name, extension=extension)


def _made(load: Callable[[], Any]) -> Extension:
    found = load()
    return verified(found() if callable(found) and not isinstance(found, type) else found)


def _unwanted(extension: FoundExtension, disabled: Sequence[str]) -> FoundExtension | None:
    if extension.broken or not ({"*", extension.name} & set(disabled)):
        return None
    return replace(extension, extension=None, why="it is switched off by the setting extensions_disabled")


def _twice(extension: FoundExtension, by_name: dict[str, FoundExtension]) -> FoundExtension | None:
    if extension.extension is None or extension.name not in by_name:
        return None
    other = by_name[extension.name]
    return replace(extension, extension=None, why=f"another one of that name was found before ({other.source})")
