"""``headwater serve`` and ``headwater ui``: the lineage server."""

import threading
import webbrowser
from collections.abc import Callable
from datetime import timedelta
from inspect import Parameter, Signature
from typing import Annotated, Any, get_args, get_origin
from urllib.parse import urlencode

import typer

from headwater.cli.options import StoreOption
from headwater.cli.output import print_lines
from headwater.errors import SettingError
from headwater.server.settings import SETTINGS, ServerSettings, Setting, duration


def serve(**values: Any) -> None:
    """Take OpenLineage events in over HTTP, and answer questions: compatible with Marquez."""
    settings: dict[str, Any] = {name: tuple(one) if isinstance(one, list) else one for name, one in values.items()}
    run_server(ServerSettings(**settings), None)


def _parameter(setting: Setting) -> Parameter:
    """Return the option of ``serve`` for a setting."""
    type_, default, option = setting.type, setting.default, setting.option
    more: dict[str, Any] = {}
    if type_ is bool:
        option = f"{option}/{option.replace('--', '--no-', 1)}"
    elif get_origin(type_) is tuple:
        type_, default = list[str], list(default)
    elif timedelta in get_args(type_):
        more["parser"] = duration
    declared = typer.Option(
        option,
        help=setting.help.text,
        envvar=setting.variable,
        rich_help_panel=setting.help.panel,
        metavar=setting.help.metavar,
        min=setting.help.minimum,
        **more,
    )
    return Parameter(setting.name, Parameter.KEYWORD_ONLY, default=default, annotation=Annotated[type_, declared])


_PORT = next(one for one in SETTINGS if one.name == "port")
# Typer reads the options of a command from its signature.
_PARAMETERS = {one.name: _parameter(one) for one in SETTINGS}
serve.__signature__ = Signature(list(_PARAMETERS.values()))  # type: ignore[attr-defined]
serve.__annotations__ = {name: one.annotation for name, one in _PARAMETERS.items()}


def ui(
    column: Annotated[
        str, typer.Argument(help="Open the page at this column or dataset: any ending of its name.", show_default=False)
    ] = "",
    store: StoreOption = None,
    port: Annotated[int, typer.Option(min=0, envvar=_PORT.variable, help=_PORT.help.text)] = _PORT.default,
    browser: Annotated[bool, typer.Option("--browser/--no-browser", help="Open the page in a browser.")] = True,
) -> None:
    """Look at lineage in a browser: a server for this machine, and its page, whose address is printed too."""
    query = f"/?{urlencode({'column': column})}" if column else ""

    def show(url: str) -> None:
        print_lines([f"The page: {url}{query}"])
        if browser:
            # A browser in a terminal does not return before it is closed.
            threading.Thread(target=webbrowser.open, args=(url + query,), daemon=True).start()

    run_server(ServerSettings(store, port=port), show)


def run_server(settings: ServerSettings, listening: Callable[[str], None] | None) -> None:
    """Run a server until it is interrupted; ``listening`` is called with its address once it listens.

    Raises:
        SettingError: a package that the server needs is not installed, or a setting cannot be used.
    """
    try:
        from headwater.server.process import run
    except ImportError as fault:
        raise SettingError(
            f"The server needs a package that is not installed ({fault.name}). "
            "Install it with: pip install 'headwater[server]'"
        ) from fault

    def announce(url: str, store: str) -> None:
        print_lines([f"Listening on {url} (store: {store})"])
        if listening is not None:
            listening(url)

    run(settings, announce)
