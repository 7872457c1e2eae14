"""Questions to a Spark Connect server, with a limit of time for each answer."""

import re
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from typing import Any

from headwater.capture.connect.functions import SqlFunctions, generated_columns, may_generate, with_literals
from headwater.capture.connect.sources import (
    SCAN,
    VIEW,
    copied,
    data_sources,
    expr_ids,
    facts_by_column,
    has_rows,
    relations,
    source_facts,
    transposed,
    without_schema,
)
from headwater.capture.connect.variables import is_immediate
from headwater.errors import PlanError
from headwater.model.nested_fields import name_parts
from headwater.plan.text import TextFacts, analyzed_plan, tables_of

_WHOLE = {"spark.sql.debug.maxToStringFields": "100000", "spark.sql.maxMetadataStringLength": "100000"}
_CUT = re.compile(r"\.\.\. \d+ more fields|Location: [^\n]*\.\.\.(?=[,\n])")
_METASTORES = ("spark.sql.hive.metastore.uris", "spark.hadoop.hive.metastore.uris", "spark.hive.metastore.uris")
_SETTINGS = threading.Lock()  # who raises settings puts them back before another looks what they were
_UNBOUND = "UNBOUND_SQL_PARAMETER"
_QUERY = re.compile(r"\b(with|select|from)\b", re.IGNORECASE)


