"""Proves on a live Spark, without headwater, that every case is valid and makes the columns that it describes.

``python -m tests.extract.check_cases [family[/name] ...]``
"""

import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from tests.extract.case_file import Case, cases
from tests.extract.case_run import run
from tests.extract.case_tables import session_of_its_own, spark_for_cases


def fault(case: Case, spark: Any, folder: Path) -> str:
    """The fault of a case, or nothing: an error of Spark's, no output, or other columns than described."""
    folder.mkdir(parents=True)
    try:
        with session_of_its_own(spark) as session:
            found = _columns(case, session, folder)
    except Exception as error:  # whatever a case raises is its fault, and the next one is to be checked
        return f"{type(error).__name__}: {_shortened(str(error))}"
    wanted = [name for name, _ in case.expected.columns]
    same = found == wanted if case.ordered else sorted(found) == sorted(wanted)
    return "" if same else f"makes {found}, describes {wanted}"


def _shortened(message: str) -> str:
    """Both ends: Spark says what is wrong first, Python last."""
    line = " ".join(message.partition("JVM stacktrace:")[0].split())
    return line if len(line) <= 600 else f"{line[:300]} ... {line[-300:]}"


def _columns(case: Case, spark: Any, folder: Path) -> list[str]:
    frame = run(case, spark, folder)
    if frame is not None:
        frame.collect()
        return list(frame.columns)
    if spark.catalog.tableExists(case.output):
        return list(spark.table(case.output).columns)
    if not any((folder / case.output).rglob("part-*")):
        raise FileNotFoundError(f"the case writes no {case.output!r}")
    return _columns_of_files(case, spark, folder / case.output)


def _columns_of_files(case: Case, spark: Any, output: Path) -> list[str]:
    """Files keep no order of columns: those described come first, then any other."""
    described = [name for name, _ in case.expected.columns]
    files = sorted(output.rglob("part-*"))
    if files[0].suffix == ".txt":
        return described
    folders = {part.partition("=")[0] for file in files for part in file.relative_to(output).parts if "=" in part}
    read = spark.read.option("header", True).format(files[0].suffix[1:])
    found = set(read.load(str(output if folders else files[0].parent)).columns)
    return [name for name in described if name in found] + sorted(found - folders.union(described))


def faults(chosen: Sequence[str]) -> Iterator[tuple[Case, str]]:
    """Each case that was asked for (a family, a case, or all) with its fault."""
    import pyspark

    with TemporaryDirectory() as folder, spark_for_cases(Path(folder)) as spark:
        for case in cases():
            wanted = not chosen or case.family in chosen or str(case) in chosen
            if wanted and case.is_for(pyspark.__version__):
                yield case, fault(case, spark, Path(folder, "cases", case.family, case.name))


def main(chosen: Sequence[str]) -> int:
    """The number of cases with a fault; each is printed."""
    checked = wrong = 0
    for case, found in faults(chosen):
        checked += 1
        wrong += bool(found)
        if found:
            print(f"{case}: {found}", flush=True)
    print(f"{checked} cases checked, {wrong} with a fault")
    return min(wrong, 100)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
