"""Two snapshots by leaf: fields within columns are compared where both sides know them, columns elsewhere."""

from collections.abc import Collection, Iterator, Mapping
from dataclasses import replace

from headwater.model.nested_fields import field_within, nested_fields, nested_name, paths_within
from headwater.store.questions.snapshots import (
    WHOLE,
    ColumnName,
    Kinds,
    Leaf,
    LeafEdge,
    LeafEdges,
    NamedEdge,
    Snapshot,
    is_flat,
)
from headwater.store.questions.walk.leaf_steps import UNDETAILED


def by_leaf(before: Snapshot, after: Snapshot) -> tuple[Snapshot, Snapshot]:
    """Return two snapshots with fields within columns beside these.

    A column has them where both sides know its type in detail; its edges are parted where both sides know the parts of
    all of them. All else stays by column, so that nothing differs because one side alone knows more.

    Args:
        before, after: snapshots that were made with ``nested``.
    """
    sides = before, after
    both = before.columns.keys() & after.columns.keys()
    detailed = {one for one in both if all(side.columns[one] not in UNDETAILED for side in sides)}
    edges = before.edges.keys() | after.edges.keys()
    parted = {edge.output for edge in edges if edge.output in both or edge.output.column == WHOLE}
    parted -= {edge.output for edge in edges if any(_parts(side, edge) is None for side in sides)}
    return _by_leaf(before, detailed, parted), _by_leaf(after, detailed, parted)


def _parts(side: Snapshot, edge: NamedEdge) -> LeafEdges | None:
    """The parts of an edge on a side: none where it is not there, None where they are not known."""
    if edge not in side.edges or edge in side.leaves:
        return side.leaves.get(edge, {})
    ends = (one for one in edge if one.column != WHOLE)
    if not all(is_flat(side.columns.get(one, "")) for one in ends):
        return None
    return {LeafEdge(Leaf(edge.input), Leaf(edge.output)): side.edges[edge]}


def _by_leaf(side: Snapshot, detailed: Collection[ColumnName], parted: Collection[ColumnName]) -> Snapshot:
    columns, within = dict(side.columns), dict[ColumnName, Leaf]()
    for column in detailed:
        for leaf, type_ in _fields(column, side.columns[column]):
            columns[_named(leaf, within)] = type_
    edges: dict[NamedEdge, Kinds] = {}
    for edge, kinds in side.edges.items():
        parts = _parts(side, edge) if edge.output in parted else None
        for part, own in ({LeafEdge(*map(Leaf, edge)): kinds} if parts is None else parts).items():
            ends = NamedEdge(*(_named(_as_typed(leaf, side.columns), within) for leaf in part))
            edges[ends] = edges.get(ends, frozenset()) | own
    return replace(side, columns=columns, edges=edges, within=within)


def _named(leaf: Leaf, within: dict[ColumnName, Leaf]) -> ColumnName:
    """The name of a field within a column, which is noted; that of a column for no path."""
    if not leaf.path:
        return leaf.column
    name = ColumnName(leaf.column.dataset, nested_name((leaf.column.column, *leaf.path)))
    within[name] = leaf
    return name


def _as_typed(leaf: Leaf, types: Mapping[ColumnName, str]) -> Leaf:
    """A leaf as the type of its column spells it; one that the type has no more is that of a reader of before."""
    found = field_within(types.get(leaf.column, ""), leaf.path)
    return Leaf(leaf.column, found[0]) if found else leaf


def _fields(column: ColumnName, type_: str) -> Iterator[tuple[Leaf, str]]:
    """The column and all fields within it, each with its type without what is within."""
    for path in ((), *paths_within(type_)):
        found = field_within(type_, path)
        yield Leaf(column, path), _outline(found[1] if found else "")


def _outline(type_: str) -> str:
    """A type without the fields of its structs: a change of these is theirs.

    >>> _outline("array<struct<sku:string>>"), _outline("map<string,int>"), _outline("int")
    ('array<struct>', 'map<string,int>', 'int')
    """
    kind = type_.partition("<")[0]
    within = () if kind == "struct" else nested_fields(type_) or ()
    inner = ",".join(_outline(one.type) for one in within)
    return f"{kind}<{inner}>" if inner else kind
