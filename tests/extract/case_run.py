"""Runs a case on a Spark session, as a user would."""

from pathlib import Path
from typing import Any

from tests.extract.case_file import Case


def run(case: Case, spark: Any, folder: Path) -> Any:
    """The DataFrame that the case looks at, or None when it writes; ``folder`` is empty and the case's own."""
    for key, value in case.conf:
        spark.conf.set(key, value)
    if case.python:
        return _run_python(case, spark, folder)
    for statement in case.statements:
        spark.sql(statement)
    return None


def _run_python(case: Case, spark: Any, folder: Path) -> Any:
    from pyspark.sql import Window, functions, types

    names = {"spark": spark, "F": functions, "T": types, "Window": Window, "path": str(folder)}
    # Workers get a function of __main__ by value; any other module they would import.
    scope: dict[str, Any] = {"__name__": "__main__", **names}
    exec(compile(case.code, f"{case}.case", "exec"), scope)
    return scope[case.frame] if case.frame else None
