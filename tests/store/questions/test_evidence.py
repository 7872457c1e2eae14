"""A column without an edge upward is described by what is known of it, and no more."""

from typing import Any

import pytest

from headwater.answers.documents import of_graph
from headwater.cli.output import tree_lines
from headwater.cli.trees import roots_tree, walk_tree
from headwater.store import Store
from headwater.store.questions import Bounds, Evidence, Origin, Roots, roots_of, walk_from


def shown(answer: Roots) -> str:
    return "\n".join(str(child.line) for child in roots_tree(answer).children)


def gap(output: str = "") -> dict[str, Any]:
    return {"headwater_coverage": {"gaps": [{"kind": "expression", "what": "f", "why": "unknown", "output": output}]}}


def test_a_literal_was_written_by_a_run_that_says_so(words: Any, store: Store) -> None:
    store.ingest([words.run_event("make", words.written("a", {"one": [], "x": ["raw.x"]}))])
    answer = roots_of(store, "a.one")
    assert (answer.origin, answer.evidence, answer.near) == (Origin.CONSTANT, Evidence.LITERAL, ())
    assert "made without reading a column" in shown(answer)


def test_of_a_run_with_gaps_it_is_not_known(words: Any, store: Store) -> None:
    fields = {"one": []}
    store.ingest([words.run_event("make", words.written("a", fields), run_facets=gap("/a"), minute=1, run="1")])
    answer = roots_of(store, "a.one")
    assert (answer.origin, answer.evidence) == (Origin.UNKNOWN, Evidence.PARTIAL)
    assert "without reading" not in shown(answer)
    store.ingest([words.run_event("make", words.written("a", fields), run_facets=gap("/b"), minute=2, run="2")])
    assert roots_of(store, "a.one").evidence is Evidence.LITERAL, "the gap of its latest run is about another output"


def test_a_column_that_no_run_named_may_be_misspelled(words: Any, store: Store) -> None:
    store.ingest([words.run_event("make", words.written("a", {"customer_id": ["raw.x"], "name": []}))])
    store.ingest([words.run_event("read", words.written("b", {"k": ["a.customerid"]}))])
    answer = roots_of(store, "b.k")
    [root] = answer.roots
    assert (root.origin, root.evidence) == (Origin.UNKNOWN, Evidence.UNNAMED)
    assert [str(one) for one in root.near] == ["file:/a.customer_id"]
    assert "no known run wrote a column of that name; near: file:/a.customer_id" in shown(answer)


@pytest.mark.parametrize(("wrote", "evidence"), [(None, Evidence.UNWRITTEN), ("run", Evidence.NO_LINEAGE)])
def test_a_source_is_what_nobody_is_known_to_write(
    words: Any, store: Store, wrote: str | None, evidence: Evidence
) -> None:
    store.ingest([words.run_event("read", words.written("b", {"k": ["lake/orders.id"]}))])
    store.ingest([words.run_event("make", words.written("lake/orders_2025", {"ID": ["raw.x"]}))])
    if wrote:
        store.ingest([words.run_event("other", words.written("lake/orders"))])
    answer = roots_of(store, "lake/orders.id")
    assert answer.evidence is evidence
    near = [str(one) for one in answer.near]
    assert near == ([] if wrote else ["file:/lake/orders_2025.ID"])


def steps(store: Store, name: str, bounds: Bounds = Bounds()) -> list[str]:  # noqa: B008 - frozen
    return [str(line) for line in tree_lines(walk_tree(walk_from(store, name, bounds=bounds, ends=True)))]


def test_a_walk_says_so_of_each_of_its_ends(words: Any, store: Store) -> None:
    store.ingest([words.run_event("make", words.written("a", {"cust_id": ["raw.x"], "one": []}))])
    fields = {"k": ["a.custid"], "m": ["a.one"], "n": ["a.cust_id"]}
    store.ingest([words.run_event("read", words.written("b", fields), minute=1)])
    assert steps(store, "b") == [
        "b  file:/b",
        "├── b.k",
        "│   └── a.custid  (no known run wrote a column of that name; near: file:/a.cust_id)  IDENTITY  via read",
        "├── b.m",
        "│   └── a.one  (made without reading a column)  IDENTITY  via read",
        "└── b.n",
        "    └── a.cust_id  IDENTITY  via read",
        "        └── raw.x  IDENTITY  via make",
    ]
    assert steps(store, "a.one")[1] == "└── nothing before it: made without reading a column"
    assert steps(store, "raw.x")[1] == "└── nothing before it: no known job writes it"
    columns = of_graph(walk_from(store, "b.k", ends=True))["columns"]
    near = [{"namespace": "file", "name": "/a", "field": "cust_id"}]
    assert [(one.get("evidence"), one.get("near")) for one in columns] == [(None, None), ("unnamed", near)]


def test_where_a_limit_ends_a_walk_nothing_is_known(words: Any, store: Store) -> None:
    store.ingest([words.run_event("make", words.written("a", {"one": ["raw.x"]}))])
    store.ingest([words.run_event("read", words.written("b", {"m": ["a.one"]}), minute=1)])
    assert steps(store, "b.m", Bounds(depth=1))[1] == "└── a.one  IDENTITY  via read"