class Server:
    """The server of one Connect client; the client's own request makers, its stub, and ``seconds`` for each answer.

    The hooks of the client, its retries and its error texts are not used: what is asked here is no part of the job.
    """

    def __init__(self, client: Any, seconds: float) -> None:
        self._client = client
        self._seconds = seconds
        self._session: Mapping[str, Any] = {}
        self._functions = SqlFunctions(self.sql, self._explained_query)
        self._views: dict[str, tuple[bool, list[Any]]] = {}

    def note(self, plan: Any) -> None:
        """Take note of a request of the client: of what a view reads, of a function that changes."""
        self._functions.note(plan)
        if plan.command.HasField("create_dataframe_view"):
            view = plan.command.create_dataframe_view
            self._views[view.name] = has_rows(view.input), list(map(copied, data_sources(view.input)))

    def explained(self, relation: Any) -> str:
        """The text of EXPLAIN EXTENDED for a relation, which is analyzed and not run."""
        return self._in_full(lambda: self._explain(relation))

    def explained_statement(self, relation: Any) -> str:
        """The text of EXPLAIN EXTENDED for a SQL statement that writes: it must not be analyzed as a relation.

        A server runs a command when it makes a DataFrame of it; below EXPLAIN it only analyzes it.

        Raises:
            PlanError: the statement would run below EXPLAIN too.
        """
        if is_immediate(relation.sql.query):
            raise PlanError("EXECUTE IMMEDIATE is not explained: to analyze it is to run it.")
        explain = type(relation)()
        explain.CopyFrom(relation)
        explain.sql.query = f"EXPLAIN EXTENDED {relation.sql.query}"
        found = self._in_full(lambda: str(self._rows(explain)[0][0]))
        if _UNBOUND in found and (relation.sql.args or relation.sql.pos_args):
            return self.explained_statement(with_literals(relation))
        return found

    def _explained_query(self, text: str) -> str:
        """The text of EXPLAIN EXTENDED for a query of headwater's own."""
        return self._in_full(lambda: str(self.sql(f"EXPLAIN EXTENDED {text}")[0][0]))

    def facts(self, explained: str, relation: Any) -> TextFacts:
        """The facts that the text of a plan lacks: where its tables and files are, and the bodies of SQL functions."""
        text = analyzed_plan(explained)
        tables = {name: table for name in tables_of(text) if (table := self.table(name))}
        sources = facts_by_column(text, explained, self._reads(relation, text))
        of_rows = [view for view, (rows, _) in self._views.items() if rows]
        program = has_rows(relation) or any(VIEW.format(view) in text for view in of_rows)
        found = TextFacts(tables, sources, self.session(), self._functions.bodies(text), program)
        return found.with_transposed([self._transposed(rows) for rows in transposed(relation)])

    def _reads(self, relation: Any, text: str) -> Mapping[str, list[Mapping[str, Any]]]:
        """The facts about the relations without a name, in order: of the request, and of each view in its text."""
        read = {view: sources for view, (_, sources) in self._views.items() if VIEW.format(view) in text}
        read[""] = list(data_sources(relation))
        return {view: list(map(self._source, sources)) for view, sources in read.items()}

    def _transposed(self, rows: Any) -> tuple[str, TextFacts]:
        """The text of a relation whose rows are columns of another, and the facts that it lacks."""
        explained = self.explained(rows)
        return analyzed_plan(explained), self.facts(explained, rows)

    def _source(self, source: Any) -> Mapping[str, Any]:
        """The facts about a relation without a name.

        Files with a header that a request reads with a schema keep their own names: they are those of the same files
        without the schema, of which Spark reads the first line.
        """
        found = source_facts(source)
        if found.pop("recursive", False):
            with suppress(Exception):  # without an answer it is the folder above them
                found["folders"] = self._folders(source)
        if not found.keys() & {"header"}:
            return found
        corrupt = found["corrupt"] or self.conf("spark.sql.columnNameOfCorruptRecord")[0] or "_corrupt_record"
        found = {**found, "corrupt": corrupt}
        if found["header"].lower() == "true" and source.schema:
            plain = self._relation()
            plain.read.data_source.CopyFrom(without_schema(source))
            with suppress(Exception):  # without an answer the names are those of the schema
                return {**found, "names": self.columns(plain)}
        return found

    def _folders(self, source: Any) -> tuple[str, ...]:
        """The folders that the files of a relation are in."""
        request = self._client._analyze_plan_request_with_metadata()
        request.input_files.plan.root.read.data_source.CopyFrom(source)
        return tuple(sorted({file.rpartition("/")[0] for file in self._analyzed(request).input_files.files}))

    def _relation(self) -> Any:
        """An empty relation of the client's protocol."""
        return type(self._client._execute_plan_request_with_metadata().plan.root)()

    def sources_of(self, relation: Any, text: str) -> Mapping[int, Mapping[str, Any]]:
        """The facts of the relations without a name in a statement's plan, which shows no scan: those of its query.

        The query alone has other exprIds, and the same relations in the same order.
        """
        query = relation.sql.query
        begun = _QUERY.search(query)
        if not relations(text) or begun is None or not begun.start():
            return {}
        explain = type(relation)()
        explain.CopyFrom(relation)
        explain.sql.query = query[begun.start() :]
        explained = self.explained_statement(explain)
        inner = analyzed_plan(explained)
        sources = facts_by_column(inner, explained, self._reads(relation, inner))
        pairs = zip(relations(text), relations(inner), strict=True)
        return {
            mine: sources[theirs]
            for here, there in pairs
            for mine in expr_ids(here)
            for theirs in expr_ids(there)
            if theirs in sources
        }

    def table(self, name: str) -> Mapping[str, Any]:
        """A table or view of the catalog as extraction expects it, with its columns' types; empty if there is none."""
        try:
            return _described(self.sql(f"DESCRIBE TABLE EXTENDED {_quoted(name)}"))
        except Exception:
            return {}

    def target(self, name: str) -> Mapping[str, Any]:
        """A table that is written, with the columns that it works out itself."""
        found = self.table(name)
        if found.get("generates"):
            with suppress(Exception):  # what is written has its lineage also without them
                return {**found, "generated": generated_columns(_quoted(name), found["types"], self._explained_query)}
        return found

    def columns(self, relation: Any) -> tuple[str, ...]:
        """The names of the columns of a relation, which is analyzed and not run."""
        request = self._client._analyze_plan_request_with_metadata()
        request.schema.plan.root.CopyFrom(relation)
        return tuple(column.name for column in self._analyzed(request).schema.schema.struct.fields)

    def query_ended(self, query: str, run: str) -> tuple[bool, str | None]:
        """Whether a streaming query has ended, and what it failed with."""
        status = self._query_result(query, run, "status").status
        if status.is_active:
            return False, None
        return True, self._query_result(query, run, "exception").exception.exception_message or None

    def _query_result(self, query: str, run: str, field: str) -> Any:
        request = self._client._execute_plan_request_with_metadata()
        command = request.plan.command.streaming_query_command
        command.query_id.id, command.query_id.run_id = query, run
        setattr(command, field, True)
        for response in self._client._stub.ExecutePlan(request, metadata=self._metadata(), timeout=self._seconds):
            if response.HasField("streaming_query_command_result"):
                return response.streaming_query_command_result
        raise PlanError(f"The server did not answer about the streaming query {query}.")

    def session(self) -> Mapping[str, Any]:
        """The current catalog and database, where the catalog is, and the id of the session, which has variables."""
        if not self._session:
            warehouse, implementation, *metastores = self.conf(
                "spark.sql.warehouse.dir", "spark.sql.catalogImplementation", *_METASTORES
            )
            facts = {
                "warehouse": warehouse,
                "catalogImplementation": implementation,
                "metastore": next(filter(None, metastores), ""),
            }
            facts["id"] = str(self._client._session_id)
            self._session = {name: value for name, value in facts.items() if value}
        ((catalog, database),) = self.sql("SELECT current_catalog(), current_database()")
        return {**self._session, "catalog": catalog, "database": database}

    def conf(self, *keys: str) -> list[str]:
        """The values of configuration keys, empty where there is none."""
        request = self._client._config_request_with_metadata()
        request.operation.get_option.keys.extend(keys)
        found = self._configured(request)
        return [found.get(key, "") for key in keys]

    def version(self) -> str:
        """The version of the server's Spark."""
        request = self._client._analyze_plan_request_with_metadata()
        request.spark_version.SetInParent()
        return str(self._analyzed(request).spark_version.version)

    def sql(self, text: str) -> list[tuple[Any, ...]]:
        """The rows of a query of headwater's own."""
        relation = self._relation()
        relation.sql.query = text
        return self._rows(relation)

    def directory(self, path: str) -> str:
        """A path as the server's file system calls it; as it is where that cannot be found out."""
        if re.match(r"[a-z][\w+.-]*:", path):
            return path
        relation = self._relation()
        relation.read.data_source.format = "binaryFile"  # has its columns without a look at the data
        relation.read.data_source.paths.append(path)
        try:
            found = SCAN.search(self.explained(relation))
            return found["paths"] if found else path
        except Exception:
            return path

    def _explain(self, relation: Any) -> str:
        request = self._client._analyze_plan_request_with_metadata()
        request.explain.plan.root.CopyFrom(relation)
        request.explain.explain_mode = 2  # EXPLAIN_MODE_EXTENDED (spark.connect.AnalyzePlanRequest.Explain)
        return str(self._analyzed(request).explain.explain_string)

    def _in_full(self, ask: Any) -> str:
        """The answer; when it is cut short, once more with settings of the session that are put back at once."""
        text = str(ask())
        if not _CUT.search(text):
            return text
        with _SETTINGS, self._whole_texts():
            return str(ask())

    @contextmanager
    def _whole_texts(self) -> Iterator[None]:
        before = dict(zip(_WHOLE, self.conf(*_WHOLE), strict=True))
        self._set(_WHOLE)
        try:
            yield
        finally:
            self._set({key: value for key, value in before.items() if value})
            request = self._client._config_request_with_metadata()
            request.operation.unset.keys.extend(key for key, value in before.items() if not value)
            self._configured(request)

    def _set(self, values: Mapping[str, str]) -> None:
        request = self._client._config_request_with_metadata()
        for key, value in values.items():
            pair = request.operation.set.pairs.add()
            pair.key, pair.value = key, value
        self._configured(request)

    def _configured(self, request: Any) -> dict[str, str]:
        response = self._client._stub.Config(request, metadata=self._metadata(), timeout=self._seconds)
        return {pair.key: pair.value for pair in response.pairs}

    def _analyzed(self, request: Any) -> Any:
        return self._client._stub.AnalyzePlan(request, metadata=self._metadata(), timeout=self._seconds)

    def _rows(self, relation: Any) -> list[tuple[Any, ...]]:
        from pyarrow import ipc

        request = self._client._execute_plan_request_with_metadata()
        request.plan.root.CopyFrom(relation)
        found: list[tuple[Any, ...]] = []
        for response in self._client._stub.ExecutePlan(request, metadata=self._metadata(), timeout=self._seconds):
            if response.HasField("arrow_batch"):
                with ipc.open_stream(response.arrow_batch.data) as reader:
                    found += (tuple(row.values()) for batch in reader for row in batch.to_pylist())
        return found

    def _metadata(self) -> Any:
        return self._client._builder.metadata()


