"""The tables of an archive, folded from events."""

from dataclasses import dataclass

from pyspark.sql import DataFrame
from pyspark.sql import functions as sf

from headwater.archive.cache import Cache
from headwater.archive.events.parsed_events import EVERYTHING, EventFeatures, ParsedEvents
from headwater.archive.fold import descriptions, edges, replacements, restorations, run_lineage
from headwater.archive.fold.summaries import Summaries, described_in, summaries_of
from headwater.archive.local_rows import local_rows
from headwater.archive.names.resolver import Resolver
from headwater.archive.tables import EDGES, TABLES


@dataclass(frozen=True, slots=True)
class FoldedFrames:
    """Frames that the tables are made of: of all events, or of those that rows of some keys depend on.

    ``runs`` are those of ``events``, ``shapes`` all lineage that ``lineage`` refers to; ``replacements`` are None where
    nothing was replaced or restored; ``described`` are descriptions of `headwater.archive.fold.summaries` with their
    datasets. ``occurring`` is of the events.
    """

    events: DataFrame
    runs: DataFrame
    lineage: DataFrame
    shapes: DataFrame
    replacements: DataFrame | None
    described: DataFrame
    fields: DataFrame
    jobs: DataFrame
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
    events, shapes = parsed.events, parsed.shapes
    lineage = cache(run_lineage.counted_lineage(run_lineage.outputs_in(events), runs, shapes, resolver))
    summaries = summaries_of(described_in(events), lineage, parsed, resolver, cache)
    described = resolver.datasets(summaries.descriptions, "at")
    of_lineage = descriptions.lineage_fields(summaries.field_names, resolver)
    fields = cache(descriptions.fields(described, parsed.schemas, of_lineage, resolver))
    replaced = None
    if parsed.occurring.replaced:
        writes = cache(descriptions.writes(events, resolver))
        replaced = replacements.replacements_of(writes, runs, believe_overwrite=believe_overwrite)
        lineage, replaced = restorations.with_restored(lineage, replaced, writes, runs)
    frames = FoldedFrames(events, runs, lineage, shapes, replaced, described, fields, summaries.jobs, parsed.occurring)
    return frames, summaries


def run_tables(events: DataFrame, runs: DataFrame, occurring: EventFeatures) -> dict[str, DataFrame]:
    """The tables of runs by name, for which no name needs to be known: of events without texts, and their runs."""
    rows = {
        "runs": descriptions.runs(runs, events, parents_occur=occurring.parents),
        "coverage": descriptions.coverage(events, runs),
    }
    return {name: TABLES[name].select_from(frame) for name, frame in rows.items()}


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
    by_run = run_lineage.lineage_by_run(frames.lineage)
    spans = cache(run_lineage.spans(replacements.with_ends(by_run, frames.replacements)))
    of_spans = cache(edges.span_edges(spans, frames.shapes, resolver))
    occurring, spelled = frames.occurring, None
    if occurring.spelled or resolver.changes_fields:
        # Most fields are spelled as they are compared: only the others are joined.
        spelled = frames.fields.where("field != own").select("field_id", "field")
        spelled = spelled if others is None else spelled.unionByName(others)
    rows = {
        "jobs": descriptions.jobs(frames.jobs),
        "datasets": descriptions.datasets(frames.described, frames.fields, resolver),
        "fields": replacements.with_left_out(frames.fields, frames.replacements),
        "column_edges": edges.with_spellings(edges.column_edges(of_spans), spelled, "", "input_"),
        "dataset_edges": edges.with_spellings(edges.dataset_edges(of_spans), spelled, "input_"),
    }
    for name in EDGES:
        rows[name] = rows[name].withColumn("current", sf.col("until").isNull())
    tables = {name: TABLES[name].select_from(frame) for name, frame in rows.items()}
    return {**tables, "replacements": _replacements(frames, by_run)}


def _replacements(frames: FoldedFrames, by_run: DataFrame) -> DataFrame:
    if frames.replacements is None:
        return local_rows(by_run.sparkSession, [], TABLES["replacements"].schema)
    return TABLES["replacements"].select_from(run_lineage.with_runs_before(frames.replacements, by_run))


def events_table(parsed: ParsedEvents) -> DataFrame:
    """The table ``events``, of events with their texts."""
    return TABLES["events"].select_from(descriptions.events(parsed.events))


def quarantine_table(parsed: DataFrame) -> DataFrame:
    """The table ``quarantine``, of all lines that were parsed."""
    return TABLES["quarantine"].select_from(descriptions.quarantine(parsed))
