"""The answers of one extension about one plan, each checked as it comes."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Any

from headwater.errors import ExtensionError
from headwater.ext.claims import Claim
from headwater.ext.lineage import ExpressionDependency, InputRelation, NodeLineage, OutputRelation
from headwater.ext.validation import checked
from headwater.ext.views import Views
from headwater.model import Dataset, DatasetDescription, Gap, Transformation
from headwater.plan import Expression, Node, Operator

LONGEST_NAME = 10_000

_NONE: Mapping[Any, Any] = MappingProxyType({})
Children = tuple[Transformation | None, ...]
"""The transformation of each child of an expression; None of one that takes no part."""


@dataclass(frozen=True, slots=True)
class ExtensionAnswers:
    """The answers of extensions about operators, expressions and relations; and the gaps of those that broke."""

    operators: Mapping[Operator, NodeLineage] = field(default_factory=lambda: _NONE)
    expressions: Mapping[Expression, Children] = field(default_factory=lambda: _NONE)
    relations: Mapping[Operator, tuple[DatasetDescription, ...]] = field(default_factory=lambda: _NONE)
    gaps: tuple[Gap, ...] = ()

    def before(self, other: "ExtensionAnswers") -> "ExtensionAnswers":
        """Both; where both have an answer for one node, this."""
        return ExtensionAnswers(
            {**other.operators, **self.operators},
            {**other.expressions, **self.expressions},
            {**other.relations, **self.relations},
            self.gaps + other.gaps,
        )

    def with_gaps(self, gaps: tuple[Gap, ...]) -> "ExtensionAnswers":
        """The same with these gaps."""
        return replace(self, gaps=gaps)


NO_ANSWERS = ExtensionAnswers()
"""No extension has an answer."""


def answers_of(claims: Sequence[Claim], views: Views) -> ExtensionAnswers:
    """Collect the answers of one extension's hooks for their nodes; for one node the first that has one counts.

    Raises:
        ExtensionError: an answer is not what was asked for. Hooks may raise anything.
    """
    operators: dict[Operator, NodeLineage] = {}
    expressions: dict[Expression, Children] = {}
    relations: dict[Operator, tuple[DatasetDescription, ...]] = {}
    for _, kind, hook, node in claims:
        seen: Any = views.of(node)
        if isinstance(node, Expression):
            if node not in expressions and (children := _children(hook, node, seen)) is not None:
                expressions[node] = children
        elif isinstance(node, Operator) and kind == "operators":
            if node not in operators and (lineage := _lineage(hook, seen)) is not None:
                operators[node] = lineage
        elif isinstance(node, Operator) and node not in relations and (found := _datasets(hook, seen)):
            relations[node] = found
    return ExtensionAnswers(operators, expressions, relations)


def named(dataset: Dataset) -> Dataset:
    """Return the dataset, if events can name it.

    Raises:
        ExtensionError: it is empty or has more than 10,000 letters.
    """
    for text in (dataset.namespace, dataset.name):
        if not 0 < len(text) <= LONGEST_NAME or "\0" in text:
            raise ExtensionError(f"it named a dataset {text[:80]!r}; expected a namespace and a name of 1 to 10,000")
    return dataset


def _lineage(hook: Any, seen: Operator) -> NodeLineage | None:
    inputs = checked(_or_empty(hook.inputs(seen)), tuple[InputRelation, ...])
    outputs = checked(_or_empty(hook.outputs(seen)), tuple[OutputRelation, ...])
    dependencies = hook.dependencies(seen)
    if dependencies is not None:
        dependencies = checked(dependencies, tuple[ExpressionDependency, ...])
    for relation in (*inputs, *outputs):
        if isinstance(relation.dataset, DatasetDescription):
            named(relation.dataset.dataset)
    answered = bool(inputs or outputs) or dependencies is not None
    return NodeLineage(inputs, outputs, dependencies) if answered else None


def _or_empty(answer: Any) -> Any:
    return () if answer is None else answer


def _children(hook: Any, node: Node, seen: Node) -> Children | None:
    transformations = hook.children(seen)
    if transformations is None:
        return None
    found: Children = checked(transformations, tuple[Transformation | None, ...])
    if len(found) != len(node.children):
        raise ExtensionError(f"it gave {len(found)} transformations for the {len(node.children)} children of {seen!r}")
    return found


def _datasets(hook: Any, seen: Operator) -> tuple[DatasetDescription, ...]:
    found: tuple[DatasetDescription, ...] = checked(_or_empty(hook.datasets(seen)), tuple[DatasetDescription, ...])
    for one in found:
        named(one.dataset)
    return found
