"""``headwater serve`` and ``headwater ui``: the lineage server."""

import threading
import webbrowser
from collections.abc import Callable
from types import SimpleNamespace
from typing import Annotated, Any

import typer

from headwater.cli import serving as options
from headwater.cli.options import StoreOption
from headwater.cli.output import print_lines
from headwater.errors import SettingError


def serve(  # noqa: PLR0913, PLR0917 - one parameter for each option of the command
    host: options.Host = "127.0.0.1",
    port: options.Port = 5000,
    workers: options.Workers = 1,
    store: StoreOption = None,
    auth: options.Auth = False,
    oidc_issuer: options.OidcIssuer = None,
    oidc_audience: options.OidcAudience = None,
    oidc_scope_claim: options.OidcScopeClaim = None,
    oidc_namespaces_claim: options.OidcNamespacesClaim = None,
    tls_cert: options.TlsCert = None,
    tls_key: options.TlsKey = None,
    cors_origin: options.CorsOrigin = None,
    hosts: options.Hosts = None,
    trusted_proxy: options.TrustedProxy = None,
    proxy_user_header: options.ProxyUserHeader = None,
    proxy_scope: options.ProxyScope = None,
    proxy_namespaces_header: options.ProxyNamespacesHeader = None,
    rate: options.Rate = None,
    body_limit: options.BodyLimit = None,
    memory_limit: options.MemoryLimit = None,
    events_limit: options.EventsLimit = None,
    depth_limit: options.DepthLimit = None,
    node_limit: options.NodeLimit = None,
    time_limit: options.TimeLimit = None,
    waiting_limit: options.WaitingLimit = None,
    connection_limit: options.ConnectionLimit = 1_000,
    index: options.Index = False,
    keep: options.Keep = None,
    log_format: options.LogFormat = options.Format.TEXT,
) -> None:
    """Take OpenLineage events in over HTTP, and answer questions: compatible with Marquez."""
    given = dict(locals())
    server = _server()
    # The names of the options are those of the variables: one way to make settings of them.
    variables = {f"HEADWATER_{name.upper()}": _text(value) for name, value in given.items() if value is not None}
    settings = server.settings_from(variables)
    listening = server.Listening(host, port, workers, tls_cert, tls_key, log_format.value, connection_limit)
    server.run(settings, listening, _shows(None))


def ui(
    store: StoreOption = None,
    port: options.Port = 5000,
    browser: Annotated[bool, typer.Option("--browser/--no-browser", help="Open the page in a browser.")] = True,
) -> None:
    """Look at lineage in a browser: a server for this machine, and its page."""
    server = _server()
    server.run(server.ServerSettings(store), server.Listening(port=port), _shows(webbrowser.open if browser else None))


def _shows(open_page: Callable[[str], object] | None) -> Callable[[str, str], None]:
    def show(url: str, store: str) -> None:
        print_lines([f"Listening on {url} (store: {store})"])
        if open_page is not None:
            # A browser in a terminal does not return before it is left.
            threading.Thread(target=open_page, args=(url,), daemon=True).start()

    return show


def _text(value: Any) -> str:
    if isinstance(value, bool):
        return "1" if value else "0"
    return " ".join(value) if isinstance(value, list) else str(value)


def _server() -> SimpleNamespace:
    try:
        from headwater.server.environment import settings_from
        from headwater.server.process import run
        from headwater.server.settings import Listening, ServerSettings
    except ImportError as fault:
        raise SettingError(
            f"The server needs a package that is not installed ({fault.name}). "
            "Install it with: pip install 'headwater[server]'"
        ) from fault
    return SimpleNamespace(run=run, settings_from=settings_from, Listening=Listening, ServerSettings=ServerSettings)
