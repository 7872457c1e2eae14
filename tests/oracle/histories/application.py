"""Runs histories once under ``headwater run``: ``application.py PLAN``, a JSON file.

The plan has ``folder``, ``conf`` and ``jobs``, the jobs of each history by its tag; ``ran.json`` in the folder is what
each raised.
"""

import json
import sys
from pathlib import Path
from typing import Any

from tests.extract.case_tables import spark_for_cases
from tests.oracle.histories.running import work
from tests.oracle.rows import TABLES


def main() -> None:
    """Run all histories of the plan."""
    plan = json.loads(Path(sys.argv[1]).read_text())
    folder = Path(plan["folder"])
    with spark_for_cases(folder, plan["conf"]) as spark:
        for name, table in TABLES.items():
            spark.sql(f"INSERT OVERWRITE {name} {table.query} LIMIT {len(table.rows)}")
        ran = {tag: _attempt(spark, jobs, tag, folder / tag) for tag, jobs in plan["jobs"].items()}
    (folder / "ran.json").write_text(json.dumps(ran))


def _attempt(spark: Any, jobs: list[str], tag: str, folder: Path) -> str:
    try:
        work(spark, tuple(jobs), tag, folder)
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    return ""


if __name__ == "__main__":
    main()
