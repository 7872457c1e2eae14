"""What the routes share: the open store, the intake, and who asks."""

from dataclasses import dataclass, replace
from typing import Annotated

from fastapi import Depends, Request
from starlette.exceptions import HTTPException

from headwater.server.access import Caller, Requires, Scope
from headwater.server.authentication import Authentication
from headwater.server.intake import Intake
from headwater.server.metrics import Metrics
from headwater.server.rates import Rates
from headwater.server.settings import ServerSettings
from headwater.store import Store


@dataclass(frozen=True, slots=True)
class Server:
    """A running server."""

    settings: ServerSettings
    store: Store
    intake: Intake
    authentication: Authentication
    rates: Rates
    metrics: Metrics
    secret: bytes

    def caller(self, request: Request) -> Caller:
        """Who sent a request.

        Raises:
            HTTPException: 401, when authentication is on and the request has no valid key or token; 429, when there
                are too many requests.
        """
        address = request.client.host if request.client is not None else "unknown"
        try:
            found = self.authentication.caller(request)
        except HTTPException:
            self.rates.require(address)
            raise
        request.state.caller = found.name
        self.rates.require(found.name if self.authentication.on else address)
        return replace(found, secret=self.secret)


def _server(request: Request) -> Server:
    server: Server = request.app.state.server
    return server


def _store(request: Request) -> Store:
    return _server(request).store


TheServer = Annotated[Server, Depends(_server)]
TheStore = Annotated[Store, Depends(_store)]
Reader = Annotated[Caller, Depends(Requires(Scope.READ))]
Writer = Annotated[Caller, Depends(Requires(Scope.WRITE))]
Admin = Annotated[Caller, Depends(Requires(Scope.ADMIN))]
