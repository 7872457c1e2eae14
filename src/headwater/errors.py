"""Every error that headwater raises on purpose.

    HeadwaterError
    ├── SettingError          a setting or option that cannot be used
    ├── PlanError             a recorded or captured plan that cannot be read
    ├── CaptureError          watching a Spark application is not possible
    ├── DryRunError           a job asks for what a dry run refuses, or cannot be run dry
    ├── EventError            an OpenLineage event that cannot be read
    ├── ArchiveError          an archive of events, or the tables made of it, cannot be used
    │   ├── ArchiveTooNew         tables written by a newer headwater
    │   └── ArchiveTooOld         tables that lack what questions and updates need now
    ├── ExtensionError        an extension that cannot be used, or that broke
    ├── PolicyError           a file of tags or of a policy that cannot be read
    ├── StoreError            the lineage store cannot be used
    │   ├── StoreUnavailable      missing rights, no connection
    │   │   └── StoreFull             a full or failing disk
    │   ├── StoreLocked           another process holds it for too long
    │   ├── StoreCorrupt          the file is not a store, or is damaged
    │   ├── StoreTooNew           written by a newer headwater
    │   └── StoreTooOld           written by a headwater of before the first schema
    └── QuestionError         a question that has no single meaning
        ├── UnknownName           no dataset, column, job or run of that name
        └── AmbiguousName         several of that name

A message has what was found, what was expected, and what to do.
"""


class HeadwaterError(Exception):
    """The base of all of them: catch this to catch every error of headwater's own."""


class SettingError(HeadwaterError):
    """A setting or option that cannot be used."""


class PlanError(HeadwaterError):
    """A recorded or captured plan that cannot be read."""


class CaptureError(HeadwaterError):
    """Watching a Spark application is not possible."""


class DryRunError(HeadwaterError):
    """A job asks for what a dry run refuses, or cannot be run dry."""


class EventError(HeadwaterError):
    """An OpenLineage event that cannot be read."""


class ArchiveError(HeadwaterError):
    """An archive of events, or the tables that were made of it, cannot be used."""


class ArchiveTooNew(ArchiveError):
    """The tables were written by a newer headwater than this one."""


class ArchiveTooOld(ArchiveError):
    """The tables were written by an older headwater, without what questions and updates need: build them anew."""


class ExtensionError(HeadwaterError):
    """An extension that cannot be used, or that broke while it ran."""


class PolicyError(HeadwaterError):
    """A file of tags or of a policy that cannot be read; the message begins with its place, ``FILE:LINE:COLUMN``."""


class StoreError(HeadwaterError):
    """The lineage store cannot be used."""


class StoreUnavailable(StoreError):
    """The store cannot be opened or written: missing rights, a full disk, no connection."""


class StoreFull(StoreUnavailable):
    """The disk of the store is full or failing."""


class StoreLocked(StoreError):
    """Another process holds the store for longer than we wait."""


class StoreCorrupt(StoreError):
    """The file is not a headwater store, or is damaged."""


class StoreTooNew(StoreError):
    """The store was written by a newer headwater than this one."""


class StoreTooOld(StoreError):
    """The store has a schema of before the first one that was released: its events have to be ingested anew."""


class QuestionError(HeadwaterError):
    """A question that has no single meaning."""


class UnknownName(QuestionError):
    """No dataset, column, job or run has that name; the message lists the near matches."""


class AmbiguousName(QuestionError):
    """Several datasets, columns, jobs or runs end in that name; the message lists them."""
