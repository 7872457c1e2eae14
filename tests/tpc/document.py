"""Write docs/tpc.md: what was counted, and the explanations kept in explanations.toml.

``python -m tests.tpc.document``
"""

import tomllib
from collections import defaultdict
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from tests.tpc.comparison import Source, comparisons, differences
from tests.tpc.queries import SUITES, Query
from tests.tpc.recordings import recorded

DOCUMENT = Path(__file__).resolve().parents[2] / "docs" / "tpc.md"
EXPLANATIONS: Mapping[str, Any] = tomllib.loads(Path(__file__).with_name("explanations.toml").read_text())
TITLES = {"tpcds": "TPC-DS", "tpch": "TPC-H"}

INTRODUCTION = """\
# The TPC-DS and TPC-H queries

<!-- Written by `python -m tests.tpc.document`; the words are in `tests/tpc/explanations.toml`. -->

All queries of both suites, as DuckDB 1.0.0 has them, in Spark's SQL by sqlglot. Each is analyzed by a live Spark in
`tests/tpc/test_live.py`; the same plans, recorded, are read without a JVM in `tests/tpc/test_recorded.py`.

A *column* is an output column of a query; a *gap* is anything the coverage facet would complain of. *Agree* means that
headwater's DIRECT sources of the column are exactly the sources that `sqlglot.lineage` finds.
"""

BY_KIND = """\
## Where the two differ

sqlglot resolves every column of every query. Wherever it names a source that is no DIRECT edge here, headwater has
that source as an INDIRECT edge; there is no source that only headwater names.
"""

BY_QUERY = """\
## Every difference

*Ours* is what headwater says of the input column; *theirs* what sqlglot says; *kind* is the explanation above.
"""

CHANGED = """\
## Values changed

`tests/tpc/test_oracle.py` runs each query in DuckDB on generated rows, changes the values of one input column
(another value in every row, NULL in half of them), runs it again and compares the output columns. Columns with an edge
on the dataset are left out, as that edge covers everything. What then changes must have an edge on the column.
"""


def document() -> str:
    """The whole text."""
    return "\n".join((*_counts(), *_kinds(), *_rows(), CHANGED, *_readings()))


def _counts() -> Iterator[str]:
    yield INTRODUCTION
    yield "| suite | queries | gaps | columns | DIRECT edges | INDIRECT edges on columns | on the dataset | agree |"
    yield "|---|---|---|---|---|---|---|---|"
    for suite in SUITES:
        yield _row(TITLES[suite], *_counted(suite))
    yield ""


def _counted(suite: str) -> tuple[int, ...]:
    found = recorded(suite).values()
    edges = [edge for lineage, _ in found for column in lineage.fields.values() for edge in column]
    direct = sum(edge.transformation.direct for edge in edges)
    on_dataset = sum(len(lineage.dataset) for lineage, _ in found)
    columns = [comparison for comparison in comparisons() if comparison.query.suite == suite]
    agreeing = sum(column.ours == column.theirs for column in columns)
    gaps = sum(len(gaps) for _, gaps in found)
    return len(found), gaps, len(columns), direct, len(edges) - direct, on_dataset, agreeing


def _kinds() -> Iterator[str]:
    yield BY_KIND
    for kind, explanation in EXPLANATIONS["difference"].items():
        concerned = [difference for difference in differences() if difference.kind == kind]
        queries = len({difference.query for difference in concerned})
        yield f"**{kind}: {explanation['title']}** ({len(concerned)} sources in {queries} queries)."
        yield f"Right: {explanation['right']}. {explanation['why'].strip()}"
        yield ""


def _rows() -> Iterator[str]:
    yield BY_QUERY
    yield "| query | output columns | input columns | ours | theirs | kind | right |"
    yield "|---|---|---|---|---|---|---|"
    for (query, columns, ours, theirs, kind), sources in _alike().items():
        right = EXPLANATIONS["difference"][kind]["right"]
        yield _row(query, ", ".join(columns), ", ".join(map(".".join, sources)), ours, theirs, kind, right)
    yield ""


def _alike() -> dict[tuple[Query, tuple[str, ...], str, str, str], list[Source]]:
    """The sources that differ in the same way for the same output columns of a query."""
    columns: dict[tuple[Query, Source, str, str, str], list[str]] = defaultdict(list)
    for found in differences():
        columns[found.query, found.source, found.ours, found.theirs, found.kind].append(found.column)
    sources: dict[tuple[Query, tuple[str, ...], str, str, str], list[Source]] = defaultdict(list)
    for (query, source, *explained), names in columns.items():
        ours, theirs, kind = explained
        sources[query, tuple(names), ours, theirs, kind].append(source)
    return sources


def _readings() -> Iterator[str]:
    yield "## Read by hand against the rules"
    yield ""
    for reading in EXPLANATIONS["reading"]:
        yield f"- **{reading['query']}.** {reading['seen'].strip()}"
    yield ""


def _row(*cells: object) -> str:
    return f"| {' | '.join(str(cell).replace('|', '&#124;') for cell in cells)} |"


if __name__ == "__main__":
    DOCUMENT.write_text(document())
