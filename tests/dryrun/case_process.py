"""Run cases in a dry run: ``python -m tests.dryrun.case_process FOLDER [CASE…]`` prints what each lacks as JSON.

A process of its own, since what a dry run puts into PySpark and into its JVM stays there. The cases are those of
``tests/cases``, or with ``lake`` in place of the first case those of Delta and Iceberg.
"""

import json
import sys
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Protocol

import pyspark
from tests.extract.case_file import Case, cases, difference
from tests.extract.case_tables import spark_for_cases
from tests.extract.recordings import LivePlans, lineage
from tests.formats.formats import cases_of, running_formats

from headwater.dryrun.actions import Actions
from headwater.dryrun.files import Files
from headwater.dryrun.report import Findings
from headwater.dryrun.sandbox import sandbox


class Plans(Protocol):
    """Runs cases and returns the plan of what each is about."""

    def plan(self, case: Case) -> Mapping[str, Any]: ...


def fault(case: Case, live: Plans) -> str:
    """The difference between the edges of a case and those of its dry run; empty when there is none."""
    try:
        found = lineage(case, live.plan(case))
    except Exception as error:
        return f"{type(error).__name__}: {str(error)[:300]}"
    return "no lineage" if found is None else difference(case, *found)


@contextmanager
def plans(folder: Path) -> Iterator[Plans]:
    with spark_for_cases(folder) as spark:
        yield LivePlans(spark, folder)


def main() -> None:
    """Print the faults of the cases that the command line names."""
    warnings.simplefilter("ignore")
    folder, *chosen = Path(sys.argv[1]), *sys.argv[2:]
    data = folder / "data"
    data.mkdir()
    of_lake = chosen[:1] == ["lake"]
    every = cases_of("lake") if of_lake else cases()
    sandbox(folder / "dry")
    Actions(Findings(), {}).start()
    Files(Findings(), {}).start()
    with running_formats("lake", data) if of_lake else plans(data) as live:
        for case in every:
            if case.is_for(pyspark.__version__) and (not chosen[of_lake:] or str(case) in chosen):
                print(json.dumps([str(case), fault(case, live)]), flush=True)


if __name__ == "__main__":
    main()
