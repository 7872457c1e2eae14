"""Texts in which a real Spark Connect server explained every case, so that reading them is tested without one.

``python -m tests.capture.connect.recordings sc://host:port [family[/name] ...]`` makes them anew; the server must be
able to write to the folder in which the program runs. A case that uses what Spark Connect does not have is left out.
``formats`` before them makes those of statements that change rows, of a server with Delta and Iceberg.
"""

import gzip
import json
import os
import re
import sys
from collections.abc import Iterator, Mapping, Sequence, Set
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from tests.extract.case_file import Case, cases
from tests.extract.case_run import run
from tests.extract.case_tables import SETTINGS, TABLES
from tests.extract.edge_text import last_component

from headwater.capture.connect.actions import Action, action
from headwater.capture.connect.plans import ExplainedPlan, explained_plan
from headwater.capture.connect.server import Server
from headwater.capture.rows import ExecutionRow
from headwater.capture.runs.variables import Assignments
from headwater.extract import ASSIGNMENTS, ExtractSettings, Origins, column_lineage, statement
from headwater.model import ColumnLineage, Gap
from headwater.plan.text import TextFacts

FILE = Path(__file__).parent / "explained.jsonl.gz"
OF_FORMATS = Path(__file__).parent / "formats.jsonl.gz"
OF_INTEREST = re.compile(r"(?i)\b(merge|update|delete|generated)\b")


def lineage(case: Case, recorded: Mapping[str, Any]) -> tuple[ColumnLineage, tuple[Gap, ...]] | None:
    """The lineage of the output of a case, from the recorded plans; None when nothing writes it."""
    plan, origins = explained(recorded).plan(), Origins()
    variables = Assignments(ExtractSettings(), origins)
    for one in recorded.get("assignments", ()):
        variables.take(ExecutionRow("end", 0, datetime.now(UTC), explained(one).plan()))
    if case.frame:
        return column_lineage(plan, ExtractSettings(), origins)
    found = statement(plan, ExtractSettings(), origins)
    for output in found.outputs:
        description = output.description
        datasets = (description.dataset, *(symlink.dataset for symlink in description.symlinks))
        if case.output.lower() in {last_component(dataset.name).lower() for dataset in datasets}:
            return output.lineage, found.gaps
    return None


def format_cases() -> tuple[Case, ...]:
    """The cases of Delta and Iceberg whose statements change rows, or write what others are generated from."""
    found = cases(Path(__file__).parents[2] / "formats" / "cases")
    return tuple(case for case in found if case.family in ("delta", "iceberg") and OF_INTEREST.search(case.code))


@cache
def recordings(file: Path = FILE) -> Mapping[str, Mapping[str, Any]]:
    """The explained plans by case; ``failed`` instead where the case does not run there."""
    lines = gzip.decompress(file.read_bytes()).decode().splitlines() if file.exists() else []
    return {line.pop("case"): line for line in map(json.loads, lines)}


def explained(recorded: Mapping[str, Any]) -> ExplainedPlan:
    """The explained plan of a document."""
    sources = {int(key): value for key, value in recorded["sources"].items()}
    functions, program = recorded.get("functions", {}), recorded.get("program", False)
    transposed = tuple(recorded.get("transposed", ()))
    facts = TextFacts(recorded["tables"], sources, recorded["session"], functions, program, transposed)
    more = tuple(map(explained, recorded.get("more", ())))
    return ExplainedPlan(recorded["text"], facts, recorded["command"], recorded["target"], more)


def _document(found: ExplainedPlan) -> dict[str, Any]:
    facts = found.facts
    parts = {"tables": facts.tables, "sources": facts.sources, "session": facts.session}
    more: dict[str, Any] = {"more": [_document(part) for part in found.more]} if found.more else {}
    more |= {"functions": facts.functions} if facts.functions else {}
    more |= {"program": True} if facts.program else {}
    more |= {"transposed": facts.transposed} if facts.transposed else {}
    return {"text": found.text, **parts, "command": found.command, "target": found.target, **more}


