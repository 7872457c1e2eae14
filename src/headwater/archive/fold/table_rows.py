"""The tables of an archive, folded from events."""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain

from pyspark.sql import DataFrame
from pyspark.sql import functions as sf

from headwater.archive.cache import Cache
from headwater.archive.events.parsed_events import EVERYTHING, EventFeatures, ParsedEvents
from headwater.archive.fold import descriptions, edges, replacements, restorations, run_lineage
from headwater.archive.fold.summaries import Summaries, described_in, summaries_of
from headwater.archive.local_rows import local_rows
from headwater.archive.names.resolver import Resolver
from headwater.archive.tables import TABLES


@dataclass(frozen=True, slots=True)
class LineageFrames:
    """Frames that edges and replacements are made of.

    Args:
        lineage: that counts, and that of versions that were restored.
        shapes: all lineage that it refers to.
        replacements: None where nothing was replaced or restored.
    """

    lineage: DataFrame
    shapes: DataFrame
    replacements: DataFrame | None


@dataclass(frozen=True, slots=True)
class DescribedFrames:
    """Frames that jobs, datasets and fields are made of.

    Args:
        descriptions: those of `headwater.archive.fold.summaries`, with their datasets.
        fields: rows of `headwater.archive.fold.descriptions.fields`.
        jobs: rows of `headwater.archive.fold.summaries.job_rows`.
    """

    descriptions: DataFrame
    fields: DataFrame
    jobs: DataFrame


@dataclass(frozen=True, slots=True)
class FoldedFrames:
    """Frames that the tables are made of: of all events, or of those that rows of some keys depend on.

    ``runs`` are those of ``events``, and ``occurring`` is what occurs in these.
    """

    events: DataFrame
    runs: DataFrame
    lineage: LineageFrames
    described: DescribedFrames
    occurring: EventFeatures = EVERYTHING


def folded_frames(
    parsed: ParsedEvents, runs: DataFrame, resolver: Resolver, cache: Cache, *, believe_overwrite: bool
) -> tuple[FoldedFrames, Summaries]:
    """The frames of all events, and their summaries.

    Args:
        parsed: the events.
        runs: those of the events (`headwater.archive.fold.run_lineage.runs_of`), cached.
        resolver: the meanings of names in them.
        cache: caches frames that others are made of.
        believe_overwrite: as `headwater.archive.fold.replacements.replacements_of` takes it.
    """
    lineage, counted = _lineage_frames(parsed, runs, resolver, cache, believe_overwrite=believe_overwrite)
    described, summaries = _described_frames(parsed, counted, resolver, cache)
    return FoldedFrames(parsed.events, runs, lineage, described, parsed.occurring), summaries


def _lineage_frames(
    parsed: ParsedEvents, runs: DataFrame, resolver: Resolver, cache: Cache, *, believe_overwrite: bool
) -> tuple[LineageFrames, DataFrame]:
    """The frames of edges, and the lineage that counts without that of versions that were restored."""
    outputs = run_lineage.outputs_in(parsed.events)
    counted = cache(run_lineage.counted_lineage(outputs, runs, parsed.shapes, resolver))
    if not parsed.occurring.replaced:
        return LineageFrames(counted, parsed.shapes, None), counted
    writes = cache(descriptions.writes(parsed.events, resolver))
    replaced = replacements.replacements_of(writes, runs, believe_overwrite=believe_overwrite)
    lineage, replaced = restorations.with_restored(counted, replaced, writes, runs)
    return LineageFrames(lineage, parsed.shapes, replaced), counted


def _described_frames(
    parsed: ParsedEvents, counted: DataFrame, resolver: Resolver, cache: Cache
) -> tuple[DescribedFrames, Summaries]:
    summaries = summaries_of(described_in(parsed.events), counted, parsed, resolver, cache)
    described = resolver.datasets(summaries.descriptions, "at")
    of_lineage = descriptions.lineage_fields(summaries.field_names, resolver)
    fields = cache(descriptions.fields(described, parsed.schemas, of_lineage, resolver))
    return DescribedFrames(described, fields, summaries.jobs), summaries


def run_tables(events: DataFrame, runs: DataFrame, occurring: EventFeatures) -> dict[str, DataFrame]:
    """The tables of runs by name, for which no name needs to be known: of events without texts, and their runs."""
    of_runs = descriptions.runs(runs, events, parents_occur=occurring.parents)
    return dict((_table("runs", of_runs), _table("coverage", descriptions.coverage(events, runs))))


