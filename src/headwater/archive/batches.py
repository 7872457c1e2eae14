"""Batches of lines, each applied to the tables of a place as a whole or not at all."""

from collections.abc import Mapping
from contextlib import closing
from dataclasses import dataclass, replace
from functools import partial
from types import MappingProxyType
from typing import Any

from pyspark.sql import DataFrame, SparkSession

from headwater.archive.builds import FEW, write_table
from headwater.archive.cache import CachedFrames, FitSettings, build_settings
from headwater.archive.events.parsed_events import (
    STAGED,
    ParsedEvents,
    ParsedLines,
    distinct_events,
    parsed_lines,
    reparsed_events,
    staged_table,
)
from headwater.archive.fold.affected_rows import AffectedRows, NewEvents, PreviousState
from headwater.archive.fold.run_lineage import runs_of
from headwater.archive.fold.summaries import SUMMARIES, Summaries
from headwater.archive.fold.table_rows import (
    events_table,
    folded_frames,
    folded_tables,
    quarantine_table,
    run_tables,
)
from headwater.archive.formats.differences import differences, without
from headwater.archive.formats.lake import Lake
from headwater.archive.formats.manifest import Manifest, Marks, StreamProgress, UpdateState
from headwater.archive.names.resolver import MEANING, Resolver, name_resolver
from headwater.archive.parallel_writes import ParallelWrites, Progress
from headwater.archive.tables import EDGES, TABLES, Table

_BELIEVED = ", overwrites believed"
NAMES = "parsed_names"
"""The staged table of the meanings of names."""

STAGED_TABLES: Mapping[str, Table] = MappingProxyType(
    {
        **STAGED,
        **{f"parsed_{name}": staged_table(columns, "namespace", "name") for name, columns in SUMMARIES.items()},
        NAMES: staged_table(MEANING, "m_namespace", "m_name"),
    }
)
"""All tables that one update leaves to the next."""


@dataclass(frozen=True, slots=True)
class Batch:
    """The state of a batch that is applied to the tables of a place.

    ``marks`` and ``before`` are those of the place when the batch began; ``fit`` fits Spark's settings to numbers of
    events, of which there are ``events`` with those before. ``believe_overwrite`` is as for
    `headwater.archive.fold.replacements.replacements_of`.
    """

    spark: SparkSession
    place: Lake
    marks: Marks
    before: UpdateState
    cache: CachedFrames
    progress: Progress
    fit: FitSettings
    events: int
    believe_overwrite: bool


def apply_batch(  # noqa: PLR0913 - each by its name
    spark: SparkSession,
    place: Lake,
    lines: DataFrame,
    stream: Mapping[str, StreamProgress],
    *,
    believe_overwrite: bool,
    progress: Progress,
) -> None:
    """Apply lines to the tables of a place, and publish them with the progress of a ``stream``.

    Raises:
        ArchiveError: another build or update wrote meanwhile.
    """
    with closing(CachedFrames()) as cache, build_settings(spark, cache) as fit:
        before = place.manifest()
        updates = _of_this_version(place, before.updates)
        parsed = parsed_lines(lines, cache)
        new, earlier = parsed.lean.count(), _events_in(place, before.tables)
        fit(*(new, earlier) if updates.staged else (new + earlier,))
        whole = new + earlier
        batch = Batch(spark, place, before.tables, updates, cache, progress, fit, whole, believe_overwrite)
        marks, staged, names = _write(batch, parsed)
        place.publish(before, marks, UpdateState(staged, {**batch.before.streams, **stream}, names))


def _events_in(place: Lake, marks: Marks) -> int:
    return place.read("events", marks["events"]).count() if "events" in marks else 0


def _of_this_version(place: Lake, updates: UpdateState) -> UpdateState:
    """The state of updates, without staged tables of an older headwater: their events are parsed again."""
    same = updates.staged.keys() == STAGED_TABLES.keys() and all(
        place.read(name, mark).schema.simpleString() == STAGED_TABLES[name].schema.simpleString()
        for name, mark in updates.staged.items()
    )
    return updates if same else replace(updates, staged={})


def restore(place: Lake, manifest: Manifest) -> None:
    """Revert what an interrupted update or build wrote: the tables are then as they were published in a manifest."""
    marks, updates = manifest.tables, manifest.updates
    restored = {name: place.restore(name, mark) for name, mark in marks.items()}
    staged = {name: place.restore(name, mark) for name, mark in updates.staged.items()}
    if (restored, staged) != (marks, updates.staged):
        place.publish(manifest, restored, replace(updates, staged=staged))


def _write(batch: Batch, parsed: ParsedLines) -> tuple[Marks, Marks, str]:
    """Write lines that were parsed; returns the marks of the tables and of staged ones, and the digest of names."""
    before = _parsed_before(batch)
    new = distinct_events(parsed, batch.cache).new_to(before, batch.cache)
    with ParallelWrites(batch.spark, batch.progress) as writes:
        rejected = _new_rejected(batch, quarantine_table(parsed.lean))
        writes.begin("quarantine", partial(_added, batch, "quarantine", rejected))
        if batch.before.staged and new.events.isEmpty():
            return {**batch.marks, **writes.marks(["quarantine"])}, batch.before.staged, batch.before.names
        writes.begin("events", partial(_added, batch, "events", events_table(new)))
        for name, rows in new.union(None if batch.before.staged else before).staged().items():
            writes.begin(name, partial(_staged, batch, name, rows))
        digest = _begin_folded(batch, new, before, writes)
        return writes.marks(TABLES), writes.marks(STAGED_TABLES), digest


