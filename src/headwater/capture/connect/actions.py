"""The action of a Connect client's request: the writes among the commands of Spark's protocol (``commands.proto``)."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

_WRITES = re.compile(
    r"\b(insert|create|replace|merge|update|delete|alter|declare|execute|immediate|var|variable|begin)\b", re.IGNORECASE
)
_TEMPORARY = re.compile(r"\s*create\s+(or\s+replace\s+)?((global\s+)?temp(orary)?\b|function\b)", re.IGNORECASE)
_MODES = {1: "Append", 2: "Overwrite", 3: "ErrorIfExists", 4: "Ignore"}
_V2_MODES = {1: "CREATE", 2: "OVERWRITE", 3: "OVERWRITE", 4: "", 5: "REPLACE", 6: "REPLACE"}
_OVERWRITE = 2
_INSERT_INTO = 2
_COMMAND = 2  # Plan.CompressedOperation.OpType.OP_TYPE_COMMAND
_UNREAD = ("pipeline_command", "execute_external_command", "extension")
START_STREAM, END_STREAM = "WriteToStream", "StreamingQuery"
_SINKS = {"console": "ConsoleTable", "memory": "MemorySink", "noop": "NoopTable"}


@dataclass(frozen=True, slots=True)
class Action:
    """One request. ``relation`` is what is read; of a statement in SQL it is the statement.

    ``command`` is the operator that a driver would have had at the root of the plan, ``table`` or ``path`` what is
    written, ``mode`` how; ``partial`` says that an overwrite is of some rows, ``by_position`` that columns go by their
    order. ``format`` and ``partitions`` are those of files, ``sink`` and ``name`` those of a streaming query that
    starts; ``run`` is that of one that the client ends or waits for. ``unread`` names a command whose lineage cannot be
    seen from the client.
    """

    relation: Any = None
    command: str = ""
    table: str = ""
    path: str = ""
    mode: str = ""
    partial: bool = False
    options: Mapping[str, str] | None = None
    by_position: bool = False
    format: str = ""
    partitions: tuple[str, ...] = ()
    sink: str = ""
    name: str = ""
    run: str = ""
    unread: str = ""

    @property
    def statement(self) -> bool:
        """Whether it is a statement in SQL."""
        return self.command == "SQL"


def action(plan: Any) -> Action | None:
    """The action in the plan of a request; None for what writes no dataset."""
    kind = plan.WhichOneof("op_type")
    if kind == "root":
        return Action(plan.root)
    if kind == "compressed_operation":
        return Action(unread="a large request") if plan.compressed_operation.op_type == _COMMAND else None
    if kind != "command":
        return None
    command = plan.command
    name = command.WhichOneof("command_type")
    if name in _UNREAD:
        return Action(unread=name)
    if name == "sql_command":
        return _statement(_query(command.sql_command, type(plan.root)))
    readers = {
        "write_operation": _written,
        "write_operation_v2": _written_v2,
        "merge_into_table_command": _merged,
        "write_stream_operation_start": _streamed,
        "streaming_query_command": _query_ended,
    }
    return readers[name](getattr(command, name)) if name in readers else None


def _written(write: Any) -> Action:
    """``df.write.…save()``, ``saveAsTable``, ``insertInto`` (WriteOperation)."""
    mode = _MODES.get(write.mode, "")
    if write.WhichOneof("save_type") == "table":
        by_position = write.table.save_method == _INSERT_INTO
        name = write.table.table_name
        options = dict(write.options)
        return Action(write.input, "SaveAsV1TableCommand", name, mode=mode, options=options, by_position=by_position)
    options = dict(write.options)
    path = write.path or options.get("path", "")
    of_files = path and write.source.lower() != "delta"
    command = "InsertIntoHadoopFsRelationCommand" if of_files else "SaveIntoDataSourceCommand"
    partitions = tuple(write.partitioning_columns)
    return Action(write.input, command, "", path, mode, options=options, format=write.source, partitions=partitions)


def _written_v2(write: Any) -> Action:
    """``df.writeTo(…)`` (WriteOperationV2)."""
    creates = _V2_MODES.get(write.mode, "") in ("CREATE", "REPLACE")
    mode = "Overwrite" if _V2_MODES.get(write.mode) == "OVERWRITE" else "" if creates else "Append"
    partial = mode == "Overwrite" and not _is_true(write)
    return Action(write.input, "SaveAsV1TableCommand", write.table_name, mode=mode, partial=partial)


def _is_true(write: Any) -> bool:
    """Whether an overwrite has the condition ``lit(True)``: all rows; one of partitions has none."""
    return bool(write.mode == _OVERWRITE and write.overwrite_condition.literal.boolean)


def _streamed(start: Any) -> Action:
    """``df.writeStream.….start()`` (WriteStreamOperationStart)."""
    functions = {"foreach_batch": "ForeachBatchSink", "foreach_writer": "ForeachWriterTable"}
    function = next((sink for field, sink in functions.items() if start.HasField(field)), "")
    return Action(
        start.input,
        START_STREAM,
        start.table_name,
        start.path,
        options={key.lower(): value for key, value in start.options.items()},
        format=start.format,
        partitions=tuple(start.partitioning_column_names),
        sink=function or _SINKS.get(start.format.lower(), "FileStreamSink"),
        name=start.query_name,
    )


def _query_ended(command: Any) -> Action | None:
    """``query.stop()`` and ``query.awaitTermination()``; None for what only looks at one (StreamingQueryCommand)."""
    ends = command.stop or command.HasField("await_termination")
    return Action(command=END_STREAM, run=command.query_id.run_id) if ends else None


def _merged(command: Any) -> Action:
    """``df.mergeInto(…).merge()`` (MergeIntoTableCommand); the relation is the command itself."""
    return Action(command, "MERGE", command.target_table_name)


def _query(command: Any, kind: type[Any]) -> Any:
    """The statement of a SqlCommand as a relation; Spark 3.5 has its text and arguments only."""
    if hasattr(command, "input"):
        return command.input
    found = kind()
    found.sql.query = command.sql
    for name, value in command.args.items():
        found.sql.args[name].CopyFrom(value)
    found.sql.pos_args.extend(command.pos_args)
    return found


def _statement(relation: Any) -> Action | None:
    """``spark.sql(…)`` of a text that may write or fill a variable; temporary views and functions are no datasets."""
    relation = relation.with_relations.root if relation.WhichOneof("rel_type") == "with_relations" else relation
    query = relation.sql.query if relation.WhichOneof("rel_type") == "sql" else ""
    if not _WRITES.search(query) or _TEMPORARY.match(query):
        return None
    return Action(relation, "SQL")
