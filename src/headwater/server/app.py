"""The server as an ASGI application."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from importlib.metadata import version

from fastapi import FastAPI
from starlette.middleware.cors import CORSMiddleware
from starlette.middleware.gzip import GZipMiddleware

from headwater.server import columns, events, health, marquez, openapi, page, problems
from headwater.server.auth.authentication import Authentication
from headwater.server.auth.proxies import HostCheck, TrustedProxies, host_patterns, proxy_networks
from headwater.server.intake.queue import Intake, WriteLock
from headwater.server.limits.deadline import Deadline
from headwater.server.limits.memory_budget import MemoryBudget
from headwater.server.limits.rates import RateLimit
from headwater.server.limits.request_bodies import RequestSizeLimit
from headwater.server.operations.metrics import Metrics, RequestMetrics, shared_folder
from headwater.server.operations.retention import Retention
from headwater.server.routes import HeadRequests
from headwater.server.server import Server
from headwater.server.settings import ServerSettings
from headwater.store import open_store
from headwater.store.maintenance.keyring import secret_of

ROUTERS = (page.router, events.router, health.router, *marquez.ROUTERS, *columns.ROUTERS)

GRACE = 5.0  # seconds for sending an answer that its own limit has cut
COMPRESSION = 4  # of 9: a large answer is 10 % longer than with 9, in an eighth of the time


def create_app(settings: ServerSettings) -> FastAPI:
    """Return the application, which opens the store when it starts and closes it when all events are written.

    Raises:
        SettingError: a rate, host or proxy is not allowed; at the start, edges cannot be kept in memory.
        StoreError: at the start, the store cannot be opened.
    """

    @asynccontextmanager
    async def running(app: FastAPI) -> AsyncIterator[None]:
        with open_store(settings.store, durable=True) as store:
            store.end_reads_after(settings.time_limit + GRACE)
            if settings.index:
                store.keep_edges()
            write_lock = WriteLock(shared_folder())
            intake = Intake(store, settings.waiting_limit, metrics, write_lock)
            retention = Retention(store, settings.keep) if settings.keep else None
            authentication = Authentication(settings, store)
            app.state.server = Server(settings, store, intake, authentication, rate_limit, metrics, secret_of(store))
            try:
                yield
            finally:
                if retention is not None:
                    retention.close()
                intake.close()
                write_lock.close()
                metrics.close()

    metrics, rate_limit = Metrics(), RateLimit(settings.rate)
    # FastAPI's pages about the API load scripts of other hosts: there is none, /openapi.json describes it.
    app = FastAPI(title="headwater", version=version("headwater"), lifespan=running, docs_url=None, redoc_url=None)
    for router in ROUTERS:
        app.include_router(router)
    openapi.complete(app)
    problems.install_handlers(app)
    _add_middleware(app, settings, metrics)
    return app


def _add_middleware(app: FastAPI, settings: ServerSettings, metrics: Metrics) -> None:
    """Add what every request passes, from the innermost to the outermost."""
    app.add_middleware(Deadline, seconds=settings.time_limit + GRACE)
    app.add_middleware(GZipMiddleware, minimum_size=1000, compresslevel=COMPRESSION)
    if settings.cors_origin:
        app.add_middleware(CORSMiddleware, allow_origins=settings.cors_origin, allow_methods=["*"], allow_headers=["*"])
    if settings.hosts:
        app.add_middleware(HostCheck, hosts=host_patterns(settings.hosts))
    app.add_middleware(HeadRequests)
    app.add_middleware(RequestMetrics, metrics=metrics)
    budget = MemoryBudget(settings.memory_limit)
    app.add_middleware(RequestSizeLimit, limit=settings.body_limit, budget=budget)
    if settings.trusted_proxy:
        app.add_middleware(TrustedProxies, networks=proxy_networks(settings.trusted_proxy))
