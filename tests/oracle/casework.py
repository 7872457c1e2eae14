"""Every case of the suites as an experiment."""

import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyspark
from tests.extract.case_file import Case, cases
from tests.extract.case_run import run
from tests.oracle.hunt import Oracle
from tests.oracle.judging import Experiment
from tests.oracle.written import fresh, reads_only_the_tables

NOT_JUDGED = {
    "long/scores": "ntile breaks its ties by the order in which an earlier window left the rows",
    "variables/values": "analysis leaves only the variables' values; a gap says so (docs/limits.md)",
    "positions/csv_table_with_header": "a row of one NULL is an empty line, which readers of CSV leave out",
}
"""Cases in which a column shows without an edge: an order that no order of the input changes, or a reader, decides; or
a gap stands for the edge."""

CREATED = re.compile(r"CREATE TABLE out USING parquet AS\s+")

SAVED = re.compile(r"\.saveAs(?!Table)")


def runnable() -> tuple[Case, ...]:
    """The cases for the Spark that is installed; streams read their input once, and settings are the oracle's own."""
    found = (case for case in cases() if case.is_for(pyspark.__version__))
    return tuple(
        case for case in found if not case.conf and "readStream" not in case.code and "STREAM " not in case.code
    )


def as_frame(case: Case, folder: Path) -> Callable[[Any], Any] | None:
    """How a case makes its DataFrame; a single CREATE TABLE AS SELECT counts as its SELECT; None: it needs files.

    Names with a database are those of tables, never of the views that are live.
    """
    if "_metadata" in case.code or "default." in case.code:
        return None
    if case.frame:
        return lambda session: run(case, session, fresh(folder))
    *before, last = case.statements if not case.python else ("",)
    if not CREATED.match(last) or any(re.match(r"(CREATE TABLE|CREATE VIEW|INSERT|ALTER)", text) for text in before):
        return None
    return lambda session: _selected(replace(case, code=";\n".join(before)), CREATED.sub("", last, 1), session)


def _selected(before: Case, query: str, session: Any) -> Any:
    run(before, session, Path())
    return session.sql(query)


def experiment(case: Case, oracle: Oracle) -> Experiment:
    """The experiment on a case.

    Raises:
        LookupError: the case reads what it wrote itself, and its own lineage does not lead to the three tables; it is
            one of `NOT_JUDGED`; or its files have no format of their own.
    """
    if str(case) in NOT_JUDGED:
        raise LookupError(NOT_JUDGED[str(case)])
    build = as_frame(case, oracle.files.folder / "frames")
    found: Experiment = oracle.clean_experiment(build) if build else oracle.written_experiment(case)
    if SAVED.search(case.code) and not case.frame and tuple(found.lineage.fields) != ("value",):
        raise LookupError("it saves an RDD to files that only their reader knows the format of")
    if not reads_only_the_tables(found.lineage):
        raise LookupError("it reads a table that it wrote itself")
    return found
