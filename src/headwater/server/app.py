"""The server as an ASGI application."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from importlib.metadata import version

from fastapi import FastAPI
from starlette.middleware.cors import CORSMiddleware
from starlette.middleware.gzip import GZipMiddleware

from headwater.server import columns, events, health, marquez, openapi, problems
from headwater.server.authentication import Authentication
from headwater.server.catching import CatchingUp
from headwater.server.deadline import Deadline
from headwater.server.intake import Intake
from headwater.server.memory_budget import MemoryBudget
from headwater.server.metrics import Metrics, shared_folder
from headwater.server.observing import Observed
from headwater.server.proxies import FromProxies, KnownHosts, host_patterns, networks_of
from headwater.server.rates import Rates
from headwater.server.request_bodies import RequestSizeLimit
from headwater.server.retention import Retention
from headwater.server.routes import HeadRequests
from headwater.server.server import Server
from headwater.server.settings import ServerSettings
from headwater.server.turns import Turns
from headwater.store import open_store
from headwater.store.maintenance.secret import secret_of

ROUTERS = (events.router, health.router, *marquez.ROUTERS, *columns.ROUTERS)

GRACE = 5.0  # seconds in which an answer that was cut by its own limit can still be sent
COMPRESSION = 4  # of 9: a large answer is 10 % longer than with 9, in an eighth of the time


def create_app(settings: ServerSettings) -> FastAPI:
    """The application; the store is opened when it starts, and closed when all that came in is written.

    Raises:
        SettingError: a rate, host or proxy that is none; at the start, when the store cannot keep its edges in memory.
        StoreError: at the start, when the store cannot be opened.
    """

    @asynccontextmanager
    async def running(app: FastAPI) -> AsyncIterator[None]:
        with open_store(settings.store, durable=True) as store:
            store.end_reads_after(settings.time_limit + GRACE)
            if settings.index:
                store.keep_edges()
            turns = Turns(shared_folder())
            intake = Intake(store, settings.waiting_limit, metrics, turns)
            catching = CatchingUp(store)
            retention = Retention(store, settings.keep) if settings.keep else None
            authentication = Authentication(settings, store)
            app.state.server = Server(settings, store, intake, authentication, rates, metrics, secret_of(store))
            try:
                yield
            finally:
                if retention is not None:
                    retention.close()
                catching.close()
                intake.close()
                turns.close()
                metrics.close()

    metrics, rates = Metrics(), Rates(settings.rate)
    app = FastAPI(title="headwater", version=version("headwater"), lifespan=running)
    for router in ROUTERS:
        app.include_router(router)
    openapi.complete(app)
    problems.install(app)
    _add_middleware(app, settings, metrics)
    return app


def _add_middleware(app: FastAPI, settings: ServerSettings, metrics: Metrics) -> None:
    """What every request passes, from the innermost to the outermost."""
    app.add_middleware(Deadline, seconds=settings.time_limit + GRACE)
    app.add_middleware(GZipMiddleware, minimum_size=1000, compresslevel=COMPRESSION)
    if settings.cors_origin:
        app.add_middleware(CORSMiddleware, allow_origins=settings.cors_origin, allow_methods=["*"], allow_headers=["*"])
    if settings.hosts:
        app.add_middleware(KnownHosts, hosts=host_patterns(settings.hosts))
    app.add_middleware(HeadRequests)
    app.add_middleware(Observed, metrics=metrics)
    budget = MemoryBudget(settings.memory_limit)
    app.add_middleware(RequestSizeLimit, limit=settings.body_limit, budget=budget)
    if settings.trusted_proxy:
        app.add_middleware(FromProxies, networks=networks_of(settings.trusted_proxy))
