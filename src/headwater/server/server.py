"""The running server: its open store, its intake, and the dependencies of routes."""

from dataclasses import dataclass, replace
from typing import Annotated

from fastapi import Depends, Request
from starlette.exceptions import HTTPException

from headwater.server.auth.access import Caller, Requires, Scope
from headwater.server.auth.authentication import Authentication
from headwater.server.intake.queue import Intake
from headwater.server.limits.rates import RateLimit
from headwater.server.operations.metrics import Metrics
from headwater.server.settings import ServerSettings
from headwater.store import Store


@dataclass(frozen=True, slots=True)
class Server:
    """A running server."""

    settings: ServerSettings
    store: Store
    intake: Intake
    authentication: Authentication
    rate_limit: RateLimit
    metrics: Metrics
    secret: bytes

    def seen_by(self, caller: Caller) -> Store:
        """Return the store as a caller may see it."""
        return self.store.seen_by(caller.sight)

    def caller(self, request: Request) -> Caller:
        """Return the caller of a request.

        Raises:
            HTTPException: 401, when authentication is on and the request has no valid key or token; 429, when the
                caller sent too many requests.
        """
        address = request.client.host if request.client is not None else "unknown"
        try:
            found = self.authentication.caller(request)
        except HTTPException:
            self.rate_limit.require(address)
            raise
        request.state.caller = found.name
        self.rate_limit.require(found.name if self.authentication.on else address)
        return replace(found, secret=self.secret)


def _server(request: Request) -> Server:
    server: Server = request.app.state.server
    return server


TheServer = Annotated[Server, Depends(_server)]
Reader = Annotated[Caller, Depends(Requires(Scope.READ))]


def _store(server: TheServer, caller: Reader) -> Store:
    return server.seen_by(caller)


TheStore = Annotated[Store, Depends(_store)]
"""The store as the caller may see it."""

Writer = Annotated[Caller, Depends(Requires(Scope.WRITE))]
UnrestrictedReader = Annotated[Caller, Depends(Requires(Scope.READ, every_namespace=True))]
"""A caller that may see every namespace."""

Admin = Annotated[Caller, Depends(Requires(Scope.ADMIN))]
