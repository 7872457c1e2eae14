"""``headwater extensions``: the extensions that are installed."""

import sys
from collections.abc import Sequence
from contextlib import redirect_stdout
from typing import Annotated, Any

import typer

from headwater.capture.settings import capture_settings
from headwater.cli.output import json_lines, note, print_lines, table
from headwater.ext.discovery import GROUP, FoundExtension, find_extensions
from headwater.ext.extension import API


def extensions(
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """List the extensions that jobs here would use: name, version, origin and hooks; and which failed, and why.

    They are imported, as a job would import them. `docs/extensions.md` says how to write one.
    """
    with redirect_stdout(sys.stderr):  # text that they print when imported is no part of the list
        settings = capture_settings({})
        found = find_extensions(settings.extensions, settings.extensions_disabled)
    if as_json:
        print_lines(json_lines({"api": API, "extensions": [_record(one) for one in found]}))
        return
    if not found:
        note(f"No extension is installed: no package here has an entry point in the group {GROUP}.")
        return
    print_lines(table(("NAME", "VERSION", "FROM", "HOOKS"), [_row(one) for one in found if one.extension is not None]))
    for one in found:
        if one.extension is None:
            word = "failed" if one.broken else "is not loaded"
            note(f"{one.name} ({_origin(one)}) {word}: {one.why}")


def _row(extension: FoundExtension) -> Sequence[str]:
    assert extension.extension is not None
    # The hooks and how many there are of each, as in `operators 2`
    counts = [
        (hook, len(getattr(extension.extension, hook)))
        for hook in (extension.extension.hooks if extension.extension else ())
    ]
    return (
        extension.name,
        extension.extension.version,
        _origin(extension),
        ", ".join([f"{hook} {count}" for hook, count in counts]),
    )


def _origin(extension: FoundExtension) -> str:
    package = f"{extension.distribution} {extension.distribution_version}, " if extension.distribution else ""
    return f"{package}{extension.source} {extension.target}".strip()


def _record(extension: FoundExtension) -> dict[str, Any]:
    return {
        "name": extension.name,
        "version": extension.extension.version if extension.extension else None,
        "state": "loaded" if extension.extension else "failed" if extension.broken else "off",
        "why": extension.why or None,
        "source": extension.source,
        "target": extension.target or None,
        "distribution": extension.distribution or None,
        "distributionVersion": extension.distribution_version or None,
        "hooks": {
            hook: len(getattr(extension.extension, hook))
            for hook in (extension.extension.hooks if extension.extension else ())
        },
    }
