"""Delegates: operators that an answer about another operator names in the place of a dataset.

The dataset is what the delegate reads or writes.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping

from headwater.ext import InputRelation, NodeLineage, OutputRelation
from headwater.extract import writes
from headwater.extract.relations import leaves, naming, rdds, streams
from headwater.extract.scope import Extraction, merged
from headwater.model import DatasetDescription
from headwater.plan import Node, Operator, Plan

RELATIONS = merged(leaves.OPERATORS, rdds.OPERATORS, streams.OPERATORS)
"""The rules of operators where columns begin."""


def only_written(plan: Plan, answers: Mapping[Operator, NodeLineage]) -> frozenset[Operator]:
    """The operators that are targets of writes and that nothing reads.

    Of a delegate all operators at its lower left are targets. A target that is read as well is read with all below it.
    """
    if not answers:
        return writes.only_written(plan.operators)
    delegates = {node: frozenset(_delegates(one.outputs)) for node, one in answers.items()}
    targets: dict[Node, frozenset[Operator]] = {
        node: writes.targets_of(node) | delegates.get(node, frozenset()) for node in plan.operators
    }
    written = {one for node in plan.operators for one in writes.targets_of(node)}
    written.update(below for many in delegates.values() for one in many for below in down(one))
    read = [one for lineage in answers.values() for one in _delegates(lineage.inputs)]
    read.extend(below for node in plan.nodes if node not in written for below in _reads(node, targets.get(node, ())))
    while read:
        one = read.pop()
        if one in written:
            written.remove(one)
            read.extend(_reads(one, targets.get(one, ())))
    return frozenset(written)


def _delegates(relations: Iterable[InputRelation | OutputRelation]) -> Iterator[Operator]:
    return (one.dataset for one in relations if isinstance(one.dataset, Operator))


def _reads(node: Node, targets: Collection[Operator]) -> Iterator[Operator]:
    """The operators that a node refers to, but for its targets, unless they are its children or its query."""
    yield from (child for child in node.children if isinstance(child, Operator))
    for name in node.references:
        yield from (one for one in node.operators(name) if name == "query" or one not in targets)


def datasets_of(operator: Operator, extraction: Extraction) -> tuple[DatasetDescription, ...]:
    """The datasets of a delegate: those of the relation at its lower left end, which is what a command writes to."""
    *_, operator = down(operator)
    if (known := extraction.relations.get(operator)) is not None:
        return known
    answers = extraction.answers.get(operator)
    if answers is not None and answers.inputs:
        return _datasets_read(answers, extraction)
    aside = Extraction(extraction.settings, extraction.session, extraction.origins)
    if operator.name in RELATIONS:
        RELATIONS[operator.name](operator, (), aside)
    return tuple(aside.datasets) or naming.relation_descriptions(operator, extraction)


def down(operator: Operator) -> Iterator[Operator]:
    """An operator, and those at its lower left."""
    yield operator
    while operator.inputs:
        operator = operator.inputs[0]
        yield operator


def _datasets_read(answers: NodeLineage, extraction: Extraction) -> tuple[DatasetDescription, ...]:
    """The datasets that an operator reads by the answers about it."""
    found: list[DatasetDescription] = []
    for one in answers.inputs:
        own = datasets_of(one.dataset, extraction) if isinstance(one.dataset, Operator) else (one.dataset,)
        found.extend(with_added(each, one.added) for each in own)
    return tuple(found)


def with_added(description: DatasetDescription, added: DatasetDescription | None) -> DatasetDescription:
    """A description with what another says beside: its values before the own ones, its facets after them."""
    if added is None:
        return description
    return DatasetDescription(
        description.dataset,
        added.schema or description.schema,
        tuple(dict.fromkeys((*description.symlinks, *added.symlinks))),
        added.lifecycle or description.lifecycle,
        added.source or description.source,
        added.version or description.version,
        added.names or description.names,
        added.fields or description.fields,
        added.description or description.description,
        added.partition or description.partition,
        (*description.facets, *added.facets),
        replaces=added.replaces or description.replaces,
    )
