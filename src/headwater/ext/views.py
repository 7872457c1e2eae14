"""The plan as an extension sees it: the same nodes, which cannot be changed.

A view is equal to the node that it shows, and so can stand for it wherever the plan is worked out. Views are made as
they are looked at: a plan may have 300,000 nodes, of which an extension reads a few.
"""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, NoReturn

from headwater.plan import Expression, Node, Operator


class Views:
    """The views of one plan's nodes, one for each node that is looked at."""

    def __init__(self) -> None:
        self._known: dict[Node, Node] = {}

    def of(self, node: Node) -> Node:
        """The view of a node of the plan."""
        found = self._known.get(node)
        if found is None:
            kind = OperatorView if isinstance(node, Operator) else ExpressionView
            found = self._known[node] = kind(node, self)
        return found

    def within(self, value: Any) -> Any:
        """A copy of a field of a node, with views in the place of nodes."""
        if isinstance(value, Node):
            return self.of(value)
        if isinstance(value, tuple | list):
            return type(value)([self.within(one) for one in value])
        if isinstance(value, Mapping):
            return {key: self.within(one) for key, one in value.items()}
        return value


class _View:
    """The common part of both kinds."""

    __slots__ = ()
    _node: Node
    _views: Views
    _cached: dict[str, Any]

    def __init__(self, node: Node, views: Views) -> None:
        for name, value in (("_node", node), ("_views", views), ("_cached", {})):
            object.__setattr__(self, name, value)

    @property
    def name(self) -> str:
        return self._node.name

    @property
    def children(self) -> tuple[Node, ...]:
        return tuple(self._field("children"))

    @property
    def references(self) -> Mapping[str, Any]:
        return MappingProxyType(self._field("references"))

    @property
    def values(self) -> Mapping[str, Any]:
        return MappingProxyType(self._field("values"))

    def _field(self, name: str) -> Any:
        if name not in self._cached:
            self._cached[name] = self._views.within(getattr(self._node, name))
        return self._cached[name]

    def __setattr__(self, name: str, value: object) -> NoReturn:
        raise AttributeError(f"{name} cannot be set: a plan is not changed by who reads it")

    def __eq__(self, other: object) -> bool:
        return other is self or other is self._node or (isinstance(other, _View) and other._node is self._node)

    def __hash__(self) -> int:
        return hash(self._node)

    def __repr__(self) -> str:
        return f"<{self._node.name}>"


class OperatorView(_View, Operator):  # type: ignore[override]
    """An operator that cannot be changed."""

    __slots__ = ("_cached", "_node", "_views")


class ExpressionView(_View, Expression):  # type: ignore[override]
    """An expression that cannot be changed."""

    __slots__ = ("_cached", "_node", "_views")