def _quoted(name: str) -> str:
    return ".".join(f"`{part.replace('`', '``')}`" for part in name_parts(name))


def _described(rows: list[tuple[Any, ...]]) -> Mapping[str, Any]:
    """The rows of DESCRIBE TABLE EXTENDED: columns, an empty line, partitions if there are any, details."""
    types: dict[str, str] = {}
    details: dict[str, str] = {}
    partitions: dict[str, str] = {}
    into = types
    for name, value, *_ in rows:
        if not name or name.startswith("#"):
            into = partitions if name in ("# Partition Information", "# col_name") else details
        else:
            into.setdefault(name, str(value))
    identifier = tuple(details[key] for key in ("Catalog", "Database", "Table") if key in details)
    identifier = identifier or name_parts(details.get("Name", ""))  # a table of the v2 API
    found = {"identifier": identifier, "location": details.get("Location", ""), "provider": details.get("Provider", "")}
    header = re.search(r"(?i)\bheader=(\w+)", details.get("Storage Properties", ""))
    files = {"partitions": tuple(partitions), "header": header[1] if header else ""}
    generates = may_generate(details.get("Table Properties", ""))
    facts = {**{key: value for key, value in (found | files).items() if value}, "types": types}
    return {**facts, "generates": True} if generates else facts
