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


def _row(one: FoundExtension) -> Sequence[str]:
    assert one.extension is not None
    # The hooks and how many there are of each, as in `operators 2`
    counts = [(hook, len(getattr(one.extension, hook))) for hook in (one.extension.hooks if one.extension else ())]
    return (one.name, one.extension.version, _origin(one), ", ".join([f"{hook} {count}" for hook, count in counts]))


def _origin(one: FoundExtension) -> str:
    package = f"{one.distribution} {one.distribution_version}, " if one.distribution else ""
    return f"{package}{one.source} {one.target}".strip()


def _record(one: FoundExtension) -> dict[str, Any]:
    return {
        "name": one.name,
        "version": one.extension.version if one.extension else None,
        "state": "loaded" if one.extension else "failed" if one.broken else "off",
        "why": one.why or None,
        "source": one.source,
        "target": one.target or None,
        "distribution": one.distribution or None,
        "distributionVersion": one.distribution_version or None,
        "hooks": {hook: len(getattr(one.extension, hook)) for hook in (one.extension.hooks if one.extension else ())},
    }
