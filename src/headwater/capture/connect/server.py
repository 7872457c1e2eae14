"""Questions to a Spark Connect server, with a limit of time for each answer."""

import re
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from typing import Any

from headwater.capture.connect.actions import has_rows, reads
from headwater.capture.connect.functions import SqlFunctions, generated_columns, may_generate, with_literals
from headwater.capture.connect.variables import is_immediate
from headwater.errors import PlanError
from headwater.model.nested_names import name_parts
from headwater.plan.text import TextFacts, analyzed_plan, schema_types, tables_of

_WHOLE = {"spark.sql.debug.maxToStringFields": "100000", "spark.sql.maxMetadataStringLength": "100000"}
_CUT = re.compile(r"\.\.\. \d+ more fields|Location: [^\n]*\.\.\.(?=[,\n])")
_METASTORES = ("spark.sql.hive.metastore.uris", "spark.hadoop.hive.metastore.uris", "spark.hive.metastore.uris")
_SETTINGS = threading.Lock()  # who raises settings puts them back before another looks what they were
_UNBOUND = "UNBOUND_SQL_PARAMETER"
_QUERY = re.compile(r"\b(with|select|from)\b", re.IGNORECASE)
_SCAN = re.compile(
    r"FileScan \w+ (?P<table>[^\[\n]*)\[(?P<columns>[^\n]*?)\] [^\n]*Location: \w+\(\d+ paths\)\[(?P<paths>[^\]\n]*)"
    r"(?:[^\n]*ReadSchema: struct<(?P<schema>[^\n]*)>)?"
)


class Server:
    """The server of one Connect client; the client's own request makers, its stub, and ``seconds`` for each answer.

    The hooks of the client, its retries and its error texts are not used: what is asked here is no part of the job.
    """

    def __init__(self, client: Any, seconds: float) -> None:
        self._client = client
        self._seconds = seconds
        self._session: Mapping[str, Any] = {}
        self._functions = SqlFunctions(self.sql, self._explained_query)
        self._views: set[str] = set()

    def note(self, plan: Any) -> None:
        """Take note of a request of the client: of a view over rows of the program, of a function that changes."""
        self._functions.note(plan)
        if plan.command.HasField("create_dataframe_view") and has_rows(plan.command.create_dataframe_view.input):
            self._views.add(plan.command.create_dataframe_view.name)

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
        sources = dict(_sources(text, explained, list(reads(relation))))
        program = has_rows(relation) or any(f"View (`{view}`" in text for view in self._views)
        return TextFacts(tables, sources, self.session(), self._functions.bodies(text), program)

    def sources_of(self, relation: Any, text: str) -> Mapping[int, Mapping[str, Any]]:
        """The facts of the relations without a name in a statement's plan, which shows no scan: those of its query.

        The query alone has other exprIds, and the same relations in the same order.
        """
        query = relation.sql.query
        begun = _QUERY.search(query)
        if not _relations(text) or begun is None or not begun.start():
            return {}
        explain = type(relation)()
        explain.CopyFrom(relation)
        explain.sql.query = query[begun.start() :]
        explained = self.explained_statement(explain)
        inner = analyzed_plan(explained)
        sources = dict(_sources(inner, explained, []))
        pairs = zip(_relations(text), _relations(inner), strict=True)
        return {
            mine: sources[theirs]
            for here, there in pairs
            for mine in _ids(here)
            for theirs in _ids(there)
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
        relation = type(self._client._execute_plan_request_with_metadata().plan.root)()
        relation.sql.query = text
        return self._rows(relation)

    def directory(self, path: str) -> str:
        """A path as the server's file system calls it; as it is where that cannot be found out."""
        if re.match(r"[a-z][\w+.-]*:", path):
            return path
        relation = type(self._client._execute_plan_request_with_metadata().plan.root)()
        relation.read.data_source.format = "binaryFile"  # has its columns without a look at the data
        relation.read.data_source.paths.append(path)
        try:
            found = _SCAN.search(self.explained(relation))
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
    """The rows of DESCRIBE TABLE EXTENDED: columns, an empty line, details."""
    types: dict[str, str] = {}
    details: dict[str, str] = {}
    into = types
    for name, value, *_ in rows:
        if not name or name.startswith("#"):
            into = details
        else:
            into.setdefault(name, str(value))
    identifier = tuple(details[key] for key in ("Catalog", "Database", "Table") if key in details)
    identifier = identifier or name_parts(details.get("Name", ""))  # a table of the v2 API
    found = {"identifier": identifier, "location": details.get("Location", ""), "provider": details.get("Provider", "")}
    generates = may_generate(details.get("Table Properties", ""))
    facts = {**{key: value for key, value in found.items() if value}, "types": types}
    return {**facts, "generates": True} if generates else facts


def _sources(text: str, explained: str, reads: list[Mapping[str, Any]]) -> Iterator[tuple[int, Mapping[str, Any]]]:
    """The facts of the relations without a name, by the exprIds of their columns.

    Files are named by the scans of the physical plan, which have the same exprIds; what was pruned to no column, and
    what is no file, by the reads of the request, where there are as many.
    """
    scanned: set[int] = set()
    for scan in _SCAN.finditer(explained):
        paths = tuple(path.strip() for path in scan["paths"].split(", "))
        types = schema_types(scan["schema"] or "")
        facts = {"paths": paths, "types": types} if types else {"paths": paths}
        scanned.update(_ids(scan["columns"]))
        yield from ((expr_id, facts) for expr_id in _ids(scan["columns"]))
    relations = _relations(text)
    if len(relations) == len(reads):
        for columns, read in zip(relations, reads, strict=True):
            if "url" in read or scanned.isdisjoint(_ids(columns)):
                yield from ((expr_id, read) for expr_id in _ids(columns))


def _relations(text: str) -> list[str]:
    """The columns of each relation without a name."""
    return re.findall(r"(?m)^[ :]*(?:[+:]- )?Relation \[([^\n]*)\]", text)


def _ids(columns: str) -> list[int]:
    return [int(found) for found in re.findall(r"#(\d+)", columns)]
