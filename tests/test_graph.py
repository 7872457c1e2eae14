"""Graphs of a few nodes: what is reachable in them, how far, and which cycles they have."""

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components, shortest_path

from headwater.graph import closed_cycles, components, distances, reachable

Graph = dict[int, dict[int, bool]]
"""Nodes with their successors, each with whether the step counts."""

NODES = st.integers(0, 7)
GRAPHS = st.dictionaries(NODES, st.dictionaries(NODES, st.booleans(), max_size=4), min_size=1, max_size=8).map(
    lambda graph: {
        node: {then: counts for then, counts in some.items() if then in graph} for node, some in graph.items()
    }
)


def lengths(graph: Graph) -> dict[int, dict[int, float]]:
    """The length of a shortest path between each two nodes, by scipy."""
    places = {node: place for place, node in enumerate(graph)}
    edges = [(places[node], places[then], counts) for node, some in graph.items() for then, counts in some.items()]
    starts, ends, counts = zip(*edges, strict=True) if edges else ((), (), ())
    # In a sparse array no weight may be 0: a step that counts weighs more than all that do not.
    weights = [1.0 if one else 1e-6 for one in counts]
    found = shortest_path(csr_array((weights, (starts, ends)), shape=(len(graph),) * 2))
    return {node: dict(zip(graph, row, strict=True)) for node, row in zip(graph, found.tolist(), strict=True)}


@given(GRAPHS, st.data())
def test_reachable_nodes_are_those_at_a_finite_distance(graph: Graph, data: st.DataObject) -> None:
    starts = data.draw(st.sets(st.sampled_from(sorted(graph))))
    far = lengths(graph)
    assert reachable(starts, graph.__getitem__) == {
        node for node in graph if any(far[start][node] < float("inf") for start in starts)
    }


@given(GRAPHS, st.data())
def test_distances_are_the_lengths_of_shortest_paths(graph: Graph, data: st.DataObject) -> None:
    start = data.draw(st.sampled_from(sorted(graph)))
    expected = {node: round(far) for node, far in lengths(graph)[start].items() if far < float("inf")}
    assert distances(start, lambda node: graph[node].items()) == expected


@given(GRAPHS)
def test_components_are_those_of_scipy_each_after_what_it_points_to(graph: Graph) -> None:
    found = list(components(graph, graph.__getitem__))
    places = {node: place for place, node in enumerate(graph)}
    edges = [(places[node], places[then]) for node, some in graph.items() for then in some]
    starts, ends = zip(*edges, strict=True) if edges else ((), ())
    matrix = csr_array(([1] * len(edges), (starts, ends)), shape=(len(graph),) * 2)
    _, labels = connected_components(matrix, connection="strong")
    expected = {frozenset(node for node in graph if labels[places[node]] == label) for label in labels.tolist()}
    assert {frozenset(one) for one in found} == expected
    assert sum(map(len, found)) == len(graph)
    order = {node: number for number, one in enumerate(found) for node in one}
    assert all(order[then] <= order[node] for node, some in graph.items() for then in some)


@given(GRAPHS, st.data())
def test_closed_cycles_reach_no_end_and_all_of_what_they_reach_reaches_them(graph: Graph, data: st.DataObject) -> None:
    ends = {node for node, some in graph.items() if not some} | data.draw(st.sets(st.sampled_from(sorted(graph))))
    starts = data.draw(st.sets(st.sampled_from(sorted(graph))))
    onward = {node: reachable([node], graph.__getitem__) for node in graph}
    expected = {
        node
        for node in reachable(starts, graph.__getitem__)
        if not onward[node] & ends and all(node in onward[then] for then in onward[node])
    }
    assert closed_cycles(starts, ends, graph.__getitem__) == expected


def test_a_path_of_many_nodes_needs_no_recursion() -> None:
    path = {node: [node + 1] for node in range(50_000)} | {50_000: []}
    assert len(list(components(path, path.__getitem__))) == len(path)
    assert distances(0, lambda node: ((then, True) for then in path[node]))[50_000] == 50_000
    assert all(one > two for one, two in pairwise(node for (node,) in components(path, path.__getitem__)))
