"""Callers, and what they may do and see.

A caller writes only to the namespaces of their key, and to nothing that all share. An event of a key with limits is
stored with these, so that its statements about datasets of others stay references
(`headwater.openlineage.reading.grants`).
"""

from collections.abc import Iterable
from dataclasses import dataclass, field
from enum import IntEnum
from fnmatch import fnmatchcase
from typing import Any

from fastapi import Request
from starlette.exceptions import HTTPException

from headwater.openlineage.reading import Event
from headwater.openlineage.reading.grants import granted
from headwater.store.read_model.visibility import Sees


class Scope(IntEnum):
    """A scope of a caller; each includes those before it."""

    READ = 1
    WRITE = 2
    ADMIN = 3


@dataclass(frozen=True, slots=True)
class Caller:
    """The sender of a request; ``namespaces`` are patterns as of the shell (``s3://sales-*``).

    ``secret`` is the store's, with which the tokens of hidden names are keyed.
    """

    name: str
    scope: Scope
    namespaces: tuple[str, ...] = ("*",)
    secret: bytes = field(default=b"", repr=False)

    def sees(self, namespace: str) -> bool:
        """Whether the caller may see a namespace."""
        return any(fnmatchcase(namespace, pattern) for pattern in self.namespaces)

    @property
    def sight(self) -> Sees:
        """A function that says whether the caller may see a namespace; None where all are visible."""
        return None if self.sees_all else self.sees

    @property
    def sees_all(self) -> bool:
        """Whether nothing is hidden from the caller."""
        return "*" in self.namespaces


ANYBODY = Caller("anybody", Scope.ADMIN)
"""The caller of a server without authentication, which listens on loopback only."""


@dataclass(frozen=True, slots=True)
class Requires:
    """A dependency of routes: the caller, who has at least this scope; checked by `GuardedRoute`."""

    scope: Scope
    every_namespace: bool = False
    """Whether the caller must also see every namespace."""

    def check(self, caller: Caller) -> None:
        """Check a caller.

        Raises:
            HTTPException: 403, when the scope is too low, or some namespaces are hidden.
        """
        if caller.scope < self.scope:
            has, needs = caller.scope.name.lower(), self.scope.name.lower()
            # RFC 6750, section 3.1
            missing = {"WWW-Authenticate": f'Bearer error="insufficient_scope", scope="{needs}"'}
            raise HTTPException(403, f"{caller.name} may {has}; this needs a key with scope {needs}.", missing)
        if self.every_namespace and not caller.sees_all:
            raise HTTPException(
                403, f"{caller.name} may see only some namespaces; this needs a key for every namespace (*)."
            )

    async def __call__(self, request: Request) -> Caller:
        """Return the caller, who was checked before."""
        caller: Caller = request.state.identity  # a route that is not guarded has none: 500, not an answer
        return caller


def with_grant(value: Any, caller: Caller) -> Any:
    """Return an event's JSON with the limits of the caller's key, if it has any."""
    if caller.sees_all or not isinstance(value, dict):
        return value
    return granted(value, caller.namespaces)


def require_own(caller: Caller, event: Event) -> None:
    """Refuse an event whose job, run, outputs or dataset the caller may not write.

    Raises:
        HTTPException: 403; it names the job or dataset.
    """
    if caller.sees_all:
        return
    if event.job.namespace:
        require_namespace(caller, event.job.namespace, f"job {event.job.name[:200]!r}")
    for output in event.outputs:
        named = output.description.dataset
        require_namespace(caller, named.namespace, f"dataset {named.name[:200]!r}")


def require_namespace(caller: Caller, namespace: str, within: str = "") -> None:
    """Refuse a caller who may not write to a namespace.

    Raises:
        HTTPException: 403.
    """
    if not caller.sees(namespace):
        about = f" (the {within} is in it)" if within else ""
        raise HTTPException(
            403,
            f"{caller.name} may not write to the namespace {namespace[:200]!r}{about}: its key is for "
            f"{_joined(caller.namespaces)}. Send by a key for that namespace, or name it as an input only.",
        )


def require_every_namespace(caller: Caller, kind: str) -> None:
    """Refuse a caller who may not write what all namespaces share.

    Raises:
        HTTPException: 403.
    """
    if not caller.sees_all:
        raise HTTPException(
            403,
            f"{caller.name} may not describe a {kind}: all namespaces share it. This needs a key for all of them (*).",
        )


def _joined(patterns: Iterable[str]) -> str:
    return ", ".join(patterns)[:200] or "no namespace"
