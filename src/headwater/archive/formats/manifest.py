"""The current tables of a place, and how far updates have come there: one document, replaced in one step.

It is the file ``headwater.json`` beside the tables, or the one row of the table ``headwater`` of an Iceberg namespace.
"""

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from headwater.archive.formats.filesystem import Folder
from headwater.archive.tables import VERSION
from headwater.errors import ArchiveError, ArchiveTooNew, ArchiveTooOld

_FILE = "headwater.json"
Marks = Mapping[str, Any]
"""By the name of a table a value that identifies its rows after a build: a path, a version or a snapshot."""


@dataclass(frozen=True, slots=True)
class StreamProgress:
    """How far a source was read: to ``batch`` of the stream with a ``checkpoint``, a name below that of all streams."""

    checkpoint: str
    batch: int = -1


@dataclass(frozen=True, slots=True)
class UpdateState:
    """The state that an update leaves to the next one; it is empty after a whole build.

    Args:
        staged: the marks of the tables of `headwater.archive.events.parsed_events`.
        streams: by the digest of a source how far it was read.
        names: the digest of the meanings of names (`headwater.archive.names.name_meanings.Names.digest`), and whether
            overwrites were believed.
    """

    staged: Marks = field(default_factory=dict)
    streams: Mapping[str, StreamProgress] = field(default_factory=dict)
    names: str = ""


@dataclass(frozen=True, slots=True)
class Manifest:
    """The format, the marks and the version of the current tables, and the state of updates."""

    format: str = ""
    tables: Marks = field(default_factory=dict)
    updates: UpdateState = field(default_factory=UpdateState)
    version: int = VERSION

    def text(self) -> str:
        """The document."""
        tables = {"format": self.format, "tables": self.tables, "taken": asdict(self.updates)}
        return json.dumps({"version": VERSION, **tables}, indent=1)


def read_manifest(text: str, place: str) -> Manifest:
    """Read a document; from an empty text a manifest without tables.

    Raises:
        ArchiveError: it is no such document.
        ArchiveTooNew: a newer headwater wrote it.
    """
    try:
        found = json.loads(text) if text else {}
        version, updates = found.get("version", VERSION), found.get("taken", {})
        streams = {key: StreamProgress(**one) for key, one in updates.get("streams", {}).items()}
    except (ValueError, TypeError, AttributeError) as fault:
        raise ArchiveError(
            f"{place} is no JSON ({fault}): expected what `headwater archive build` wrote. Choose another folder, or "
            "remove the file and build again."
        ) from None
    if version > VERSION:
        raise ArchiveTooNew(
            f"The tables in {place} have version {version}: expected {VERSION} at most. A newer headwater wrote them: "
            "upgrade this one, or build elsewhere."
        )
    state = UpdateState(updates.get("staged", {}), streams, updates.get("names", ""))
    return Manifest(found.get("format", ""), found.get("tables", {}), state, version)


def require_present_version(manifest: Manifest, place: str) -> None:
    """Raise ArchiveTooOld where an older headwater wrote the tables of a place; only a build may replace them."""
    if manifest.version < VERSION:
        raise ArchiveTooOld(
            f"The tables in {place} have version {manifest.version}: expected {VERSION}. An older headwater wrote "
            "them, without what questions and updates need now. Build the archive anew from its events with "
            "`headwater archive build`, into the same place or another."
        )


def manifest_of(folder: Folder) -> Manifest:
    """The manifest beside the tables of a folder.

    Raises:
        ArchiveError, ArchiveTooNew: as `read_manifest` does.
    """
    return read_manifest(folder.text(_FILE), folder.path(_FILE))


def replace_manifest(folder: Folder, manifest: Manifest, before: Manifest) -> None:
    """Replace the manifest of a folder, if it is still the one before.

    Raises:
        ArchiveError: another build or update has replaced it.
    """
    place = folder.path(_FILE)
    if not folder.replace(_FILE, manifest.text(), lambda text: read_manifest(text, place) == before):
        raise written_meanwhile(place)


def written_meanwhile(place: str) -> ArchiveError:
    """The error of a build or update whose tables cannot be the current ones."""
    return ArchiveError(
        f"Another build or update has written the tables of {place} meanwhile: expected one at a time. Run this one "
        "again; it has changed nothing."
    )
