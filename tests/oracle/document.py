"""docs/oracle.md: what the oracle saw, in tables."""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain
from pathlib import Path

from tests.oracle.live import LiveExperiment
from tests.oracle.rows import CHANGES
from tests.oracle.tally import Tally

from headwater.model import Subtype

DOCUMENT = Path(__file__).resolve().parents[2] / "docs" / "oracle.md"
MOST = 20

COUNTED = (
    "looked at",
    "**with a missing edge**",
    "discarded: the order of rows decides",
    "could not be run",
    "runs on changed data",
    "of these ended in an error",
)

INTRODUCTION = """\
# Soundness, measured

<!-- Written by `make oracle`. -->

If changing the values of an input column can change an output column, there must be an edge. The oracle tries: it runs
a query on data, changes an input column, runs it again, and compares. What changed must be covered by an edge from
that column, on the field or on the dataset.

- **Compared** are whole rows, as a bag, with only those fields that no edge from the changed column covers. So a
  missing edge on a field shows by its values, one on the dataset by the number of rows, and one behind a changed
  pairing of values by the rows, although each field by itself is the same.
- **Changes**: {changes}. Columns that the same edges cover are changed together; columns that an edge on the dataset
  covers need no change, as that edge covers everything.
- **Queries**: every case of `tests/cases`; the TPC-DS and TPC-H queries (on DuckDB, `tests/tpc/test_oracle.py`); and
  pipelines that hypothesis generates over SQL and the DataFrame API, one to four steps deep, among them packings:
  leaves put into structs, arrays and maps and taken out again (`tests/oracle/packings.py`).
- **Histories** of two to five jobs on real files and tables (`tests/oracle/histories`): hand-overs by Parquet, ORC,
  JSON, CSV, Delta and tables of the catalog; session variables, SQL scripts, MERGE whose schema grows, and files of
  RDDs. They run once under `headwater run`, and the roots that the store has for the last table are held against what
  changes when a first source changes and all jobs run again.
- **Left out**: `sample`, `rand()` and their like, whose result changes without any change of the input; queries whose
  result changes when the rows are met in another order, which are counted as discarded; and the cases that the list
  below gives a reason for: ties that an earlier window decides, and variables of which analysis leaves only the value,
  whose coverage says so by a gap. A function that nobody sees into, and that fills every field, covers the rows that it
  leaves out by its edges.
- A root of a column says nothing of rows: in a history whose last table has a column made of a literal, what all other
  columns have as a root may decide on the literal's rows, and one with nothing but literals cannot be judged.

`python -m tests.oracle --no-cases --seed {seed} --pipelines {count} --placed-seed {placed_seed} --placed {placed}` runs
the same queries again: {chunk} for each seed, from these on, fewer where one comes twice. A longer run with
`--log FILE` goes on where it was broken off. Other runs, over 6,199 pipelines of the seeds from 1000, 20000, 400000
and 930000 on, and the 504 cases that can be judged, had no missing edge either.
Histories are those of `python -m tests.oracle.histories`{histories}.
"""

TIGHTNESS = """\
## Tightness

The share of claimed edges of which some change showed an effect. What the rows as they are do not show is looked for in
up to {databases} databases whose values are taken at random from a small stock: few values, any values, or few rows
again and again. An edge to the dataset that says SORT shows in the order of the rows too.

- **Idle** are edges that no data can show: once Spark has optimized the query, no edge leads from that column to that
  output. The rules ask for them all the same, as what is written decides (`WHERE 1 = 2 AND x > 0` is FILTER on `x`).
  They are counted apart; the share is of the others.
- **Placed** are packings over columns alone, each in one place of one query (`tests/oracle/places.py`). Pipelines made
  at random are not asked: their literals and limits hide most of what they compute.
- What neither shows nor is idle is mostly of these kinds. A value is compared with itself (`s -> s.tier > age`, where
  `tier` is `age`). `sort_array(structs)[0].code` has an edge from `tier`, since whole structs are ordered, though
  among those of one `code` any has that `code`. `array_max(collect_set(structs).tier)` counts what makes structs
  distinct, though the largest `tier` is there however often it comes. COALESCE tests a value that is never NULL. In
  cases, a digest is compared with a word, or a function that nobody sees into passes over a column.
"""