def _begin_folded(batch: Batch, new: ParsedEvents, before: ParsedEvents | None, writes: ParallelWrites) -> str:
    """Begin to write all that is folded of events, and what the next update needs of it; returns the names' digest."""
    whole = new.union(before)
    resolver = name_resolver(batch.spark, whole.events, batch.cache)
    digest = resolver.digest + (_BELIEVED if batch.believe_overwrite else "")
    part = _affected(batch, new, before, resolver, digest)
    if part is None:
        batch.fit(batch.events)
        runs = batch.cache(runs_of(whole.events))
        frames, summaries = folded_frames(whole, runs, resolver, batch.cache, believe_overwrite=batch.believe_overwrite)
    else:
        frames, summaries = part.frames, part.added
    how_many = f"{part.keys[EDGES[0]].count():,}" if part else "all"
    batch.progress(f"Outputs whose edges are looked at: {how_many}")
    of_runs = run_tables(frames.events, frames.runs, frames.occurring)
    for name, rows in {**of_runs, **folded_tables(frames, resolver, batch.cache, part and part.others)}.items():
        writes.begin(name, partial(_merged, batch, name, rows, part and part.keys[name]))
    for name, rows in summaries.frames().items():
        staged = f"parsed_{name}"
        writes.begin(
            staged, partial(_staged, batch, staged, STAGED_TABLES[staged].select_from(rows), anew=part is None)
        )
    if part is None or digest != batch.before.names:
        meanings = STAGED_TABLES[NAMES].select_from(resolver.meanings)
        writes.begin(NAMES, partial(_staged, batch, NAMES, meanings, anew=True))
    else:
        writes.begin(NAMES, lambda progress: batch.before.staged[NAMES])
    return digest


def _affected(
    batch: Batch, new: ParsedEvents, before: ParsedEvents | None, resolver: Resolver, digest: str
) -> AffectedRows | None:
    """Find what new events touch; None where all is to be folded."""
    believed = batch.before.names.endswith(_BELIEVED)
    if before is None or not batch.before.staged or believed != batch.believe_overwrite:
        return None
    read = {name: batch.place.read(name, mark) for name, mark in batch.before.staged.items()}
    summaries = Summaries(*(read[f"parsed_{name}"] for name in SUMMARIES))
    tables = {name: batch.place.read(name, mark) for name, mark in batch.marks.items()}
    found = NewEvents(new, PreviousState(before, summaries, read[NAMES], tables), resolver, batch.cache)
    return found.affected(names_differ=digest != batch.before.names, believe_overwrite=batch.believe_overwrite)


def _parsed_before(batch: Batch) -> ParsedEvents | None:
    """The events that the tables are made of, if there are tables."""
    if batch.before.staged:
        return ParsedEvents(*(batch.place.read(name, batch.before.staged[name]) for name in STAGED))
    if "events" in batch.marks:
        return reparsed_events(batch.place.read("events", batch.marks["events"]), batch.cache)
    return None


def _new_rejected(batch: Batch, rows: DataFrame) -> DataFrame:
    if "quarantine" not in batch.marks:
        return rows
    return without(rows, batch.place.read("quarantine", batch.marks["quarantine"]), ("source", "place"))


def _staged(batch: Batch, name: str, rows: DataFrame, progress: Progress, *, anew: bool = False) -> Any:
    """Add rows to a staged table, or write it ``anew``; returns its mark."""
    marks, table = batch.before.staged, STAGED_TABLES[name]
    if anew or name not in marks:
        return batch.place.write(name, rows, table)
    return _append(batch, name, marks[name], rows, table)


def _added(batch: Batch, name: str, rows: DataFrame, progress: Progress) -> Any:
    """Add rows to a table, which is made where it is missing; returns its mark."""
    if name not in batch.marks:
        return write_table(batch.place, name, rows, TABLES[name], progress, batch.cache)
    return _append(batch, name, batch.marks[name], batch.cache(rows), TABLES[name])


def _append(batch: Batch, name: str, mark: Any, rows: DataFrame, table: Table) -> Any:
    count = rows.count()
    return batch.place.add(name, mark, rows, table, few=count <= FEW) if count else mark


def _merged(batch: Batch, name: str, rows: DataFrame, keys: DataFrame | None, progress: Progress) -> Any:
    """Write the changes of a table, of the rows with some keys only; returns its mark."""
    table = TABLES[name]
    if name not in batch.marks:
        return write_table(batch.place, name, rows, table, progress, batch.cache)
    before = batch.place.read(name, batch.marks[name])
    if keys is not None:
        before, rows = (frame.join(keys, keys.columns, "left_semi") for frame in (before, rows))
    changes = batch.cache(differences(before, rows, table))
    count = changes.count()
    progress(f"{name}: {count:,} rows differ")
    if not count:
        return batch.marks[name]
    few, changes = batch.cache.sends(count), batch.cache.sent(changes, count)
    return batch.place.change(name, batch.marks[name], changes, table, few=few)
