"""The tables that are folded from what events told: all but the events themselves, and lines that are none."""

from pyspark.sql import DataFrame
from pyspark.sql import functions as sf

from headwater.archive import describing, edges, folding
from headwater.archive.keeping import Keep
from headwater.archive.resolving import Resolver
from headwater.archive.staging import Told
from headwater.archive.tables import TABLES

EDGES = ("column_edges", "dataset_edges")


def folded_tables(told: Told, meanings: Resolver, keep: Keep, outputs: DataFrame | None = None) -> dict[str, DataFrame]:
    """The tables by name, made when they are read.

    Args:
        told: what all events told.
        meanings: what names mean in them.
        keep: has Spark keep what several tables are made of.
        outputs: the outputs whose edges are wanted, by ``dataset_id``; of all without it.
    """
    events = told.events
    runs = folding.runs_of(events)
    heard = keep(folding.heard(events, runs, told.shapes, meanings))
    wanted = heard if outputs is None else heard.join(outputs, "dataset_id", "left_semi")
    spans = keep(folding.spans(folding.tellings(wanted)))
    described = keep(describing.described(events, meanings))
    of_lineage = edges.told_fields(heard, told.shapes, meanings)
    fields = keep(describing.fields(described, told.schemas, of_lineage, meanings))
    rows = {
        "runs": describing.runs(runs, events),
        "jobs": describing.jobs(events),
        "datasets": describing.datasets(described, fields, meanings),
        "fields": fields,
        "column_edges": edges.column_edges(spans, told.shapes, meanings),
        "dataset_edges": edges.dataset_edges(spans, told.shapes, meanings),
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


def _with_current(rows: DataFrame) -> DataFrame:
    return rows.withColumn("current", sf.col("until").isNull()) if "until" in rows.columns else rows