@dataclass(frozen=True, slots=True)
class Seen:
    """The results of a run that ended on a day; ``history_seeds`` are those of histories."""

    spark: str
    day: str
    seed: int
    placed_seed: int
    history_seeds: tuple[int, ...]
    chunk: int
    cases: Tally
    placed: Tally
    generated: Tally
    histories: Tally


def document(seen: Seen) -> str:
    """The whole text."""
    about = (_introduction(seen), _counts(seen), _tightness(seen), _constructs(seen.generated))
    return "\n".join((*chain(*about), *_of_histories(seen.histories))) + "\n"


def _introduction(seen: Seen) -> Iterator[str]:
    counts = {"count": seen.generated.count, "placed": seen.placed.count}
    seeds = {"seed": seen.seed, "placed_seed": seen.placed_seed, "chunk": seen.chunk}
    histories = f" of the seeds {', '.join(map(str, seen.history_seeds))}" if seen.history_seeds else ""
    yield INTRODUCTION.format(changes=", ".join(CHANGES), histories=histories, **seeds, **counts)


def _counts(seen: Seen) -> Iterator[str]:
    yield f"## What was seen (Spark {seen.spark}, {seen.day})"
    yield ""
    yield "| | cases | packings, placed | generated pipelines | histories |"
    yield "|---|---|---|---|---|"
    counted = (_counted(tally) for tally in (seen.cases, seen.placed, seen.generated, seen.histories))
    for title, *figures in zip(COUNTED, *counted, strict=True):
        yield f"| {title} | {' | '.join(map(str, figures))} |"
    yield ""
    yield from _refused(
        "Cases that could not be run on other data, or are not judged, and why:", sorted(seen.cases.invalid)
    )
    often = (f"{reason} ({count})" for reason, count in seen.generated.invalid.most_common(MOST))
    yield from _refused("Why generated pipelines could not be run, most often:", list(often))
    often = (f"{reason} ({count})" for reason, count in seen.histories.invalid.most_common(MOST))
    yield from _refused("Why histories could not be run, most often:", list(often))


def _refused(title: str, reasons: list[str]) -> Iterator[str]:
    if reasons:
        yield from (title, "", *(f"- {reason}" for reason in reasons), "")


def _counted(tally: Tally) -> tuple[int, ...]:
    """The figures of ``COUNTED``."""
    discarded, invalid = sum(tally.discarded.values()), sum(tally.invalid.values())
    return tally.looked_at, len(tally.missing), discarded, invalid, tally.runs, tally.failed


def _tightness(seen: Seen) -> Iterator[str]:
    yield TIGHTNESS.format(databases=LiveExperiment.databases)
    yield "| type | subtype | cases: edges | idle | shown | placed: edges | idle | shown |"
    yield "|---|---|---|---|---|---|---|---|"
    for subtype in Subtype:
        figures = (_share(tally, subtype) for tally in (seen.cases, seen.placed))
        yield f"| {subtype.type.value} | {subtype.value} | {' | '.join(figures)} |"
    yield ""
    yield "Most often in placed packings with edges that did not show, though they could:"
    yield ""
    yield from (
        f"- {subtype.value}: `{form}` ({count})" for (subtype, form), count in seen.placed.unshown.most_common(MOST)
    )
    yield ""


def _share(tally: Tally, subtype: Subtype) -> str:
    claimed, idle = tally.claims[subtype], tally.idle[subtype]
    share = f"{100 * tally.shown[subtype] / (claimed - idle):.1f} %" if claimed > idle else ""
    return f"{claimed} | {idle} | {share}"


def _constructs(tally: Tally) -> Iterator[str]:
    yield f"## Constructs ({len(tally.used)})"
    yield ""
    yield "How many pipelines had each step or form; `{int}` stands for any expression of that type."
    yield ""
    yield _listed(tally)


def _of_histories(tally: Tally) -> Iterator[str]:
    if tally.looked_at:
        yield from ("", f"## Constructs of histories ({len(tally.used)})", "", _listed(tally))


def _listed(tally: Tally) -> str:
    often_first = sorted(tally.used.items(), key=lambda item: -item[1])
    return ", ".join(f"`{' '.join(form.split())}` {count}" for form, count in often_first)
