"""Who asks, and what they may do and see."""

from dataclasses import dataclass, field
from enum import IntEnum
from fnmatch import fnmatchcase

from fastapi import Request
from starlette.exceptions import HTTPException

from headwater.store.catalog.sight import Sees


class Scope(IntEnum):
    """What a caller may do; each includes those before it."""

    READ = 1
    WRITE = 2
    ADMIN = 3


@dataclass(frozen=True, slots=True)
class Caller:
    """Somebody with a key or token; ``namespaces`` are patterns as of the shell (``s3://sales-*``).

    ``secret`` is the store's: what is hidden gets names that are made with it.
    """

    name: str
    scope: Scope
    namespaces: tuple[str, ...] = ("*",)
    secret: bytes = field(default=b"", repr=False)

    def sees(self, namespace: str) -> bool:
        """Whether a namespace is among those that were granted."""
        return any(fnmatchcase(namespace, pattern) for pattern in self.namespaces)

    @property
    def sight(self) -> Sees:
        """Which namespaces the caller may see; None for all."""
        return None if self.sees_all else self.sees

    @property
    def sees_all(self) -> bool:
        """Whether nothing has to be hidden from the caller."""
        return "*" in self.namespaces


ANYBODY = Caller("anybody", Scope.ADMIN)
"""The caller of a server without authentication, which listens on loopback only."""


@dataclass(frozen=True, slots=True)
class Requires:
    """A dependency for routes: the caller, who has at least this scope; `GuardedRoute` admits them."""

    scope: Scope
    everything: bool = False
    """Whether the caller must also be one that nothing is hidden from."""

    def check(self, caller: Caller) -> None:
        """Lets a caller pass who may.

        Raises:
            HTTPException: 403, when the scope is a lesser one.
        """
        if caller.scope < self.scope:
            has, needs = caller.scope.name.lower(), self.scope.name.lower()
            # RFC 6750, section 3.1
            missing = {"WWW-Authenticate": f'Bearer error="insufficient_scope", scope="{needs}"'}
            raise HTTPException(403, f"{caller.name} may {has}; this needs a key with scope {needs}.", missing)
        if self.everything and not caller.sees_all:
            raise HTTPException(
                403, f"{caller.name} may see some namespaces only; this needs a key for every namespace (*)."
            )

    async def __call__(self, request: Request) -> Caller:
        """The caller that was admitted."""
        caller: Caller = request.state.identity  # of a route that is not guarded there is none: 500, and not served
        return caller
