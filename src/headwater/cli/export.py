"""``headwater export``: a view as a file."""

import json
import os
import urllib.error
import urllib.request
from pathlib import Path
from typing import Annotated, Any
from urllib.parse import urlencode

import typer

from headwater.answers.saved_page import saved_page
from headwater.answers.views import of_view
from headwater.cli.options import NameArgument, NestedOption, StoreOption, TypeOption, reading
from headwater.cli.output import note, print_lines
from headwater.errors import SettingError
from headwater.model.time import iso, now
from headwater.store.questions import Bounds, moment_of, view_of

app = typer.Typer(no_args_is_help=True, help="Save lineage as files.")

_PATIENCE = 60  # seconds
_Depth = Annotated[int | None, typer.Option(min=0, metavar="N", help="The largest number of steps on that side.")]


@app.callback()
def _export() -> None:
    """Keep ``html`` a command of its own: an application of one command has no name for it."""


@app.command()
def html(  # noqa: PLR0913, PLR0917 - one parameter for each option of the command
    name: NameArgument,
    output: Annotated[Path, typer.Option("--output", "-o", metavar="FILE", help="The file to write.")],
    up: _Depth = None,
    down: _Depth = None,
    type_: TypeOption = None,
    nested: NestedOption = False,
    as_of: Annotated[str | None, typer.Option(metavar="TIME", help="Of another moment: a time or a run's id.")] = None,
    store: StoreOption = None,
    server: Annotated[
        str | None,
        typer.Option(
            metavar="URL", help="Ask this server instead of a store. HEADWATER_API_KEY has the key, where it needs one."
        ),
    ] = None,
) -> None:
    """Save the view of a column or dataset as one HTML file that works offline, for a pull request or a wiki."""
    if store and server:
        raise typer.BadParameter("Either --store or --server: the view comes from one of them.")
    if server:
        edge_type = type_ and type_.value.upper()
        params = {"column": name, "up": up, "down": down, "type": edge_type, "as_of": as_of}
        view = _of_server(server, params | ({"nested": "true"} if nested else {}))
    else:
        with reading(store) as opened:
            bounds = Bounds(edge_type=type_, as_of=None if as_of is None else moment_of(opened, as_of), nested=nested)
            view = of_view(view_of(opened, name, bounds, up=up, down=down), bounds.as_of, up=up, down=down)
    page = saved_page(view, iso(now()))
    output.write_text(page, encoding="utf-8")
    print_lines([f"{output}: {len(page):,} bytes."])
    if view["truncated"]:
        note("Not all of it was saved: bound it by --up, --down or --type.")


def _of_server(url: str, params: dict[str, str | int | None]) -> Any:
    """Return the document of a view that a server answers with.

    Raises:
        SettingError: the server does not answer, or refuses.
    """
    if not url.startswith(("http://", "https://")):
        raise SettingError(f"The server is {url!r}: expected http://HOST:PORT or https://HOST.")
    query = urlencode({key: value for key, value in params.items() if value is not None})
    request = urllib.request.Request(f"{url.rstrip('/')}/api/v2/view?{query}")
    if key := os.environ.get("HEADWATER_API_KEY"):
        # A redirection to another host must not get the key.
        request.add_unredirected_header("Authorization", f"Bearer {key}")
    try:
        with urllib.request.urlopen(request, timeout=_PATIENCE) as answer:
            document = json.load(answer)
            if "truncated" not in document:
                raise ValueError("its answer is no view")
            return document
    except urllib.error.HTTPError as fault:
        with fault:
            raise SettingError(f"{url} refuses: {_message(fault)}") from fault
    except (OSError, ValueError) as fault:
        raise SettingError(f"{url} does not answer as a headwater server does: {fault}.") from fault


def _message(fault: urllib.error.HTTPError) -> str:
    try:
        return str(json.load(fault)["message"])
    except (ValueError, KeyError, TypeError):
        return f"{fault.code} {fault.reason}."
