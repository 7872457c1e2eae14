"""Validation of what extensions return: it must have the types that a hook asks for, and is copied into plain values.

Types are read from the annotations of our dataclasses. Since values are copied, nothing that is kept runs code of an
extension, or is changed by it later.
"""

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import fields, is_dataclass
from enum import Enum
from functools import lru_cache
from graphlib import CycleError, TopologicalSorter
from itertools import islice
from types import MappingProxyType, NoneType, UnionType
from typing import Any, TypeVar, Union, get_args, get_origin, get_type_hints

from headwater.errors import ExtensionError
from headwater.ext.views import ExpressionView, OperatorView
from headwater.plan import Expression, Node, Operator
from headwater.redaction import redact

MOST = 100_000
"""How many parts one answer may have in one place: relations, fields, dependencies."""

MOST_TEXT = 1_000_000
"""How long one text may be, that of a facet among them."""

_T = TypeVar("_T")


def checked(value: object, kind: type[_T] | Any) -> _T | Any:
    """``value`` made anew as a ``kind``: one of our dataclasses, or what their fields are annotated with.

    Raises:
        ExtensionError: it is something else; the message says what was met and what was expected.

    >>> checked(["a", "b"], tuple[str, ...])
    ('a', 'b')
    """
    origin = get_origin(kind)
    if origin in (Union, UnionType):
        return _one_of(value, get_args(kind))
    if origin is tuple:
        return _tuple(value, get_args(kind))
    if origin is not None and issubclass(origin, Mapping):
        return _mapping(value, *get_args(kind))
    if kind in (Operator, Expression):
        return _node(value, kind)
    if is_dataclass(kind):
        if type(value) is not kind:
            raise ExtensionError(f"it gave {_shown(value)}; expected {_named(kind)}")
        made: Any = kind
        return made(**{name: checked(getattr(value, name), annotation) for name, annotation in _fields(made)})
    exact = isinstance(value, kind) if issubclass(kind, Enum) else type(value) is kind
    if not exact or (isinstance(value, str) and len(value) > MOST_TEXT):
        raise ExtensionError(f"it gave {_shown(value)}; expected {_named(kind)}")
    return value


def checked_facets(facets: object) -> tuple[tuple[str, str], ...]:
    """Facets as pairs of a name and the text of a JSON object.

    Raises:
        ExtensionError: they are no JSON objects by names, or too large.
    """
    if not isinstance(facets, Mapping):
        raise ExtensionError(f"it gave {_shown(facets)}; expected facets by their names")
    pairs = [(checked(name, str), _json_object(facet)) for name, facet in islice(facets.items(), MOST)]
    if not all(name for name, _ in pairs):
        raise ExtensionError("it gave a facet with an empty name")
    return tuple(pairs)


def _json_object(facet: object) -> str:
    try:
        text = json.dumps(facet, allow_nan=False, sort_keys=True)
    except (TypeError, ValueError, RecursionError) as error:
        raise ExtensionError(f"it gave a facet that is no JSON: {error}") from error
    if not text.startswith("{") or len(text) > MOST_TEXT:
        raise ExtensionError(f"it gave a facet of {len(text)} letters, {redact(text)[:40]!r}; expected a JSON object")
    return text


def _one_of(value: object, kinds: Iterable[Any]) -> Any:
    for kind in kinds:
        if kind is NoneType and value is None:
            return None
        exact = get_origin(kind) or kind
        if kind is not NoneType and isinstance(value, exact):
            return checked(value, kind)
    raise ExtensionError(f"it gave {_shown(value)}; expected {' or '.join(map(_named, kinds))}")


def _tuple(value: object, kinds: tuple[Any, ...]) -> tuple[Any, ...]:
    if isinstance(value, str | bytes | Mapping) or not isinstance(value, Iterable):
        raise ExtensionError(f"it gave {_shown(value)}; expected a sequence of {_named(kinds[0])}")
    parts = list(islice(value, MOST + 1))
    if len(parts) > MOST:
        raise ExtensionError(f"it gave more than {MOST} of {_named(kinds[0])}")
    if len(kinds) == 2 and kinds[1] is ...:
        return tuple(checked(part, kinds[0]) for part in parts)
    if len(parts) != len(kinds):
        raise ExtensionError(f"it gave {_shown(value)}; expected {len(kinds)} values together")
    return tuple(checked(part, kind) for part, kind in zip(parts, kinds, strict=True))


def _mapping(value: object, key: Any, kind: Any) -> Mapping[Any, Any]:
    if not isinstance(value, Mapping):
        raise ExtensionError(f"it gave {_shown(value)}; expected a mapping of {_named(key)} to {_named(kind)}")
    pairs = checked(value.items(), tuple[tuple[key, kind], ...])
    return MappingProxyType(dict(pairs))


@lru_cache(maxsize=64)
def _fields(kind: Any) -> tuple[tuple[str, Any], ...]:
    hints = get_type_hints(kind)
    return tuple((one.name, hints[one.name]) for one in fields(kind) if one.init)


def _node(value: object, kind: Any) -> Any:
    """A node of the plan; or an expression made of such, which is a tree and no ring."""
    if isinstance(value, OperatorView if kind is Operator else ExpressionView):
        return value
    if type(value) is not Expression or kind is not Expression:
        raise ExtensionError(f"it gave {_shown(value)}; expected {_named(kind)} of the plan")
    graph: dict[Node, tuple[Node, ...]] = {}
    stack: list[Node] = [value]
    while stack and len(graph) <= MOST:
        node = stack.pop()
        if node not in graph and not isinstance(node, ExpressionView | OperatorView):
            graph[node] = _parts(node)
            stack.extend(graph[node])
    try:
        TopologicalSorter(graph).prepare()
    except CycleError:
        raise ExtensionError("it gave an expression that contains itself") from None
    if stack:
        raise ExtensionError(f"it gave an expression of more than {MOST} nodes")
    return value


def _parts(node: object) -> tuple[Node, ...]:
    """The nodes that an expression of ones own is made of; all else in it are plain values."""
    if type(node) is not Expression or type(node.name) is not str or type(node.children) is not tuple:
        raise ExtensionError(f"it gave an expression with {_shown(node)} in it; expected expressions")
    if type(node.values) is not dict or type(node.references) is not dict:
        raise ExtensionError(f"it gave an expression {node.name} whose fields are no dictionaries")
    if any(_nodes(node.values)):
        raise ExtensionError(f"it gave an expression {node.name} with nodes among its values; expected plain values")
    return (*node.children, *_nodes(node.references))


def _nodes(value: object) -> Iterator[Node]:
    if isinstance(value, ExpressionView | OperatorView) or type(value) is Expression:
        yield value
    elif type(value) is dict:
        for key, one in value.items():
            checked(key, str)
            yield from _nodes(one)
    elif type(value) in (tuple, list):
        for one in value:  # type: ignore[attr-defined]
            yield from _nodes(one)
    elif value is not None and type(value) not in (str, int, float, bool):
        raise ExtensionError(f"it gave an expression with {_shown(value)} in it; expected plain values")


def _named(kind: Any) -> str:
    return "None" if kind is NoneType else getattr(kind, "__name__", str(kind))


def _shown(value: object) -> str:
    if value is None:
        return "None"
    try:
        text = redact(repr(value))[:80]
    except BaseException:
        text = "something without a text"
    return f"{type(value).__name__} {text}"
