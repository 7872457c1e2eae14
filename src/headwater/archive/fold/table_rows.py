"""The tables that are folded from what events told: all but the events themselves, and lines that are none."""

from collections.abc import Mapping
from typing import NamedTuple

from pyspark.sql import DataFrame
from pyspark.sql import functions as sf

from headwater.archive.cache import Keep
from headwater.archive.events.parsed_events import Told
from headwater.archive.fold import descriptions, edges, replacements, restorations, run_lineage
from headwater.archive.names.resolver import Resolver
from headwater.archive.tables import EDGES, TABLES


class Parts(NamedTuple):
    """Parts that several tables share.

    These are the runs, the lineage of them that counts, descriptions of datasets, fields, and the replacements of all
    rows of a dataset.
    """

    runs: DataFrame
    heard: DataFrame
    described: DataFrame
    fields: DataFrame
    replacements: DataFrame


def parts_of(told: Told, meanings: Resolver, keep: Keep, *, believe_overwrite: bool) -> Parts:
    """Make the parts of the tables that `folded_tables` folds; its arguments are the same.

    ``believe_overwrite`` is as `headwater.archive.fold.replacements.replacements` takes it.
    """
    runs = run_lineage.runs_of(told.events)
    heard = keep(run_lineage.heard(told.events, runs, told.shapes, meanings))
    described = keep(descriptions.described(told.events, meanings))
    of_lineage = edges.told_fields(heard, told.shapes, meanings)
    fields = keep(descriptions.fields(described, told.schemas, of_lineage, meanings))
    replaced = replacements.replacements(described, runs, believe_overwrite=believe_overwrite)
    heard, replaced = restorations.with_restored(heard, replaced, described, runs)
    return Parts(runs, heard, described, fields, replaced)


def folded_tables(
    told: Told, meanings: Resolver, keep: Keep, parts: Parts, outputs: DataFrame | None = None
) -> dict[str, DataFrame]:
    """The tables by name, made when they are read.

    Args:
        told: what all events told.
        meanings: what names mean in them.
        keep: has Spark keep what several tables are made of.
        parts: what `parts_of` makes of these.
        outputs: the outputs whose edges are wanted, by ``dataset_id``; of all without it.
    """
    events = told.events
    runs, heard, described, fields, replaced = parts
    if outputs is not None:
        heard, replaced = (frame.join(outputs, "dataset_id", "left_semi") for frame in (heard, replaced))
    spans = keep(run_lineage.spans(replacements.with_ends(run_lineage.tellings(heard), replaced)))
    rows = {
        "runs": descriptions.runs(runs, events),
        "jobs": descriptions.jobs(events),
        "datasets": descriptions.datasets(described, fields, meanings),
        "fields": replacements.with_left_out(fields, parts.replacements),
        "column_edges": edges.with_spellings(edges.column_edges(spans, told.shapes, meanings), fields, "", "input_"),
        "dataset_edges": edges.with_spellings(edges.dataset_edges(spans, told.shapes, meanings), fields, "input_"),
        "coverage": descriptions.coverage(events, runs),
    }
    return {name: TABLES[name].made_of(_with_current(frame)) for name, frame in rows.items()}


def events_table(told: Told) -> DataFrame:
    """The table ``events``, of events with their texts."""
    return TABLES["events"].made_of(descriptions.events(told.events))


def quarantine_table(read: DataFrame) -> DataFrame:
    """The table ``quarantine``, of what was read."""
    return TABLES["quarantine"].made_of(descriptions.quarantine(read))


def outputs_of(told: Told, some: DataFrame, meanings: Resolver) -> DataFrame:
    """The outputs, by ``dataset_id``, that any run tells of or may replace which has one of some events."""
    runs = some.select("run").distinct()
    events = told.events.join(runs, "run", "left_semi")
    told_of = events.select("at", sf.explode("told").alias("one")).select("at", "one.namespace", "one.name")
    seen = events.select(sf.explode("datasets").alias("one")).where("one.replaces IS NOT NULL")
    named = told_of.union(seen.select("one.at", "one.namespace", "one.name"))
    return meanings.datasets(named, "at").select("dataset_id").distinct()


def respelled_outputs(fields: DataFrame, before: Mapping[str, DataFrame]) -> DataFrame:
    """The outputs, by ``dataset_id``, of which an edge begins or ends at a field that is spelled otherwise now.

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


def _with_current(rows: DataFrame) -> DataFrame:
    return rows.withColumn("current", sf.col("until").isNull()) if "until" in rows.columns else rows
