"""Batches of lines, each applied to the tables of a place as a whole or not at all."""

from collections.abc import Mapping
from contextlib import closing
from dataclasses import dataclass, replace
from typing import Any

from pyspark.sql import DataFrame, SparkSession

from headwater.archive.builds import Progress, write_table
from headwater.archive.cache import CachedFrames, few_partitions
from headwater.archive.events.parsed_events import STAGED, ParsedEvents, distinct_events, reparsed_events
from headwater.archive.events.parser import parse
from headwater.archive.fold.table_rows import (
    events_table,
    folded_tables,
    outputs_of,
    quarantine_table,
    respelled_outputs,
    shared_frames,
)
from headwater.archive.formats.differences import differences, without
from headwater.archive.formats.lake import Lake
from headwater.archive.formats.manifest import Marks, StreamProgress, UpdateState
from headwater.archive.names.resolver import Resolver, name_resolver
from headwater.archive.tables import EDGES, TABLES, Table

_BELIEVED = ", overwrites believed"


@dataclass(frozen=True, slots=True)
class Batch:
    """The state of a batch that is applied to the tables of a place.

    ``marks`` and ``before`` are those of the place when the batch began; ``believe_overwrite`` is as for
    `headwater.archive.fold.replacements.replacements_of`.
    """

    spark: SparkSession
    place: Lake
    marks: Marks
    before: UpdateState
    cache: CachedFrames
    progress: Progress
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
    with few_partitions(spark), closing(CachedFrames()) as cache:
        before = place.manifest()
        updates = _of_this_version(place, before.updates)
        batch = Batch(spark, place, before.tables, updates, cache, progress, believe_overwrite)
        marks, staged, names = _write(batch, cache(parse(lines).select("event.*", "rejected")))
        place.publish(before, marks, UpdateState(staged, {**batch.before.streams, **stream}, names))


def _of_this_version(place: Lake, updates: UpdateState) -> UpdateState:
    """The state of updates, without staged tables of an older headwater: their events are parsed again."""
    for name, mark in updates.staged.items():
        if place.read(name, mark).schema.simpleString() != STAGED[name].schema.simpleString():
            return replace(updates, staged={})
    return updates


def restore(place: Lake) -> None:
    """Revert what an interrupted update or build wrote: the tables are then as they were published."""
    found = place.manifest()
    marks, updates = found.tables, found.updates
    restored = {name: place.restore(name, mark) for name, mark in marks.items()}
    staged = {name: place.restore(name, mark) for name, mark in updates.staged.items()}
    if (restored, staged) != (marks, updates.staged):
        place.publish(found, restored, replace(updates, staged=staged))


def _write(batch: Batch, parsed: DataFrame) -> tuple[Marks, Marks, str]:
    """Write lines that were parsed; returns the marks of the tables and of staged ones, and the digest of names."""
    before = _parsed_before(batch)
    new = distinct_events(parsed, batch.cache).new_to(before, batch.cache)
    rejected = _new_rejected(batch, quarantine_table(parsed))
    first = not batch.before.staged
    if not first and new.events.isEmpty():
        marks = {**batch.marks, "quarantine": _added(batch, "quarantine", rejected)}
        return marks, batch.before.staged, batch.before.names
    whole = new.union(before)
    resolver = name_resolver(batch.spark, whole.events, batch.cache)
    names = resolver.names.digest() + (_BELIEVED if batch.believe_overwrite else "")
    outputs = None if first or names != batch.before.names else batch.cache(outputs_of(whole, new.events, resolver))
    marks = {
        "events": _added(batch, "events", events_table(new)),
        "quarantine": _added(batch, "quarantine", rejected),
        **_changed(batch, whole, resolver, outputs),
    }
    return {name: marks[name] for name in TABLES}, _staged(batch, before, new), names


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


def _staged(batch: Batch, before: ParsedEvents | None, new: ParsedEvents) -> dict[str, Any]:
    if batch.before.staged:
        added, marks = new.staged(), batch.before.staged
        return {name: _append(batch, name, marks[name], added[name], table) for name, table in STAGED.items()}
    rows = new.union(before).staged()
    return {name: batch.place.write(name, rows[name], STAGED[name]) for name in STAGED}


def _added(batch: Batch, name: str, rows: DataFrame) -> Any:
    """Add rows to a table, which is made where it is missing; returns its mark."""
    if name not in batch.marks:
        return write_table(batch.place, name, rows, TABLES[name], batch.progress)
    return _append(batch, name, batch.marks[name], batch.cache(rows), TABLES[name])


def _append(batch: Batch, name: str, mark: Any, rows: DataFrame, table: Table) -> Any:
    if rows.isEmpty():
        return mark
    return batch.place.add(name, mark, rows, table)


def _changed(batch: Batch, whole: ParsedEvents, resolver: Resolver, outputs: DataFrame | None) -> dict[str, Any]:
    """Write the changes of the folded tables, of edges only those to some outputs; returns the marks."""
    shared = shared_frames(whole, resolver, batch.cache, believe_overwrite=batch.believe_overwrite)
    if outputs is not None:
        before = {name: batch.place.read(name, batch.marks[name]) for name in ("fields", *EDGES)}
        outputs = batch.cache(outputs.union(respelled_outputs(shared.fields, before)).distinct())
    how_many = "all" if outputs is None else f"{outputs.count():,}"
    batch.progress(f"Outputs whose edges are looked at: {how_many}")
    folded = folded_tables(whole, resolver, batch.cache, shared, outputs)
    return {name: _merged(batch, name, rows, outputs) for name, rows in folded.items()}


def _merged(batch: Batch, name: str, rows: DataFrame, outputs: DataFrame | None) -> Any:
    if name not in batch.marks:
        return write_table(batch.place, name, rows, TABLES[name], batch.progress)
    before = batch.place.read(name, batch.marks[name])
    if outputs is not None and name in EDGES:
        before = before.join(outputs, before.output_dataset_id == outputs.dataset_id, "left_semi")
    changes = batch.cache(differences(before, rows, TABLES[name]))
    count = changes.count()
    batch.progress(f"{name}: {count:,} rows differ")
    return batch.place.change(name, batch.marks[name], changes, TABLES[name]) if count else batch.marks[name]
