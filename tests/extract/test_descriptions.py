"""The text of an expression on an edge changes nothing else: the same edges as without it."""

from collections.abc import Mapping
from typing import Any

import pytest
from tests.extract.case_file import Case, cases, difference
from tests.extract.recordings import lineage, recorded

NEWEST = "4.3"
CASES = [pytest.param(case, id=str(case)) for case in cases() if case.is_for(NEWEST)]


@pytest.mark.parametrize("case", CASES)
def test_edges_with_expressions_are_those_without(case: Case) -> None:
    found = lineage(case, described(recorded(NEWEST, case)))
    assert found is not None
    assert difference(case, *found) == ""


def described(value: Any) -> Any:
    """The recorded plan, or a part of it, with a text for the expression of each alias."""
    if isinstance(value, Mapping):
        return {key: described(one) for key, one in value.items()}
    if not isinstance(value, list):
        return value
    if value[:1] == ["Alias"] and len(value) == 4:
        return [*value[:3], {**value[3], "sql": f"expression of {value[3]['name']}"}]
    return [described(one) for one in value]
