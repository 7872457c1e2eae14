"""``make others``: unmodified software of others, with headwater and without: equal results, and the right lineage.

``python -m tests.others [NAME ...]``; NAME is one of the projects below. Each runs twice in a folder of its own. What
it wrote must be equal row by row, and its lineage must be the text in ``expected/NAME.lineage``, which a person
read. ``--accept`` writes that text anew. Of a library with a test suite each test must end as it does without
headwater.
"""

import argparse
import json
import re
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from difflib import unified_diff
from pathlib import Path

import pyarrow.parquet as pq
from tests.class_archive import ROOT
from tests.others import programs
from tests.others.suites import IN_CHECKOUTS, SUITES, compared
from tests.sources.event_text import event_text

HERE = Path(__file__).resolve().parent
DBT = ("-m", "dbt.cli.main")
DBT_PLACES = ("--project-dir", str(HERE / "dbt"), "--profiles-dir", str(HERE / "dbt"), "--target-path", "target")
SQLMESH = (str(ROOT / ".venv-sqlmesh" / "bin" / "sqlmesh"), "--paths", str(HERE / "sqlmesh"), "--log-file-dir", "logs")

PROJECTS: Mapping[str, tuple[tuple[str, ...], ...]] = {
    "dbt": tuple((*DBT, step, *DBT_PLACES, "--log-path", "logs") for step in ("seed", "run", "run")),
    "splink": ((str(HERE / "jobs" / "deduplicate.py"), "."),),
    "quinn": ((str(HERE / "jobs" / "quinned.py"), "."),),
    "pandas": ((str(HERE / "jobs" / "panda.py"), "."),),
    "mack": ((str(HERE / "jobs" / "macked.py"), "."),),
    "ibis": ((str(HERE / "jobs" / "ibised.py"), "."),),
    "kedro": ((str(HERE / "jobs" / "kedroed.py"), "."),),
    "great-expectations": ((str(HERE / "jobs" / "validated.py"), "."),),
    "mlflow": ((str(HERE / "jobs" / "tracked.py"), "."),),
    "sedona": ((str(HERE / "jobs" / "mapped.py"), "."),),
    "spark-sql": ((str(HERE / "jobs" / "examples.py"), ".", "sql"),),
    "spark-ml": ((str(HERE / "jobs" / "examples.py"), ".", "ml"),),
    "spark-streams": ((str(HERE / "jobs" / "examples.py"), ".", "sql/streaming", "streaming"),),
    "sqlmesh": (
        (*SQLMESH, "plan", "--auto-apply", "--no-prompts", "--execution-time", "2026-03-04"),
        (*SQLMESH, "run"),
    ),
}
"""The arguments of Python, one run after the other, for each project."""

ENVIRONMENTS = {"sedona": ".venv-sedona", "sqlmesh": ".venv-sqlmesh"}
"""The environment of a project whose requirements are not those of the others."""

ON_REQUEST = ("datacompy", "narwhals", *IN_CHECKOUTS)
"""They run only when they are named: they take long, or need a checkout."""

CHANGING = (
    (re.compile(r"checkpoints/[-0-9a-f]{36}"), "checkpoints/{run}"),
    (re.compile(r"(__splink__\w+?)_[0-9a-f]{9}\b"), r"\1"),
    (re.compile(r"\b([A-Z]\w+)_[0-9a-f]{12}\b"), r"\1"),
    (re.compile(r"passing/tmp\w{8}\b"), "passing/{temporary}"),
    (re.compile(r"kafka://127.0.0.1:\d+"), "kafka://{broker}"),
)
"""Names that are others at each run: of checkpoints, Splink's tables, MLlib's models, temporary files and a broker."""

TIMES = (
    (re.compile(r"^Batch: \d+$", re.M), "Batch: {number}"),
    (re.compile(r"\d{4}-\d\d-\d\d \d\d:\d\d:[\d.]+"), "{time}"),
    (re.compile(r"\b\d{10}\b"), "{seconds}"),
)
"""Which batch of a stream has a row is a matter of time, and so is how often an example prints the state so far."""

UNORDERED = ("ml-min_hash_lsh_example.txt",)
"""Examples that print in an order that changes from run to run, without headwater too."""


