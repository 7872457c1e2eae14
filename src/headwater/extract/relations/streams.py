"""The sources of a stream and its target: a query's plan has them as the user named them, not those of a batch."""

from headwater.extract.operators.table import Visitors
from headwater.extract.origins import memory_of
from headwater.extract.relations import naming
from headwater.extract.relations.leaves import constant, leaf
from headwater.extract.relations.positions import streamed_names
from headwater.extract.relations.rdds import remembered
from headwater.extract.scope import Extraction, Rows, attribute
from headwater.model import DatasetDescription
from headwater.openlineage.naming.locations import location_dataset
from headwater.plan import Operator

FOREACH_BATCH = "ForeachBatchSink"
_SHOWN = ("ConsoleTable", FOREACH_BATCH, "MemorySink", "NoopTable")
_NO_DATASET = ("rate", "rate-micro-batch")


def streaming_relation(node: Operator, children: tuple[Rows, ...], extraction: Extraction) -> Rows:
    """``spark.readStream`` by the v1 API: files, a table of the session's catalog, Delta."""
    source = node.facts("dataSource")
    table = naming.table_description(source.get("catalogTable") or {}, extraction)
    topics = naming.kafka_descriptions(source.get("options") or {}, extraction)
    paths = [source["path"]] if source.get("path") else []
    found = (table,) if table else topics or naming.path_descriptions(paths, extraction)
    return leaf(node, found, extraction, streamed_names(node, source))


def streaming_relation_v2(node: Operator, children: tuple[Rows, ...], extraction: Extraction) -> Rows:
    """``spark.readStream`` by the v2 API: Kafka, Iceberg, a data source written in Python."""
    if node.text("sourceName") in _NO_DATASET:
        return constant(node, children, extraction)
    topics = naming.kafka_descriptions(node.facts("extraOptions"), extraction)
    return leaf(node, topics or streamed_table(node.values, extraction), extraction)


def streamed_table(values: naming.Facts, extraction: Extraction) -> tuple[DatasetDescription, ...]:
    """The dataset of a table that a stream reads or writes.

    One that is named by its format (``format("iceberg").load("ice.d.t")``) has no catalog in the plan of a stream: it
    is known by its location.
    """
    table = values.get("table") or {}
    if values.get("identifier") or table.get("paths") or table.get("catalogTable"):
        return naming.v2_descriptions(values, extraction)
    if not table.get("location"):
        return ()
    found = location_dataset(str(table["location"]))
    return (DatasetDescription(found, source=found.namespace),)


def memory_plan(node: Operator, children: tuple[Rows, ...], extraction: Extraction) -> Rows:
    """A table that a stream keeps in memory (``format("memory")``): its rows are the stream's."""
    known = extraction.origin(memory_of(node.facts("sink").get("memory", -1)))
    if known is None:
        return leaf(node, (), extraction)
    return remembered(tuple(map(attribute, node.expressions("output"))), known, extraction)


def kind_of(node: Operator) -> str:
    """The class of the sink, without its package."""
    return str(node.facts("sink").get("class") or node.text("sink")).rpartition(".")[2]


def writes_a_dataset(node: Operator, extraction: Extraction) -> bool:
    """False for a table in memory, the console, and a function: what that does cannot be seen."""
    kind = kind_of(node)
    if kind == "ForeachWriterTable":
        extraction.report("opaque", "foreach", "each row is handed to a function: what it writes cannot be seen")
    return kind not in (*_SHOWN, "ForeachWriterTable")


def sink_target(node: Operator, extraction: Extraction) -> DatasetDescription | None:
    """The dataset that the sink writes to: a table, a topic, a path; None where it cannot be named."""
    sink, found = node.facts("sink"), extraction.session.get("options")
    options = naming.options_with_values(found if isinstance(found, dict) else {})
    table = naming.table_description(node.facts("catalogTable") or sink.get("catalogTable") or {}, extraction)
    if table or sink.get("path"):
        return table or naming.written_path(str(sink["path"]), extraction)
    if options.get("kafka.bootstrap.servers"):
        return naming.kafka_target(options, extraction)
    catalog, identifier = node.values.get("catalogAndIdent") or (None, None)
    tables = streamed_table({"table": sink, "catalog": catalog, "identifier": identifier}, extraction)
    if tables:
        return tables[0]
    return naming.written_path(options["path"], extraction) if options.get("path") else None


OPERATORS: Visitors = {
    "MemoryPlan": memory_plan,
    "StreamingRelation": streaming_relation,
    "StreamingRelationV2": streaming_relation_v2,
}
