"""``headwater keys``: the API keys of a server."""

from typing import Annotated, Literal

import typer

from headwater.cli import options
from headwater.cli.options import StoreOption, reading
from headwater.cli.output import note, print_lines, table
from headwater.model.time import now
from headwater.store import open_store
from headwater.store.maintenance import keyring

app = typer.Typer(no_args_is_help=True, help="Create, list and revoke the API keys of a server.")


Scope = Literal["read", "write", "admin"]


@app.command()
def create(
    name: Annotated[str, typer.Argument(help="The user of the key, for lists and logs.")],
    scope: Annotated[Scope, typer.Option(help="The scope; each includes those before it.")] = "read",
    namespace: Annotated[
        list[str] | None, typer.Option(metavar="PATTERN", help="Only these namespaces (s3://sales-*); repeat for more.")
    ] = None,
    expires: Annotated[str | None, typer.Option(metavar="TIME", help="The time until it expires: 90d, 12h.")] = None,
    store: StoreOption = None,
) -> None:
    """Create a key and print it: it cannot be shown again."""
    valid = options.seconds(expires) if expires is not None else None
    with open_store(store) as opened:
        key, token = keyring.issue(opened, name, scope, namespace or ("*",), valid)
    print_lines([token])
    note(f"Key {key.id} of {key.name}. Save it now: only a digest is stored. Send it as Authorization: Bearer KEY.")


@app.command("list")
def list_(store: StoreOption = None) -> None:
    """List the keys, without their secrets."""
    with reading(store) as opened:
        found = keyring.issued(opened)
    rows = [
        (key.id, key.name, key.scope, " ".join(key.namespaces), options.shown(key.expires_at), _state(key))
        for key in found
    ]
    print_lines(table(("ID", "NAME", "SCOPE", "NAMESPACES", "EXPIRES", "STATE"), rows) if rows else [])


@app.command()
def revoke(
    id_: Annotated[str, typer.Argument(metavar="ID", help="As `headwater keys list` shows it.")],
    store: StoreOption = None,
) -> None:
    """Revoke a key: servers refuse it after a few seconds."""
    with open_store(store, create=False) as opened:
        key = keyring.revoke(opened, id_)
    print_lines([f"Key {key.id} of {key.name} is revoked."])


def _state(key: keyring.Key) -> str:
    if key.revoked_at is not None:
        return f"revoked {options.shown(key.revoked_at)}"
    return "valid" if key.valid(now()) else "expired"
