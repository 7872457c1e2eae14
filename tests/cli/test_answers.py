"""Answers for people: each as a tree or a table."""

from collections.abc import Callable

import pytest
from click.testing import Result

ROOTS = """\
gold.delays.avg_delay  file:/data/gold/delays
├── AGGREGATION                 flights.dep_delay  file:/data/landing/flights  via clean → gold
├── FILTER, GROUP_BY (dataset)  flights.cancelled  file:/data/landing/flights  via clean → gold
└── GROUP_BY (dataset)          flights.carrier    file:/data/landing/flights  via clean → gold
"""
SHOW_UP = """\
gold.delays.avg_delay  file:/data/gold/delays
├── silver/flights.delay  AGGREGATION  via gold
│   ├── landing/flights.dep_delay  TRANSFORMATION  via clean
│   └── rows of silver/flights
│       └── landing/flights.cancelled  FILTER  via clean
└── rows of gold.delays
    └── silver/flights.carrier  GROUP_BY  via gold
        ├── landing/flights.carrier  IDENTITY  via clean
        └── rows of silver/flights  ↑ shown above
"""
SHOW_DOWN = """\
landing/flights.tailnum  file:/data/landing/flights
└── silver/flights.tail  TRANSFORMATION masked opaque  via clean
"""
IMPACT = """\
landing/flights.dep_delay  file:/data/landing/flights
├── silver/flights  file:/data/silver/flights  via clean
│   └── delay  TRANSFORMATION
└── gold.delays  file:/data/gold/delays  via gold
    └── avg_delay  AGGREGATION
"""
PATH = """\
landing/flights.dep_delay → gold.delays.avg_delay
└── 2 steps
    ├── silver/flights.delay   TRANSFORMATION  via clean
    └── gold.delays.avg_delay  AGGREGATION     via gold
"""
DATASETS = """\
namespace  name                   columns  written_by  read_by  symlinks
file       /data/export           0        1           0
file       /data/gold/delays      2        1           0        gold.delays
file       /data/landing/flights  4        0           0
file       /data/silver/flights   3        1           0
"""
JOBS = """\
namespace  name    type     runs  state     at
demo       export  SQL_JOB  1     COMPLETE  2026-01-01T00:03:00Z
demo       gold    SQL_JOB  1     COMPLETE  2026-01-01T00:02:00Z
demo       clean   SQL_JOB  1     COMPLETE  2026-01-01T00:01:00Z
"""
RUNS = """\
run                                   job   state     started  ended                 engine  error
01900002-0000-7000-8000-000000000000  gold  COMPLETE           2026-01-01T00:02:00Z
"""
SEARCH = """\
kind     name                                  in    text
dataset  file:/data/gold/delays                name
column   file:/data/gold/delays.avg_delay      name
column   file:/data/landing/flights.dep_delay  name
column   file:/data/silver/flights.delay       name
"""
COVERAGE = """\
3 outputs: 1 none, 1 opaque, 1 full
├── none  file:/data/export  by export
│   └── its run has no column lineage
└── opaque  file:/data/silver/flights  by clean
    └── opaque mapInPandas: cannot be seen into
"""


@pytest.mark.parametrize(
    ("command", "answer"),
    [
        (["roots", "gold.delays.avg_delay"], ROOTS),
        (["show", "avg_delay"], SHOW_UP),
        (["show", "tailnum", "--down"], SHOW_DOWN),
        (["impact", "dep_delay"], IMPACT),
        (["path", "dep_delay", "avg_delay"], PATH),
        (["datasets"], DATASETS),
        (["jobs"], JOBS),
        (["runs", "--job", "gold"], RUNS),
        (["search", "DELAY"], SEARCH),
        (["coverage"], COVERAGE),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_an_answer_reads_well(headwater: Callable[..., Result], command: list[str], answer: str) -> None:
    result = headwater(*command)
    assert (result.exit_code, result.stdout) == (0, answer)


def test_only_direct_or_indirect(headwater: Callable[..., Result]) -> None:
    direct = headwater("roots", "avg_delay", "--type", "direct").stdout
    indirect = headwater("roots", "avg_delay", "--type", "indirect").stdout
    assert ("dep_delay" in direct, "cancelled" in direct) == (True, False)
    assert ("dep_delay" in indirect, "cancelled" in indirect) == (False, True)


def test_a_cut_is_reported_beside_the_answer(headwater: Callable[..., Result]) -> None:
    result = headwater("show", "avg_delay", "--depth", "1", "--format", "json")
    assert "cut by --depth" in result.stderr
    assert '"truncated": [\n    "depth"\n  ]' in result.stdout


def test_a_search_forgives_typing_errors_and_says_so(headwater: Callable[..., Result]) -> None:
    result = headwater("search", "dealys")
    assert [line.split() for line in result.stdout.splitlines()[1:]] == [["dataset", "file:/data/gold/delays", "name"]]
    assert "Nothing has 'dealys': this is for 'delays'." in result.stderr
    assert headwater("search", "xqzvw").stdout.splitlines()[1:] == []


def test_a_root_says_that_it_is_one(headwater: Callable[..., Result]) -> None:
    assert "a root itself: no known job writes it" in headwater("roots", "dep_delay").stdout


def test_the_coverage_of_one_run(headwater: Callable[..., Result]) -> None:
    assert headwater("coverage", "01900002").stdout == "1 output: 1 full\n"