def tables_of_events(
    parsed: ParsedEvents, runs: DataFrame, resolver: Resolver, cache: Cache, *, believe_overwrite: bool
) -> Iterator[tuple[str, DataFrame]]:
    """The tables of `folded_tables` by name, each as soon as its plan is made.

    Those of edges, which take longest, come first where they need no fields. Arguments are those of `folded_frames`.
    """
    lineage, counted = _lineage_frames(parsed, runs, resolver, cache, believe_overwrite=believe_overwrite)
    edges_first = not _fields_are_respelled(parsed.occurring, resolver)
    if edges_first:
        yield from _edge_tables(lineage, None, resolver, cache)
    described, _ = _described_frames(parsed, counted, resolver, cache)
    yield from _described_tables(described, lineage.replacements, resolver)
    if not edges_first:
        yield from _edge_tables(lineage, _respelled(described.fields), resolver, cache)


def folded_tables(
    frames: FoldedFrames, resolver: Resolver, cache: Cache, others: DataFrame | None = None
) -> dict[str, DataFrame]:
    """All tables by name but those of events and of `run_tables`, made when they are read.

    Args:
        frames: what they are made of.
        resolver: the meanings of names in them.
        cache: caches frames that several tables are made of.
        others: fields that are none of ``frames``, by ``field_id`` and ``field``, to which edges may lead.
    """
    spelled = None
    if _fields_are_respelled(frames.occurring, resolver):
        spelled = _respelled(frames.described.fields)
        spelled = spelled if others is None else spelled.unionByName(others)
    described = _described_tables(frames.described, frames.lineage.replacements, resolver)
    return dict(chain(described, _edge_tables(frames.lineage, spelled, resolver, cache)))


def _fields_are_respelled(occurring: EventFeatures, resolver: Resolver) -> bool:
    """Whether fields may be spelled otherwise than they are compared."""
    return occurring.spelled or resolver.changes_fields


def _respelled(fields: DataFrame) -> DataFrame:
    """The fields that are spelled otherwise than they are compared: most are not, and need not be joined."""
    return fields.where("field != own").select("field_id", "field")


def _described_tables(
    described: DescribedFrames, replaced: DataFrame | None, resolver: Resolver
) -> Iterator[tuple[str, DataFrame]]:
    yield _table("jobs", descriptions.jobs(described.jobs))
    yield _table("datasets", descriptions.datasets(described.descriptions, described.fields, resolver))
    yield _table("fields", replacements.with_left_out(described.fields, replaced))


def _edge_tables(
    of: LineageFrames, spelled: DataFrame | None, resolver: Resolver, cache: Cache
) -> Iterator[tuple[str, DataFrame]]:
    """The tables of edges, with the spellings of fields (``field_id`` and ``field``) if any, and ``replacements``."""
    by_run = run_lineage.lineage_by_run(of.lineage)
    spans = cache(run_lineage.spans(replacements.with_ends(by_run, of.replacements)))
    of_spans = cache(edges.span_edges(spans, of.shapes, resolver))
    of_columns = edges.with_spellings(edges.column_edges(of_spans), spelled, "", "input_")
    yield _table("column_edges", _with_current(of_columns))
    of_datasets = edges.with_spellings(edges.dataset_edges(of_spans), spelled, "input_")
    yield _table("dataset_edges", _with_current(of_datasets))
    if of.replacements is None:
        yield "replacements", local_rows(by_run.sparkSession, [], TABLES["replacements"].schema)
    else:
        yield _table("replacements", run_lineage.with_runs_before(of.replacements, by_run))


def _with_current(edge_rows: DataFrame) -> DataFrame:
    return edge_rows.withColumn("current", sf.col("until").isNull())


def _table(name: str, rows: DataFrame) -> tuple[str, DataFrame]:
    return name, TABLES[name].select_from(rows)


def events_table(parsed: ParsedEvents) -> DataFrame:
    """The table ``events``, of events with their texts."""
    return TABLES["events"].select_from(descriptions.events(parsed.events))


def quarantine_table(parsed: DataFrame) -> DataFrame:
    """The table ``quarantine``, of all lines that were parsed."""
    return TABLES["quarantine"].select_from(descriptions.quarantine(parsed))
