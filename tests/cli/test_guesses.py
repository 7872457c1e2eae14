"""Guesses on the command line: only with --guess, and said to be some."""

import csv
import io
import json
from collections.abc import Callable

import pytest
from click.testing import Result
from tests.cli.conftest import GOLD, event, inputs, lineage

from headwater.store import open_store

SHOW = """\
used.total  file:/data/used
└── export.amount  AGGREGATION  via use
    └── rows of export
        ├── gold.delays.carrier  guess  via export
        └── gold.delays.avg_delay  guess  via export
"""
IMPACT = """\
gold.delays.avg_delay  file:/data/gold/delays
├── export  file:/data/export  via export
│   └── amount  guess (dataset)
└── used  file:/data/used  via use
    └── total  AGGREGATION guess (dataset)
"""
PATH = """\
gold.delays.avg_delay → used.total
└── 2 steps
    ├── export.amount  guess (dataset)  via export
    └── used.total     AGGREGATION      via use
"""


@pytest.fixture
def headwater(headwater: Callable[..., Result], store: str) -> Callable[..., Result]:
    """As elsewhere, but the job ``export`` says that it reads gold, and somebody uses what it makes."""
    export = event(4, "export", "/data/export", {}) | {"inputs": [{"namespace": "file", "name": GOLD}]}
    use = event(5, "use", "/data/used", lineage([], total=inputs("/data/export amount AGGREGATION")))
    with open_store(store) as opened:
        opened.ingest([export, use])
    return headwater


@pytest.mark.parametrize(
    ("command", "answer"),
    [
        (["show", "used.total", "--depth", "2"], SHOW),
        (["impact", "avg_delay"], IMPACT),
        (["path", "avg_delay", "used.total"], PATH),
    ],
    ids=lambda value: value[0] if isinstance(value, list) else "",
)
def test_a_guess_is_called_one(headwater: Callable[..., Result], command: list[str], answer: str) -> None:
    result = headwater(*command, "--guess")
    assert result.exit_code == 0
    assert sorted(result.stdout.replace("├", "└").splitlines()) == sorted(answer.replace("├", "└").splitlines())
    assert "guess" not in headwater(*command).stdout


def test_roots_behind_a_guess(headwater: Callable[..., Result]) -> None:
    without, with_guesses = headwater("roots", "used.total").stdout, headwater("roots", "used.total", "--guess").stdout
    assert "lineage unknown from here on" in without
    assert "AGGREGATION guess, GROUP_BY guess (dataset)" in with_guesses
    assert "lineage unknown" not in with_guesses


@pytest.mark.parametrize("command", ["roots used.total", "show used.total", "impact avg_delay", "path avg_delay total"])
def test_programs_see_it_too(headwater: Callable[..., Result], command: str) -> None:
    printed = headwater(*command.split(), "--guess", "--format", "json").stdout
    assert (json.loads(printed), '"guess": true' in printed) == (json.loads(printed), True)
    rows = list(csv.DictReader(io.StringIO(headwater(*command.split(), "--guess", "--format", "csv").stdout)))
    assert "True" in {row["guess"] for row in rows}
    assert "guess" not in headwater(*command.split(), "--format", "csv").stdout
    assert "guess" in headwater(*command.split(), "--guess", "--format", "mermaid").stdout
    assert "style=dashed" in headwater(*command.split(), "--guess", "--format", "dot").stdout
