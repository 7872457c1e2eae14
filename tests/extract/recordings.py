"""The plans of all cases as Spark made them, one file per family and version, so that lineage is tested without a JVM.

``python -m tests.extract.recordings [family[/name] ...]`` makes those of the installed Spark anew (``make record``).
"""

import gzip
import json
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from tests.extract.case_file import Case, cases
from tests.extract.case_run import run
from tests.extract.case_tables import session_of_its_own, spark_for_cases
from tests.extract.edge_text import last_component

from headwater.capture.rows import ExecutionRow
from headwater.capture.runs.variables import Assignments
from headwater.extract import ASSIGNMENTS, ExtractSettings, Origins, column_lineage, origin, statement
from headwater.extract.origins import as_json, collected_as
from headwater.model import ColumnLineage, Gap, Output, Statement
from headwater.plan import Plan, decode_document

FOLDER = Path(__file__).resolve().parents[1] / "plans"
VERSIONS = ("3.5", "4.1", "4.3")
DATA = "/data"
_LEFT = ("origin", "json", "collected")

Found = tuple[ColumnLineage, tuple[Gap, ...]]


def lineage(case: Case, document: Mapping[str, Any]) -> Found | None:
    """The lineage and gaps of the output that a case is about; None when the plan does not write it."""
    if case.frame:
        return column_lineage(*_known(document))
    found = statement(*_known(document))
    output = output_of(case, found)
    return (output.lineage, found.gaps) if output else None


def output_of(case: Case, found: Statement) -> Output | None:
    """The output of a statement that a case is about; None when the statement does not write it."""
    return next((output for output in found.outputs if case.output.lower() in _names(output)), None)


def written(document: Mapping[str, Any]) -> Statement:
    """The statement of a recorded plan: what it reads and writes."""
    return statement(*_known(document))


def _known(document: Mapping[str, Any]) -> tuple[Plan, ExtractSettings, Origins]:
    """A recorded plan, and what was known of rows and variables before it."""
    settings, origins = ExtractSettings(), Origins()
    for key, left in document.get("origins", ()):
        kind, number = ("origin", key) if isinstance(key, int) else key
        rows = origin(decode_document(dict(left)), settings, origins)
        known_as = collected_as(number) if kind == "collected" else number
        origins.remember(known_as, as_json(rows) if kind == "json" else rows)
    assign(document.get("assignments", ()), settings, origins)
    return decode_document(dict(document)), settings, origins


def assign(rows: Iterable[tuple[str, Any]], settings: ExtractSettings, origins: Origins) -> None:
    """Remember the variables that the statements before a plan assigned."""
    variables = Assignments(settings, origins)
    for kind, plan in rows:
        variables.take(ExecutionRow(kind, 0, datetime.now(UTC), decode_document(dict(plan))))


def recorded(version: str, case: Case) -> Mapping[str, Any]:
    """The recorded plan of a case.

    Raises:
        KeyError: it was not recorded; ``make record`` does that.
    """
    return _family(version, case.family)[case.name]


def _family(version: str, family: str) -> Mapping[str, Mapping[str, Any]]:
    return read_plans(_file(version, family))


@cache
def read_plans(path: Path) -> Mapping[str, Mapping[str, Any]]:
    """The plans of a file by the names of their cases; none when there is no such file."""
    lines = gzip.decompress(path.read_bytes()).decode().splitlines() if path.exists() else []
    return {line["case"]: line["plan"] for line in map(json.loads, lines)}


