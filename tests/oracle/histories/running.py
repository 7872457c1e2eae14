"""Runs the jobs of a history, one session after the other."""

from pathlib import Path
from typing import Any

from tests.extract.case_tables import active


def work(spark: Any, jobs: tuple[str, ...], tag: str, folder: Path) -> None:
    """Run the jobs, each in a session of its own; the last writes ``out`` in the folder."""
    from pyspark.sql import Window, functions, types

    for job in jobs:
        session = spark.newSession()
        names = {"spark": session, "F": functions, "T": types, "Window": Window, "folder": str(folder), "tag": tag}
        with active(session):  # workers get a function of __main__ by value
            exec(compile(job, "job", "exec"), {"__name__": "__main__", **names})
