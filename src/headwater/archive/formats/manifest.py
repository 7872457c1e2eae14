"""What counts of the tables in a place, and how far updates have come there: one document, replaced in one step.

It is the file ``headwater.json`` beside the tables, or the one row of the table ``headwater`` of an Iceberg namespace.
"""

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from headwater.archive.formats.filesystem import Folder
from headwater.archive.tables import VERSION
from headwater.errors import ArchiveError, ArchiveTooNew

_FILE = "headwater.json"
Marks = Mapping[str, Any]
"""By table what tells its state of one build from others: a path, or a version."""


@dataclass(frozen=True, slots=True)
class Stream:
    """How far a source was taken in: ``batch`` is the last one, of the stream whose checkpoint has a name."""

    checkpoint: str
    batch: int = -1


@dataclass(frozen=True, slots=True)
class Taken:
    """What updates know of their last one; a whole build leaves them nothing.

    Args:
        staged: the marks of the tables of `headwater.archive.events.parsed_events`.
        streams: by the digest of a source how far it was taken in.
        names: the digest of what names meant (`headwater.archive.names.name_meanings.Names.digest`), and whether
            overwrites counted.
    """

    staged: Marks = field(default_factory=dict)
    streams: Mapping[str, Stream] = field(default_factory=dict)
    names: str = ""


@dataclass(frozen=True, slots=True)
class Manifest:
    """The marks of the tables that count, with their format, and what updates know."""

    format: str = ""
    tables: Marks = field(default_factory=dict)
    taken: Taken = field(default_factory=Taken)

    def text(self) -> str:
        """The document."""
        return json.dumps({"version": VERSION, **asdict(self)}, indent=1)


def read_manifest(text: str, place: str) -> Manifest:
    """What a document says; an empty one that there is nothing yet.

    Raises:
        ArchiveError: it is no such document.
        ArchiveTooNew: a newer headwater wrote it.
    """
    try:
        found = json.loads(text) if text else {}
        version, taken = found.get("version", VERSION), found.get("taken", {})
        streams = {key: Stream(**one) for key, one in taken.get("streams", {}).items()}
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
    known = Taken(taken.get("staged", {}), streams, taken.get("names", ""))
    return Manifest(found.get("format", ""), found.get("tables", {}), known)


def manifest_of(folder: Folder) -> Manifest:
    """The manifest beside the tables of a folder.

    Raises:
        ArchiveError, ArchiveTooNew: as `read_manifest` does.
    """
    return read_manifest(folder.text(_FILE), folder.path(_FILE))


def replace_manifest(folder: Folder, manifest: Manifest) -> None:
    """Makes another manifest the one that counts."""
    folder.replace(_FILE, manifest.text())
