"""Other names for datasets, wherever a statement names one: inputs, outputs, edges, symlinks and changes of names."""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import cache

from headwater.model import (
    ColumnLineage,
    Dataset,
    DatasetDescription,
    Dependency,
    EdgesOfFunction,
    Output,
    Statement,
    Symlink,
)

Names = Mapping[Dataset, Dataset]


def datasets_of(statement: Statement) -> tuple[Dataset, ...]:
    """Every dataset that a statement names, once."""
    return tuple(dict.fromkeys(_datasets(statement)))


def _datasets(statement: Statement) -> Iterator[Dataset]:
    for seen in (*statement.inputs, *(output.description for output in statement.outputs)):
        yield seen.dataset
        yield from (link.dataset for link in seen.symlinks)
        for change in seen.names:
            yield change.former
            if change.present is not None:
                yield change.present
    for output in statement.outputs:
        yield from sorted(output.lineage.inputs)


def renamed(statement: Statement, names: Names) -> Statement:
    """The statement with those of ``names`` in the place of the former ones."""
    if not names:
        return statement
    return replace(
        statement,
        inputs=tuple(_described(seen, names) for seen in statement.inputs),
        outputs=tuple(_output(output, names) for output in statement.outputs),
    )


def _output(output: Output, names: Names) -> Output:
    lineage = renamed_lineage(output.lineage, names)
    return replace(output, description=_described(output.description, names), lineage=lineage)


def _described(seen: DatasetDescription, names: Names) -> DatasetDescription:
    dataset = names.get(seen.dataset, seen.dataset)
    links = dict.fromkeys(Symlink(names.get(link.dataset, link.dataset), link.type) for link in seen.symlinks)
    changes = (
        replace(
            change,
            former=names.get(change.former, change.former),
            present=names.get(change.present, change.present) if change.present else None,
        )
        for change in seen.names
    )
    others = tuple(link for link in links if link.dataset != dataset)
    return replace(seen, dataset=dataset, symlinks=others, names=tuple(changes))


def renamed_lineage(lineage: ColumnLineage, names: Names) -> ColumnLineage:
    """The edges, from fields of the datasets under their new names."""
    if not names:
        return lineage

    @cache
    def renamed(edges: frozenset[Dependency]) -> frozenset[Dependency]:
        return frozenset([_edge(edge, names) for edge in edges])

    fields = {
        field: EdgesOfFunction(renamed(edges.received), renamed(edges.own))
        if isinstance(edges, EdgesOfFunction)
        else renamed(frozenset(edges))
        for field, edges in lineage.fields.items()
    }
    return ColumnLineage(fields, renamed(lineage.dataset))


def _edge(edge: Dependency, names: Names) -> Dependency:
    field = edge.input
    return replace(edge, input=replace(field, dataset=names.get(field.dataset, field.dataset)))
