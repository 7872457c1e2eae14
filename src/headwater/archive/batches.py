"""A batch of lines taken into the tables: all of it, in one step, or none."""

from collections.abc import Callable, Mapping
from contextlib import closing
from dataclasses import dataclass, replace
from typing import Any

from pyspark.sql import DataFrame, SparkSession

from headwater.archive.builds import written
from headwater.archive.cache import Kept, few_parts
from headwater.archive.events.parsed_events import STAGED, Told, told_again, told_by
from headwater.archive.events.parser import parsed
from headwater.archive.fold.table_rows import (
    events_table,
    folded_tables,
    outputs_of,
    parts_of,
    quarantine_table,
    respelled_outputs,
)
from headwater.archive.formats.differences import differences, without
from headwater.archive.formats.lake import Lake
from headwater.archive.formats.manifest import Marks, Stream, Taken
from headwater.archive.names.resolver import Resolver, resolver
from headwater.archive.tables import EDGES, TABLES, Table
from headwater.errors import ArchiveError

_BELIEVED = ", overwrites believed"


@dataclass(frozen=True, slots=True)
class Taking:
    """One batch on its way into the tables of a place.

    ``marks`` and ``before`` are what counted when it began; ``keep`` has Spark keep what is read several times.
    ``believe_overwrite`` is as `headwater.archive.fold.replacements.replacements` takes it.
    """

    spark: SparkSession
    place: Lake
    marks: Marks
    before: Taken
    keep: Kept
    tell: Callable[[str], None]
    believe_overwrite: bool


def take(  # noqa: PLR0913 - each by its name
    spark: SparkSession,
    place: Lake,
    lines: DataFrame,
    stream: Mapping[str, Stream],
    *,
    believe_overwrite: bool,
    tell: Callable[[str], None],
) -> None:
    """Takes lines into the tables of a place, and writes down that the ``stream`` of a source came so far.

    Raises:
        ArchiveError: another build or update wrote meanwhile.
    """
    with few_parts(spark), closing(Kept()) as keep:
        before = place.manifest()
        batch = Taking(spark, place, before.tables, _as_of_now(place, before.taken), keep, tell, believe_overwrite)
        marks, staged, names = _taken(batch, keep(parsed(lines).select("event.*", "rejected")))
        if place.manifest() != before:
            raise ArchiveError(
                "Another build or update has written these tables meanwhile: expected one at a time. Update again."
            )
        place.publish(marks, Taken(staged, {**batch.before.streams, **stream}, names))


def _as_of_now(place: Lake, taken: Taken) -> Taken:
    """What was taken, without what is staged where an older headwater did that: the events are parsed again."""
    for name, mark in taken.staged.items():
        if [one.dataType.simpleString() for one in place.read(name, mark).schema] != [
            one.dataType.simpleString() for one in STAGED[name].schema
        ]:
            return replace(taken, staged={})
    return taken


def restore(place: Lake) -> None:
    """Takes back what an update or a build wrote that was interrupted: after it tables are as they count."""
    found = place.manifest()
    marks, taken = found.tables, found.taken
    restored = {name: place.restore(name, mark) for name, mark in marks.items()}
    staged = {name: place.restore(name, mark) for name, mark in taken.staged.items()}
    if (restored, staged) != (marks, taken.staged):
        place.publish(restored, replace(taken, staged=staged))


def _taken(batch: Taking, read: DataFrame) -> tuple[Marks, Marks, str]:
    """The marks of the tables and of what is staged, and the digest of names, when lines are taken in."""
    known = _known(batch)
    new = told_by(read, batch.keep).new_to(known, batch.keep)
    rejected = _new_rejected(batch, quarantine_table(read))
    first = not batch.before.staged
    if not first and new.events.isEmpty():
        marks = {**batch.marks, "quarantine": _added(batch, "quarantine", rejected)}
        return marks, batch.before.staged, batch.before.names
    whole = new.with_(known)
    meanings = resolver(batch.spark, whole.events, batch.keep)
    names = meanings.names.digest() + (_BELIEVED if batch.believe_overwrite else "")
    outputs = None if first or names != batch.before.names else batch.keep(outputs_of(whole, new.events, meanings))
    marks = {
        "events": _added(batch, "events", events_table(new)),
        "quarantine": _added(batch, "quarantine", rejected),
        **_changed(batch, whole, meanings, outputs),
    }
    return {name: marks[name] for name in TABLES}, _staged(batch, known, new), names


def _known(batch: Taking) -> Told | None:
    """What was told before, if anything."""
    if batch.before.staged:
        return Told(*(batch.place.read(name, batch.before.staged[name]) for name in STAGED))
    if "events" in batch.marks:
        return told_again(batch.place.read("events", batch.marks["events"]), batch.keep)
    return None


def _new_rejected(batch: Taking, rows: DataFrame) -> DataFrame:
    if "quarantine" not in batch.marks:
        return rows
    return without(rows, batch.place.read("quarantine", batch.marks["quarantine"]), ("source", "place"))


def _staged(batch: Taking, known: Told | None, new: Told) -> dict[str, Any]:
    if batch.before.staged:
        added, marks = new.staged(), batch.before.staged
        return {name: _append(batch, name, marks[name], added[name], table) for name, table in STAGED.items()}
    rows = new.with_(known).staged()
    return {name: batch.place.write(name, rows[name], STAGED[name]) for name in STAGED}


def _added(batch: Taking, name: str, rows: DataFrame) -> Any:
    """The mark of a table with more rows."""
    if name not in batch.marks:
        return written(batch.place, name, rows, TABLES[name], batch.tell)
    return _append(batch, name, batch.marks[name], batch.keep(rows), TABLES[name])


def _append(batch: Taking, name: str, mark: Any, rows: DataFrame, table: Table) -> Any:
    if rows.isEmpty():
        return mark
    return batch.place.add(name, mark, rows, table)


def _changed(batch: Taking, whole: Told, meanings: Resolver, outputs: DataFrame | None) -> dict[str, Any]:
    """The marks of the tables that are folded; of edges only those to some outputs are looked at."""
    parts = parts_of(whole, meanings, batch.keep, believe_overwrite=batch.believe_overwrite)
    if outputs is not None:
        before = {name: batch.place.read(name, batch.marks[name]) for name in ("fields", *EDGES)}
        outputs = batch.keep(outputs.union(respelled_outputs(parts.fields, before)).distinct())
    some = "all" if outputs is None else f"{outputs.count():,}"
    batch.tell(f"Outputs whose edges are looked at: {some}")
    folded = folded_tables(whole, meanings, batch.keep, parts, outputs)
    return {name: _merged(batch, name, rows, outputs) for name, rows in folded.items()}


def _merged(batch: Taking, name: str, rows: DataFrame, outputs: DataFrame | None) -> Any:
    if name not in batch.marks:
        return written(batch.place, name, rows, TABLES[name], batch.tell)
    before = batch.place.read(name, batch.marks[name])
    if outputs is not None and name in EDGES:
        before = before.join(outputs, before.output_dataset_id == outputs.dataset_id, "left_semi")
    changes = batch.keep(differences(before, rows, TABLES[name]))
    count = changes.count()
    batch.tell(f"{name}: {count:,} rows differ")
    return batch.place.change(name, batch.marks[name], changes, TABLES[name]) if count else batch.marks[name]