def run(name: str, folder: Path, *, watched: bool) -> float:
    """Run a project in a folder, which is made for it; the seconds that it took.

    Raises:
        SystemExit: it failed; the message has the end of its output.
    """
    folder.mkdir()
    events = folder / "events.ndjson" if watched else None
    environment = ENVIRONMENTS.get(name, "")
    return sum(
        programs.run(arguments, folder, folder / "log.txt", events, environment=environment)
        for arguments in PROJECTS[name]
    )


def results(folder: Path) -> dict[str, list[str]]:
    """The rows of every dataset that a run left, in any order, and what it printed; intermediate ones are left out."""
    found_at = (path for path in folder.rglob("*.parquet") if path.is_file())
    files = [path for path in found_at if not {"checkpoints", "passing"} & {*path.parts}]
    found: dict[str, list[str]] = {}
    printed: dict[str, list[str]] = {}
    for path in files:
        dataset = str(path.parent.relative_to(folder))
        found.setdefault(dataset, []).extend(map(str, pq.ParquetFile(path).read().to_pylist()))
    for path in folder.glob("printed/*.txt"):
        text = repeatable(path.read_text(encoding="utf-8"), folder)
        if path.name.startswith("streaming-"):
            printed[path.name] = sorted({*replaced(text, TIMES).splitlines()})
        else:
            printed[path.name] = sorted(text.splitlines()) if path.name in UNORDERED else text.splitlines()
    return {dataset: sorted(rows) for dataset, rows in found.items()} | printed


def story(folder: Path) -> str:
    """The lineage of a run as text, without names that are others at each run."""
    lines = (folder / "events.ndjson").read_text(encoding="utf-8").splitlines()
    return repeatable(event_text(map(json.loads, lines)), folder) + "\n"


def repeatable(text: str, folder: Path) -> str:
    """A text of a run in a folder, without names that are others at each run."""
    return replaced(text.replace(str(folder), "{folder}"), CHANGING)


def replaced(text: str, patterns: Sequence[tuple[re.Pattern[str], str]]) -> str:
    """A text with each match of a pattern replaced by what stands beside it."""
    for pattern, instead in patterns:
        text = pattern.sub(instead, text)
    return text


def faults(name: str, folder: Path, *, accept: bool) -> Iterator[str]:
    """Whatever is not as it must be with a project that has run in the two folders below ``folder``."""
    plain, watched = results(folder / "without"), results(folder / "with")
    if not plain:
        yield "it left no data to compare"
    yield from (
        f"{one}: other rows with headwater" for one in sorted({*plain, *watched}) if plain.get(one) != watched.get(one)
    )
    expected, found = HERE / "expected" / f"{name}.lineage", story(folder / "with")
    if accept:
        expected.write_text(found, encoding="utf-8")
    wanted = expected.read_text(encoding="utf-8") if expected.exists() else ""
    yield from unified_diff(wanted.splitlines(), found.splitlines(), "expected", "found", n=1, lineterm="")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the projects asked for, or all but those on request; the number of those with faults."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help=", ".join((*PROJECTS, *SUITES)))
    parser.add_argument("--accept", action="store_true", help="write the expected lineage anew")
    parser.add_argument("--keep", metavar="FOLDER", type=Path, help="leave logs, events and data in this new folder")
    parser.add_argument("--checkout", metavar="FOLDER", type=Path, help=f"where {', '.join(IN_CHECKOUTS)} are")
    options = parser.parse_args(arguments)
    wrong = 0
    for name in options.names or [one for one in (*PROJECTS, *SUITES) if one not in ON_REQUEST]:
        with _folder(options.keep, name) as folder:
            if name in SUITES:
                seen, found = compared(name, folder, options.checkout)
            else:
                seen, found = project(name, folder, accept=options.accept)
        wrong += bool(found)
        print(f"{name}: " + ("\n  ".join(found) or seen), flush=True)
    return wrong


@contextmanager
def _folder(keep: Path | None, name: str) -> Iterator[Path]:
    with tempfile.TemporaryDirectory() as passing:
        folder = (keep or Path(passing)).resolve() / name
        folder.mkdir(parents=True)
        yield folder


def project(name: str, folder: Path, *, accept: bool) -> tuple[str, list[str]]:
    """Run a project twice: what was seen, in a few words, and its faults."""
    before, after = (run(name, folder / agent, watched=agent == "with") for agent in ("without", "with"))
    found = list(faults(name, folder, accept=accept))
    rows = sum(map(len, results(folder / "with").values()))
    return f"the same {rows} rows, and the expected lineage; {before:.0f} s, with headwater {after:.0f} s", found


if __name__ == "__main__":
    sys.exit(main())
