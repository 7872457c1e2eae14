"""The lineage of every case from plans that a real Spark Connect server explained: exact, or a limit with a reason."""

import tomllib
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest
from tests.capture.connect.recordings import OF_FORMATS, explained, format_cases, lineage, recordings
from tests.extract.case_file import Case, cases, difference
from tests.extract.edge_text import read
from tests.extract.recordings import output_of
from tests.extract.test_nested import nested_lines

from headwater.capture.rows import ExecutionRow
from headwater.capture.runs.executions import Executions
from headwater.extract import statement
from headwater.model import Engine, Job, Run, RunState

LIMITS = tomllib.loads((Path(__file__).parent / "limits.toml").read_text())
CASES = [case for case in cases() if str(case) in recordings()]
COARSER = {name: limit.get("gap", False) for limit in LIMITS["coarser"] for name in limit["cases"]}
EXPLAINED = [case for case in CASES if "failed" not in recordings()[str(case)]]


@pytest.mark.parametrize("case", [case for case in EXPLAINED if str(case) not in {*COARSER, *LIMITS["finer"]}], ids=str)
def test_the_lineage_is_that_of_the_case(case: Case) -> None:
    found = lineage(case, recordings()[str(case)])
    assert found is not None
    assert difference(case, *found) == ""


@pytest.mark.parametrize("case", [case for case in EXPLAINED if str(case) in COARSER], ids=str)
def test_a_limit_misses_no_input(case: Case) -> None:
    """Where the text says too little, the kinds of the edges may be others, but no input column is missing."""
    found = lineage(case, recordings()[str(case)])
    assert found is not None
    covering = found[0].dataset
    for name, edges in case.expected.columns:
        wanted = {(edge.dataset, edge.field) for edge in edges}
        covered = found[0].fields[name] | covering
        assert wanted <= {(edge.input.dataset.name.rpartition("/")[2], edge.input.name) for edge in covered}


@pytest.mark.parametrize("case", [case for case in EXPLAINED if str(case) in COARSER], ids=str)
def test_a_limit_is_one_still(case: Case) -> None:
    found = lineage(case, recordings()[str(case)])
    assert found is not None
    assert difference(case, *found) != "", "it is exact now: take it out of limits.toml"
    assert found[1] or not COARSER[str(case)], "it has no gap any more"


@pytest.mark.parametrize("case", [case for case in EXPLAINED if case.nested], ids=str)
def test_fields_within_columns_have_the_lineage_that_the_case_expects(case: Case) -> None:
    found = statement(explained(recordings()[str(case)]).plan())
    output = output_of(case, found)
    assert output is not None
    assert nested_lines(found, output) == sorted(" ".join(line.split()) for line in case.nested.splitlines())


@pytest.mark.parametrize("case", [case for case in EXPLAINED if str(case) in LIMITS["finer"]], ids=str)
def test_a_statement_that_is_executed_immediately_has_its_values(case: Case) -> None:
    found = lineage(case, recordings()[str(case)])
    assert found is not None
    assert difference(replace(case, expected=read(LIMITS["finer"][str(case)])), *found) == ""


@pytest.mark.parametrize("command", ["SetVariable", "ExecuteImmediate", "Script"])
def test_what_may_have_assigned_a_variable_unseen_leaves_a_gap(command: str) -> None:
    recorded = recordings()["variables/set_query"]
    executions = Executions(Run("r", Job("n", "shop")), Engine("spark", "4.1"))
    rows = [explained(one).plan() for one in (*recorded["assignments"], recorded)]
    unseen = {"unreadable": "no answer", "command": command}
    moments = []
    for number, row in enumerate([*({"plan": plan} for plan in rows), unseen, {"plan": rows[-1]}]):
        moments += executions.moments(ExecutionRow("end", number, datetime.now(UTC), **row))
    gaps = [moment.statement.gaps for moment in moments if moment.state is RunState.START and moment.statement]
    assert [len(found) for found in gaps] == [0, *([1] if command != "SetVariable" else []), 1]
    assert gaps[-1][0].what == "variable session.top"


@pytest.mark.parametrize(
    "case",
    [case for case in format_cases() if str(case) not in LIMITS["not_there"]],
    ids=str,
)
def test_a_change_of_rows_has_the_lineage_of_its_case(case: Case) -> None:
    found = lineage(case, recordings(OF_FORMATS)[str(case)])
    assert found is not None
    assert difference(case, *found) == ""


def test_every_case_has_the_answer_of_a_server() -> None:
    both = {**recordings(), **recordings(OF_FORMATS)}
    failed = {name for name, one in both.items() if "failed" in one}
    assert failed == set(LIMITS["not_there"]), "make them anew: python -m tests.capture.connect.recordings"
