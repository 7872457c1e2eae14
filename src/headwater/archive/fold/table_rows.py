"""The tables of an archive, folded from events."""

from collections.abc import Mapping
from typing import NamedTuple

from pyspark.sql import DataFrame
from pyspark.sql import functions as sf

from headwater.archive.cache import Cache
from headwater.archive.events.parsed_events import ParsedEvents
from headwater.archive.fold import descriptions, edges, replacements, restorations, run_lineage
from headwater.archive.names.resolver import Resolver
from headwater.archive.tables import EDGES, TABLES


class SharedFrames(NamedTuple):
    """Frames that several tables are made of.

    These are the runs, their lineage that counts, descriptions of datasets, fields, and replacements of all rows of a
    dataset.
    """

    runs: DataFrame
    lineage: DataFrame
    described: DataFrame
    fields: DataFrame
    replacements: DataFrame


def shared_frames(parsed: ParsedEvents, resolver: Resolver, cache: Cache, *, believe_overwrite: bool) -> SharedFrames:
    """The frames that `folded_tables` makes several tables of; its arguments are the same.

    ``believe_overwrite`` is as `headwater.archive.fold.replacements.replacements_of` takes it.
    """
    runs = cache(run_lineage.runs_of(parsed.events))
    lineage = cache(run_lineage.counted_lineage(parsed.events, runs, parsed.shapes, resolver))
    described = cache(descriptions.dataset_descriptions(parsed.events, resolver))
    of_lineage = edges.lineage_fields(lineage, parsed.shapes, resolver)
    fields = cache(descriptions.fields(described, parsed.schemas, of_lineage, resolver))
    replaced = replacements.replacements_of(described, runs, believe_overwrite=believe_overwrite)
    lineage, replaced = restorations.with_restored(lineage, replaced, described, runs)
    return SharedFrames(runs, lineage, described, fields, replaced)


def folded_tables(
    parsed: ParsedEvents, resolver: Resolver, cache: Cache, shared: SharedFrames, outputs: DataFrame | None = None
) -> dict[str, DataFrame]:
    """The tables by name, made when they are read.

    Args:
        parsed: all events.
        resolver: the meanings of names in them.
        cache: caches frames that several tables are made of.
        shared: the frames of `shared_frames`.
        outputs: the outputs of which edges are made, by ``dataset_id``; all without it.
    """
    events, shapes = parsed.events, parsed.shapes
    runs, lineage, described, fields, replaced = shared
    if outputs is not None:
        lineage, replaced = (frame.join(outputs, "dataset_id", "left_semi") for frame in (lineage, replaced))
    spans = cache(run_lineage.spans(replacements.with_ends(run_lineage.lineage_by_run(lineage), replaced)))
    of_spans = cache(edges.span_edges(spans, shapes, resolver))
    rows = {
        "runs": descriptions.runs(runs, events),
        "jobs": descriptions.jobs(events),
        "datasets": descriptions.datasets(described, fields, resolver),
        "fields": replacements.with_left_out(fields, shared.replacements),
        "column_edges": edges.with_spellings(edges.column_edges(of_spans), fields, "", "input_"),
        "dataset_edges": edges.with_spellings(edges.dataset_edges(of_spans), fields, "input_"),
        "coverage": descriptions.coverage(events, runs),
    }
    for name in EDGES:
        rows[name] = rows[name].withColumn("current", sf.col("until").isNull())
    return {name: TABLES[name].select_from(frame) for name, frame in rows.items()}


def events_table(parsed: ParsedEvents) -> DataFrame:
    """The table ``events``, of events with their texts."""
    return TABLES["events"].select_from(descriptions.events(parsed.events))


def quarantine_table(parsed: DataFrame) -> DataFrame:
    """The table ``quarantine``, of all lines that were parsed."""
    return TABLES["quarantine"].select_from(descriptions.quarantine(parsed))


def outputs_of(parsed: ParsedEvents, some: DataFrame, resolver: Resolver) -> DataFrame:
    """The outputs, by ``dataset_id``, of runs that have one of some events: with lineage, or replaced by them."""
    runs = some.select("run").distinct()
    events = parsed.events.join(runs, "run", "left_semi")
    with_lineage = events.select("at", sf.explode("outputs").alias("one")).select("at", "one.namespace", "one.name")
    replaced = events.select(sf.explode("datasets").alias("one")).where("one.replaces IS NOT NULL")
    named = with_lineage.union(replaced.select("one.at", "one.namespace", "one.name"))
    return resolver.datasets(named, "at").select("dataset_id").distinct()


def respelled_outputs(fields: DataFrame, before: Mapping[str, DataFrame]) -> DataFrame:
    """The outputs, by ``dataset_id``, with an edge from or to a field whose spelling has changed.

    Args:
        fields: the fields as they are now.
        before: the tables as they were.
    """
    old = before["fields"].select("field_id", sf.col("name").alias("former"))
    changed = fields.join(old, "field_id").where("field != former").select("field_id", "dataset_id")
    found = changed.select("dataset_id")
    for name in EDGES:
        edges_before, ids = before[name], changed.select("field_id")
        reading = edges_before.join(ids, edges_before.input_field_id == ids.field_id, "left_semi")
        found = found.union(reading.select("output_dataset_id"))
    return found.distinct()
