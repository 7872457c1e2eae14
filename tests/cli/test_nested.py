"""Fields within columns on the command line: by their names, or with --nested."""

import json
from collections.abc import Callable

import pytest
from click.testing import Result
from tests.store.conftest import nested, packed, run_event

from headwater.store import open_store

ROOTS = """\
orders.items.price  file:/orders
└── IDENTITY  raw.price  file:/raw  via pack
"""
SHOW = """\
gold.total  file:/gold
└── orders.items.price  AGGREGATION  via gold
    └── raw.price  IDENTITY  via pack
"""
IMPACT = """\
orders.items.sku  file:/orders
└── gold  file:/gold  via gold
    └── label  IDENTITY
"""
PATH = """\
orders.items.price → gold.total
└── 1 step
    └── gold.total  AGGREGATION  via gold
"""


@pytest.fixture
def headwater(headwater: Callable[..., Result], store: str) -> Callable[..., Result]:
    """As elsewhere, with orders that have items, of which gold takes fields."""
    leaves = {"total": ["orders.items.price AGGREGATION"], "label": ["orders.items.sku"]}
    with open_store(store) as opened:
        opened.ingest([run_event("pack", packed()), run_event("gold", nested("gold", leaves))])
    return headwater


@pytest.mark.parametrize(
    ("command", "answer"),
    [
        (["roots", "orders.items.price"], ROOTS),
        (["show", "/gold.total", "--nested"], SHOW),
        (["impact", "/orders.items.sku"], IMPACT),
        (["path", "/orders.items.price", "/gold.total"], PATH),
    ],
    ids=lambda value: value[0] if isinstance(value, list) else "",
)
def test_a_leaf_is_answered_by_leaf(headwater: Callable[..., Result], command: list[str], answer: str) -> None:
    result = headwater(*command)
    assert (result.exit_code, result.stdout) == (0, answer)


def test_a_column_is_answered_by_columns_without_the_option(headwater: Callable[..., Result]) -> None:
    assert "raw.sku" in headwater("roots", "/gold.total").stdout
    answer = json.loads(headwater("roots", "/gold.total", "--nested", "--format", "json").stdout)
    assert [root["column"]["field"] for root in answer["roots"]] == ["price"]
    drawn = headwater("show", "/gold.total", "--nested", "--format", "mermaid")
    assert "items.price" in drawn.stdout