class LivePlans:
    """Runs cases on a Spark that is watched, and hands out the plan of what each is about."""

    def __init__(self, spark: Any, folder: Path) -> None:
        from headwater.capture.hooks.boundaries import watch_boundaries
        from headwater.capture.jvm.tap import SparkTap
        from headwater.capture.settings import CaptureSettings

        self._spark = spark
        self._folder = folder
        self._tap = SparkTap(spark.sparkContext, CaptureSettings())
        self._tap.connect()
        watch_boundaries(lambda context: self._tap)

    def plan(self, case: Case) -> Mapping[str, Any]:
        """The plan of a case in the recorded form, the folder it ran in called /data.

        Raises:
            LookupError: nothing that the case did writes its output.
        """
        own = self._folder / "cases" / case.family / case.name
        own.mkdir(parents=True)
        self._rows()
        with session_of_its_own(self._spark) as session:
            frame = run(case, session, own)
            found = [self._read(frame)] if frame is not None else []
            rows = [json.loads(text.replace(str(self._folder), DATA)) for text in self._rows()]
        documents = [json.loads(text.replace(str(self._folder), DATA)) for text in found]
        documents = documents or list(_statements(rows))
        if found and (assignments := _assignments(rows)):
            documents = [document | {"assignments": assignments} for document in documents]
        origins = [(_key(row), row["plan"]) for row in rows if row["kind"] in _LEFT]
        documents = [document | ({"origins": origins} if origins else {}) for document in documents]
        wanted = [document for document in documents if lineage(case, document) is not None]
        if not wanted:
            raise LookupError(f"{case}: none of {len(documents)} plans writes {case.output!r}")
        return wanted[-1]

    def lineage_of(self, frame: Any) -> ColumnLineage:
        """The lineage of a DataFrame that need not run."""
        return column_lineage(self._tap.plan(frame))[0]

    def _read(self, frame: Any) -> str:
        from headwater.capture.rows import unpack

        return unpack(self._tap.read(frame))

    def _rows(self) -> list[str]:
        from headwater.capture.rows import unpack

        self._tap.drain(30_000)
        lines: list[str] = []
        while (reply := self._tap.poll(0)) is not None:
            lines.extend(unpack(reply).split("\n"))
        return lines


def _key(row: Mapping[str, Any]) -> Any:
    return row["id"] if row["kind"] == "origin" else (row["kind"], row["id"])


def _statements(rows: Sequence[Mapping[str, Any]]) -> Iterator[Mapping[str, Any]]:
    """The plans that write, each with the assignments before it."""
    for place, row in enumerate(rows):
        if "plan" in row and row["kind"] not in (*_LEFT, "query"):
            before = _assignments(rows[:place])
            yield row["plan"] | ({"assignments": before} if before else {})


def _assignments(rows: Sequence[Mapping[str, Any]]) -> list[tuple[str, Any]]:
    failed = {row["id"] for row in rows if "failure" in row}
    return [
        ("query" if row["kind"] == "query" else "end", row["plan"])
        for row in rows
        if "plan" in row and row["id"] not in failed and (row["kind"] == "query" or _root(row["plan"]) in ASSIGNMENTS)
    ]


def _root(plan: Mapping[str, Any]) -> str:
    return str(plan["nodes"][-1][0]) if plan["nodes"] else ""


def record(version: str, chosen: Sequence[str]) -> Iterator[tuple[Case, str]]:
    """Write the files of the families asked for (or of all), and yield each case with its fault, if any."""
    wanted = [case for case in cases() if not chosen or case.family in chosen or str(case) in chosen]
    with TemporaryDirectory() as folder, spark_for_cases(Path(folder)) as spark:
        live = LivePlans(spark, Path(folder))
        for family in sorted({case.family for case in wanted}):
            plans = dict(_family(version, family))
            for case in (case for case in wanted if case.family == family and case.is_for(version)):
                try:
                    plans[case.name] = live.plan(case)
                    yield case, ""
                except Exception as error:
                    yield case, f"{type(error).__name__}: {str(error)[:300]}"
            _write(version, family, plans)


def _write(version: str, family: str, plans: Mapping[str, Mapping[str, Any]]) -> None:
    known = {case.name for case in cases() if case.family == family and case.is_for(version)}
    write_plans(_file(version, family), {name: plan for name, plan in plans.items() if name in known})


def write_plans(path: Path, plans: Mapping[str, Mapping[str, Any]]) -> None:
    """Make the file that `read_plans` reads."""
    lines = (_line(name, plan) for name, plan in sorted(plans.items()))
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(gzip.compress("\n".join(lines).encode(), 9, mtime=0))


def _line(name: str, plan: Mapping[str, Any]) -> str:
    return json.dumps({"case": name, "plan": plan}, separators=(",", ":"))


def _file(version: str, family: str) -> Path:
    return FOLDER / version / f"{family}.jsonl.gz"


def _names(output: Output) -> Iterable[str]:
    description = output.description
    datasets = (description.dataset, *(symlink.dataset for symlink in description.symlinks))
    return {last_component(dataset.name).lower() for dataset in datasets}


def main(chosen: Sequence[str]) -> int:
    """Record with the installed Spark; the number of cases that could not be."""
    import pyspark

    version = ".".join(pyspark.__version__.split(".")[:2])
    wrong = 0
    for count, (case, fault) in enumerate(record(version, chosen), start=1):
        wrong += bool(fault)
        print(f"{count} {case} {fault}".rstrip(), flush=True)
    print(f"Spark {version}: {wrong} cases could not be recorded")
    return min(wrong, 100)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
