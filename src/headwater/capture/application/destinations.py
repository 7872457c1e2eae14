"""Where events go: what was asked for, else the OpenLineage client's own configuration, else the store."""

import shlex
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from headwater.capture.settings import CaptureSettings
from headwater.errors import EventError, SettingError
from headwater.openlineage.delivery import (
    Delivery,
    FileTarget,
    SinkTarget,
    Target,
    client_targets,
    unusable_targets,
)
from headwater.redaction import redact
from headwater.store.sql.location import store_file, store_url

# Events that a locked store does not take go to the spool, so that the end of a job need not wait for another's.
_PATIENCE = 3.0


def destination(settings: CaptureSettings, transport: Mapping[str, Any] | None = None) -> Delivery:
    """The delivery to every place that the settings name.

    ``transport`` is what the configuration file or ``spark.openlineage.transport.…`` says, in the file's shape.
    """
    url = store_url(settings.store or None, {})  # the settings have what is usable of the environment
    targets = _targets(settings, url, transport or {}) or [_store(url)]
    beside = store_file(url) or Path(".headwater/lineage.db")
    return Delivery(targets, beside.absolute().parent / "spool")


def whereabouts(settings: CaptureSettings, delivery: Delivery, dataset: str) -> str:
    """Where the lineage went, and how to look at ``dataset``: the rest of a sentence."""
    names = list(delivery.counts)
    if "store" in names:
        option = f" --store {shlex.quote(redact(settings.store))}" if settings.store else ""
        return f". Look: headwater show{option} {shlex.quote(dataset)}"
    return f", sent to {', '.join(settings.events or name if name == 'file' else name for name in names)}"


def undelivered(delivery: Delivery) -> str:
    """The numbers of events that wait for a back end and that are lost: the rest of a sentence, or nothing."""
    counts = delivery.counts.values()
    waiting, lost = sum(one.waiting for one in counts), sum(one.lost for one in counts)
    folders = " and ".join(map(str, delivery.folders_of_waiting() or (delivery.spool_folder,)))
    spooled = f"; {waiting} events wait in {folders} and go with the next run" if waiting else ""
    stranded = sum(delivery.stranded().values())
    elsewhere = (
        f"; {stranded} events in {delivery.spool_folder} are for addresses that are not configured now"
        if stranded
        else ""
    )
    return spooled + elsewhere + (f"; {lost} events are lost" if lost else "")


def _targets(settings: CaptureSettings, url: str, transport: Mapping[str, Any]) -> list[Target]:
    targets: list[Target] = []
    if settings.events:
        targets.append(FileTarget(Path(settings.events).absolute()))
    if settings.store:
        targets.append(_store(url))
    if settings.config or not targets:
        targets.extend(_back_ends(transport))
    return targets


def _back_ends(transport: Mapping[str, Any]) -> Sequence[Target]:
    """The back ends of the OpenLineage client; events wait on disk for one that cannot be used."""
    try:
        return client_targets(transport)
    except SettingError as error:
        return unusable_targets(transport, str(error))


def _store(url: str) -> Target:
    file = store_file(url)
    return SinkTarget("store", _ingest(url), file.name if file else redact(url))


def _ingest(url: str) -> Callable[[str], None]:
    opened: list[Any] = []

    def ingest(line: str) -> None:
        from headwater.store import open_store

        if not opened:
            opened.append(open_store(url, timeout=_PATIENCE))
        report = opened[0].ingest([line])
        if report.rejected:
            raise EventError(report.rejected[0].reason)

    return ingest