class _Recorder:
    """Runs cases on a server, each in a session of its own, and asks it about each of their actions."""

    def __init__(self, url: str, folder: Path) -> None:
        self._url = url
        self._folder = folder
        self._sessions: list[Any] = []  # one that is let go of closes itself, in the middle of gRPC's work

    def session(self) -> Any:
        from pyspark.sql.connect.session import SparkSession

        session = SparkSession.builder.remote(self._url).create()
        self._sessions.append(session)
        for key, value in SETTINGS.items():
            if key.startswith("spark.sql."):
                session.conf.set(key, value)
        return session

    def explained(self, case: Case) -> dict[str, Any]:
        """The plan of the case as the server explains it.

        Raises:
            LookupError: nothing that the case did writes its output.
        """
        session = self.session()
        own = self._folder / case.family / case.name
        own.mkdir(parents=True)
        found: list[dict[str, Any]] = []
        assignments: list[dict[str, Any]] = []
        server = Server(session.client, 120.0)
        iterate = session.client._execute_and_fetch_as_iterator

        def watched(request: Any, *args: Any, **kwargs: Any) -> Iterator[Any]:
            yield from iterate(request, *args, **kwargs)
            server.note(request.plan)
            selected = action(request.plan)
            if selected is not None and selected.command:
                answer = explained_plan(selected, server)
                if (root := answer.plan().root) is not None and root.name in ASSIGNMENTS:
                    assignments.append(_document(answer))
                else:
                    before = {"assignments": list(assignments)} if assignments else {}
                    found.append(_document(answer) | before)

        session.client._execute_and_fetch_as_iterator = watched
        frame = run(case, session, own)
        if frame is not None:
            relation = frame._plan.to_proto(session.client).root
            found = [_document(explained_plan(Action(relation), server))]
        wanted = [document for document in found if lineage(case, document) is not None]
        if not wanted:
            raise LookupError(f"none of {len(found)} actions writes {case.output!r}")
        _drop_all_but_the_tables(session)
        text = json.dumps(wanted[-1]).replace(str(self._folder), "/data").replace(session.client._session_id, "s")
        return json.loads(text)  # type: ignore[no-any-return]


def _drop_all_but_the_tables(session: Any) -> None:
    if session.conf.get("spark.sql.catalog.ice.type", ""):
        session.sql("CREATE DATABASE IF NOT EXISTS ice.d")
        for table in session.sql("SHOW TABLES IN ice.d").collect():
            session.sql(f"DROP TABLE ice.d.{table.tableName} PURGE")
    for table in session.catalog.listTables("default"):
        if table.name not in TABLES and not table.isTemporary:
            kind = "VIEW" if table.tableType == "VIEW" else "TABLE"
            session.sql(f"DROP {kind} IF EXISTS default.`{table.name}`")


def main(arguments: Sequence[str]) -> int:
    """Record; print what could not be."""
    os.environ["SPARK_CONNECT_MODE_ENABLED"] = "1"  # pyspark.sql.functions are then those of Spark Connect
    url, *selected = arguments
    of_formats = selected[:1] == ["formats"]
    file, chosen = (OF_FORMATS, format_cases()) if of_formats else (FILE, cases())
    selected = selected[1:] if of_formats else selected
    found = dict(recordings(file))
    with TemporaryDirectory(dir=".") as folder:
        recorder = _Recorder(url, Path(folder).absolute())
        first = recorder.session()
        _drop_all_but_the_tables(first)
        for name, query in TABLES.items():
            first.sql(f"CREATE TABLE IF NOT EXISTS {name} USING parquet AS {query}")
        for case in chosen:
            if selected and case.family not in selected and str(case) not in selected:
                continue
            try:
                found[str(case)] = recorder.explained(case)
            except Exception as error:
                found[str(case)] = {"failed": f"{type(error).__name__}: {str(error).partition(chr(10))[0][:200]}"}
                print(case, found[str(case)]["failed"], flush=True)
                _drop_all_but_the_tables(recorder.session())
            _write(file, found, {str(case) for case in chosen})
    return 0


def _write(file: Path, found: Mapping[str, Mapping[str, Any]], known: Set[str]) -> None:
    lines = (json.dumps({"case": name, **line}) for name, line in sorted(found.items()) if name in known)
    file.write_bytes(gzip.compress("\n".join(lines).encode(), 9, mtime=0))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
