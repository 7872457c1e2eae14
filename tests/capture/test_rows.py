"""Rows of the tap are read alike whether the nodes of a plan come one by one or all together."""

import json
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from headwater.capture.rows import ExecutionRow, rows

TEXT = st.text() | st.sampled_from(['"nodes":[\r', "\r,", "],[", "\n"])
VALUES = st.dictionaries(TEXT, TEXT | st.integers(-(2**63), 2**63 - 1) | st.none() | st.booleans(), max_size=3)
LEAVES = st.lists(st.tuples(TEXT, VALUES), min_size=1, max_size=4)


def described(row: ExecutionRow) -> Any:
    plan = row.plan
    nodes = [(node.name, node.children, dict(node.values)) for node in plan.nodes] if plan else None
    return row.kind, row.description, nodes, plan and plan.session


@given(leaves=LEAVES, description=TEXT, seen=VALUES)
def test_a_plan_divided_by_carriage_returns_is_the_same_plan(
    leaves: list[tuple[str, dict[str, Any]]], description: str, seen: dict[str, Any]
) -> None:
    nodes = [json.dumps([name, [], {}, values]) for name, values in leaves]
    head = json.dumps({"kind": "start", "id": 1, "time": 0, "description": description})[:-1]
    session = json.dumps(seen)
    whole, divided = (
        f'{head},"plan":{{"nodes":[{between}{f"{between},".join(nodes)}{between}],"session":{session}}}}}'
        for between in ("", "\r")
    )
    assert list(map(described, rows(divided))) == list(map(described, rows(whole)))
