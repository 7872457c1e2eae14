"""The target of a streaming query, of ``df.writeStream``."""

from headwater.extract.relations import naming
from headwater.extract.relations.streams import streamed_table
from headwater.extract.scope import Extraction
from headwater.model import DatasetDescription
from headwater.plan import Operator

FOREACH_BATCH = "ForeachBatchSink"
_SHOWN = ("ConsoleTable", FOREACH_BATCH, "MemorySink", "NoopTable")


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
