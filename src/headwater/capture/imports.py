"""Call a hook with a module when, and only when, the program imports it.

Every start of an interpreter waits for this module: it imports next to nothing (``importlib.abc`` alone would cost
more than all the rest), and its classes are finder and loader by what they do.
"""

import sys
from collections.abc import Callable, Mapping, Sequence
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any, cast

Hook = Callable[[ModuleType], None]
_hooks: dict[str, Hook] = {}


def when_imported(name: str, hook: Hook) -> Callable[[], None]:
    """Call ``hook`` with a module now, or once the program has imported it; what is returned ends the waiting."""
    if name in sys.modules:
        hook(sys.modules[name])
        return lambda: None
    wait_for({name: hook})

    def forget() -> None:
        _hooks.pop(name, None)
        if not _hooks:
            sys.meta_path[:] = [finder for finder in sys.meta_path if not isinstance(finder, _Finder)]

    return forget


def wait_for(hooks: Mapping[str, Hook]) -> None:
    """Call each hook with the module of its name, once the program has imported it."""
    _hooks.update(hooks)
    if not any(isinstance(finder, _Finder) for finder in sys.meta_path):
        sys.meta_path.insert(0, cast(Any, _Finder()))


class _Finder:
    """Finds the modules that are waited for like everybody else, and has a word with their loaders."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        hook = _hooks.get(fullname)
        if hook is None:
            return None
        others = [finder for finder in sys.meta_path if finder is not self]
        found = (finder.find_spec(fullname, path, target) for finder in others if hasattr(finder, "find_spec"))
        spec = next((spec for spec in found if spec is not None), None)
        if spec is not None and spec.loader is not None:
            # A loader may serve many modules (a zip of pyspark): wrap it, never change it.
            spec.loader = cast(Any, _Loader(spec.loader, hook))
        return spec


class _Loader:
    """Loads as the loader it wraps does, and hooks the module when it is there."""

    def __init__(self, inner: Any, hook: Hook) -> None:
        self._inner = inner
        self._hook = hook

    def create_module(self, spec: ModuleSpec) -> ModuleType | None:
        create = getattr(self._inner, "create_module", None)
        made: ModuleType | None = create(spec) if create else None
        return made

    def exec_module(self, module: ModuleType) -> None:
        self._inner.exec_module(module)
        self._hook(module)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._inner, name)
