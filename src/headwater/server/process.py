"""The processes of a server: they listen, answer, and end without losing an acknowledged event."""

import multiprocessing
import os
import shutil
import signal
import socket
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import uvicorn
from fastapi import FastAPI

from headwater.errors import SettingError
from headwater.server.app import create_app
from headwater.server.auth.proxies import host_patterns, proxy_networks
from headwater.server.limits.connections import BoundedProtocol, allow_files
from headwater.server.limits.memory_budget import share_one_heap
from headwater.server.operations import logs
from headwater.server.operations.metrics import SHARED_FOLDER
from headwater.server.settings import LOOPBACK, ServerSettings, environment_of, settings_from
from headwater.store import open_store, store_url
from headwater.store.graph.index import require_arrays
from headwater.store.ingest.pipeline import collect_seldom
from headwater.store.sql.databases import shown

LAST_ANSWERS = 30
"""Seconds for running requests to end when the server stops."""

Announce = Callable[[str, str], None]
"""A function that is called with the address and the store of a server that listens."""

_Address = Callable[[str], None]


def run(settings: ServerSettings, announce: Announce) -> None:
    """Serve until SIGTERM or SIGINT; then answer what runs, write what waits, and return or exit with code 0.

    Args:
        settings: of the application and of the process.
        announce: called when requests can be sent.

    Raises:
        SettingError: an address beyond this machine without authentication, or a value that is not allowed.
        StoreError: the store cannot be opened.
    """
    share_one_heap()  # before there are threads
    settings = checked(settings)
    open_store(settings.store).close()  # made or upgraded once, before several processes would
    signal.signal(signal.SIGTERM, _leave)
    logs.configure(settings.log_format)
    store = shown(store_url(settings.store))

    def listens(address: str) -> None:
        announce(address, store)

    with _bound(settings) as place:
        if settings.workers == 1:
            _one(_ready(create_app(settings)), settings, place, listens)
        else:
            _several(settings, place, listens)


def from_environment() -> FastAPI:
    """Return the application of the variables HEADWATER_…: for uvicorn's workers and other ASGI servers.

    Raises:
        SettingError: the value of a variable is not allowed.
    """
    share_one_heap()
    settings = settings_from(os.environ)
    logs.configure(settings.log_format)
    _end_with_the_supervisor()
    return _ready(create_app(settings))


def _end_with_the_supervisor() -> None:
    """End this worker, as SIGTERM does, when its supervisor is gone: else the worker would hold the port.

    uvicorn's workers have both ends of the pipe to their supervisor, so they do not notice that it was killed.
    """
    supervisor = multiprocessing.parent_process()
    if supervisor is None:
        return

    def wait_for_its_end() -> None:
        supervisor.join()
        os.kill(os.getpid(), signal.SIGTERM)

    threading.Thread(target=wait_for_its_end, name="headwater-supervisor", daemon=True).start()


def _ready(app: FastAPI) -> FastAPI:
    """Return the application, and collect garbage seldom in this process."""
    collect_seldom()
    return app


class _AnnouncedServer(uvicorn.Server):
    """A server that announces its address once it listens, also where the port was chosen by the system."""

    def __init__(self, config: uvicorn.Config, announce: _Address) -> None:
        super().__init__(config)
        self._announce = announce

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        if self.started:
            self._announce(_address(self.config, self.servers[0].sockets[0].getsockname()[1]))


def _one(app: FastAPI, settings: ServerSettings, place: socket.socket, announce: _Address) -> None:
    server = _AnnouncedServer(configuration(app, settings), announce)
    try:
        server.run([place])
    except KeyboardInterrupt:
        return
    if not server.started:
        sys.exit(1)


def _several(settings: ServerSettings, place: socket.socket, announce: _Address) -> None:
    os.environ |= environment_of(settings)
    with _shared_metrics():
        config = configuration("headwater.server.process:from_environment", settings, factory=True)
        threading.Thread(target=_announce_later, args=(config, place.getsockname(), announce), daemon=True).start()
        uvicorn.supervisors.Multiprocess(config, sockets=[place]).run()


def _bound(settings: ServerSettings) -> socket.socket:
    family = socket.AF_INET6 if ":" in settings.host else socket.AF_INET
    # With the protocol named: asyncio sets TCP_NODELAY only then, and without it each answer waits 40 ms for an ACK.
    made = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        made.bind((settings.host, settings.port))
    except OSError as fault:
        made.close()
        raise SettingError(
            f"The server cannot listen on {settings.host}, port {settings.port} ({fault.strerror}). "
            "Name another --port or --host."
        ) from fault
    made.set_inheritable(True)
    return made


def _announce_later(config: uvicorn.Config, place: Any, announce: _Address) -> None:
    """Announce the address when a connection succeeds, which is when the first worker listens."""
    with suppress(OSError):
        while True:
            time.sleep(0.1)
            try:
                socket.create_connection(place[:2], timeout=5).close()
            except ConnectionRefusedError:
                continue
            announce(_address(config, place[1]))
            return


def configuration(app: FastAPI | str, settings: ServerSettings, **more: Any) -> uvicorn.Config:
    """Return the configuration of uvicorn."""
    return uvicorn.Config(
        app,
        host=settings.host,
        port=settings.port,
        workers=settings.workers,
        ssl_certfile=settings.tls_cert,
        ssl_keyfile=settings.tls_key,
        log_config=None,
        access_log=False,
        http=BoundedProtocol,
        loop="headwater.server.limits.connections:EventLoop",
        ws="none",
        limit_concurrency=allow_files(settings.connection_limit),
        server_header=False,
        proxy_headers=False,  # `TrustedProxies` does that, for those that are trusted
        timeout_graceful_shutdown=LAST_ANSWERS,
        timeout_worker_healthcheck=LAST_ANSWERS,
        **more,
    )


def checked(settings: ServerSettings) -> ServerSettings:
    """Return the settings with the host names that the address implies, after checking them."""
    for file in (settings.tls_cert, settings.tls_key):
        if file is not None and not file.is_file():
            raise SettingError(f"There is no file {file}: expected a PEM file. Correct --tls-cert or --tls-key.")
    if settings.index:
        require_arrays()
    host_patterns(settings.hosts)
    proxy_networks(settings.trusted_proxy)
    # The loopback names are always allowed, for those who administer it on this machine.
    named = (*settings.hosts, *LOOPBACK) if settings.hosts else ()
    if settings.authenticates:
        return replace(settings, store=store_url(settings.store), hosts=named)
    if not settings.loopback:
        raise SettingError(
            f"Without authentication anybody who reaches {settings.host} could read and delete lineage, so the server "
            "listens on this machine only. Add --auth (and make keys with `headwater keys create`), "
            "--oidc-issuer and --oidc-audience, or --trusted-proxy."
        )
    return replace(settings, store=store_url(settings.store), hosts=named or LOOPBACK)


@contextmanager
def _shared_metrics() -> Iterator[None]:
    folder = Path(tempfile.mkdtemp(prefix="headwater-metrics-"))
    os.environ[SHARED_FOLDER] = str(folder)
    try:
        yield
    finally:
        del os.environ[SHARED_FOLDER]
        shutil.rmtree(folder, ignore_errors=True)


def _address(config: uvicorn.Config, port: int) -> str:
    host = f"[{config.host}]" if ":" in config.host else config.host
    return f"{'https' if config.is_ssl else 'http'}://{host}:{port}"


def _leave(*_: object) -> None:
    # uvicorn raises the signal that stopped it again; a clean stop is no failure.
    sys.exit(0)
