"""The tables that are folded from what events told: all but the events themselves, and lines that are none."""

from collections.abc import Mapping
from typing import NamedTuple

from pyspark.sql import DataFrame
from pyspark.sql import functions as sf

from headwater.archive import describing, edges, folding
from headwater.archive.keeping import Keep
from headwater.archive.resolving import Resolver
from headwater.archive.staging import Told
from headwater.archive.tables import TABLES

EDGES = ("column_edges", "dataset_edges")


class Parts(NamedTuple):
    """Parts that several tables share: runs, the lineage of them that counts, descriptions of datasets, and fields."""

    runs: DataFrame
    heard: DataFrame
    described: DataFrame
    fields: DataFrame


def parts_of(told: Told, meanings: Resolver, keep: Keep) -> Parts:
    """Make the parts of the tables that `folded_tables` folds; its arguments are the same."""
    runs = folding.runs_of(told.events)
    heard = keep(folding.heard(told.events, runs, told.shapes, meanings))
    described = keep(describing.described(told.events, meanings))
    of_lineage = edges.told_fields(heard, told.shapes, meanings)
    return Parts(runs, heard, described, keep(describing.fields(described, told.schemas, of_lineage, meanings)))


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
    runs, heard, described, fields = parts
    wanted = heard if outputs is None else heard.join(outputs, "dataset_id", "left_semi")
    spans = keep(folding.spans(folding.tellings(wanted)))
    rows = {
        "runs": describing.runs(runs, events),
        "jobs": describing.jobs(events),
        "datasets": describing.datasets(described, fields, meanings),
        "fields": fields,
        "column_edges": edges.with_spellings(edges.column_edges(spans, told.shapes, meanings), fields, "", "input_"),
        "dataset_edges": edges.with_spellings(edges.dataset_edges(spans, told.shapes, meanings), fields, "input_"),
        "coverage": describing.coverage(events, runs),
    }
    return {name: TABLES[name].made_of(_with_current(frame)) for name, frame in rows.items()}


def events_table(told: Told) -> DataFrame:
    """The table ``events``, of events with their texts."""
    return TABLES["events"].made_of(describing.events(told.events))


def quarantine_table(read: DataFrame) -> DataFrame:
    """The table ``quarantine``, of what was read."""
    return TABLES["quarantine"].made_of(describing.quarantine(read))


def outputs_of(told: Told, some: DataFrame, meanings: Resolver) -> DataFrame:
    """The outputs, by ``dataset_id``, that any run tells of which has one of some events."""
    runs = some.select("run").distinct()
    named = told.events.join(runs, "run", "left_semi").select("at", sf.explode("told").alias("one"))
    return meanings.datasets(named.select("at", "one.*"), "at").select("dataset_id").distinct()


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
