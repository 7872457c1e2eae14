"""The ``columnLineage`` dataset facet, 1-2-0, within a limit that never costs an edge in silence.

The ``lineage`` job facet, LineageFacet 1-0-0, has the same edges: for each output the datasets and columns that feed
it. On a run event it says what was observed (specification, Lineage Job Facet).

Edges between fields within columns are in a facet of the same form, ``headwater_nestedLineage``, with names of fields
as Spark writes them (`headwater.model.nested_fields`). The specification knows columns only, and a consumer that does
not know this facet has those.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache

import attr
from openlineage.client.generated import column_lineage_dataset as columns
from openlineage.client.generated.lineage import (
    LineageDatasetEntry,
    LineageDatasetInput,
    LineageFieldEntry,
    LineageJobFacet,
    LineageTransformation,
)

from headwater.model import (
    ColumnLineage,
    Dataset,
    Dependency,
    EdgesOfFunction,
    Gap,
    InputField,
    NestedDependency,
    NestedField,
    Output,
    Statement,
    names_nested,
)
from headwater.model.nested_fields import nested_name
from headwater.openlineage.identifiers import own_schema
from headwater.openlineage.writing.facets import FacetSettings
from headwater.openlineage.writing.input_fields import (
    COARSE,
    FacetOfEdges,
    OpaqueTransformation,
    names_of,
)

_MOST_PAIRS = 10_000


def column_lineage_facet(
    output: Output, settings: FacetSettings
) -> tuple[columns.ColumnLineageDatasetFacet | None, tuple[Gap, ...]]:
    """The facet of one output, None when it has no columns, and what a limit made of it."""
    lineage, gaps = within_limit(output.lineage, settings)
    if not lineage.fields and not lineage.dataset:
        return None, ()
    name = str(output.description.dataset)
    return FacetOfEdges(lineage.fields, lineage.dataset, settings), tuple(
        Gap("budget", what, why, name) for what, why in gaps
    )


def within_limit(lineage: ColumnLineage, settings: FacetSettings) -> tuple[ColumnLineage, list[tuple[str, str]]]:
    """The lineage in the form the settings ask for, or in a coarser one that fits; and why, if so.

    Coarser is never less: an edge on the dataset covers every column of it.
    """
    # A product of many is many edges.
    lineage, notes = _without_products(lineage, settings) if _size(lineage) > _MOST_PAIRS else (lineage, [])
    own, limit = _size(lineage), settings.max_edges
    if notes:
        return (lineage, notes) if own <= limit else _within(lineage, own, limit, notes)
    if not settings.dataset_lineage_enabled and lineage.dataset and lineage.fields:
        spread = own + len(lineage.dataset) * (len(lineage.fields) - 1)
        if spread <= limit:
            return ColumnLineage({name: edges | lineage.dataset for name, edges in lineage.fields.items()}), notes
        notes.append(("dataset lineage", f"On every field it would be {spread} edges, more than {limit}: kept apart."))
    return (lineage, notes) if own <= limit else _within(lineage, own, limit, notes)


def _within(
    lineage: ColumnLineage, count: int, limit: int, notes: list[tuple[str, str]]
) -> tuple[ColumnLineage, list[tuple[str, str]]]:
    coarse, note = _coarsened(lineage, limit)
    return coarse, [*notes, ("edges", f"{count} edges are more than {limit}: {note}")]


def _without_products(lineage: ColumnLineage, settings: FacetSettings) -> tuple[ColumnLineage, list[tuple[str, str]]]:
    """The lineage with the edges of a function from each of many columns to each of many on the dataset.

    That is exact where they lead to every field and are DIRECT; else more is covered, which is marked and noted.
    """
    split = _opaque_apart(lineage)
    sharing = Counter(opaque for opaque, _ in split.values())
    many = {opaque for opaque, columns in sharing.items() if len(opaque) * columns > _MOST_PAIRS}
    if not many:
        return lineage, []
    notes = []
    if not settings.dataset_lineage_enabled:
        pairs = sum(len(opaque) * sharing[opaque] for opaque in many)
        why = f"On every field a function's edges would be {pairs}, more than {_MOST_PAIRS}: kept apart."
        notes.append(("dataset lineage", why))
    shared = frozenset[Dependency].intersection(*many) if len(many) == len(sharing) else frozenset()
    everywhere = frozenset(edge for edge in shared if edge.transformation.direct)
    coarse = {edge.input for opaque in many for edge in opaque - everywhere}
    if coarse:
        count = sum(sharing[opaque] for opaque in many)
        notes.append(
            ("edges", f"A function fills {count} of {len(lineage.fields)} columns: its inputs stand for the dataset.")
        )
    fields = {name: own if opaque in many else lineage.fields[name] for name, (opaque, own) in split.items()}
    on_all = lineage.dataset | everywhere | {Dependency(column, COARSE) for column in coarse}
    return ColumnLineage(fields, on_all), notes


def _opaque_apart(lineage: ColumnLineage) -> dict[str, tuple[frozenset[Dependency], frozenset[Dependency]]]:
    """The opaque edges of each field and its others; equal opaque ones are one object, for there may be very many."""
    shared: dict[frozenset[Dependency], frozenset[Dependency]] = {}

    @cache
    def apart(edges: frozenset[Dependency]) -> tuple[frozenset[Dependency], frozenset[Dependency]]:
        opaque = frozenset([edge for edge in edges if edge.transformation.opaque])
        return (shared.setdefault(opaque, opaque), edges - opaque) if opaque else (opaque, edges)

    return {
        name: (edges.received, edges.own) if isinstance(edges, EdgesOfFunction) else apart(frozenset(edges))
        for name, edges in lineage.fields.items()
    }


def _size(lineage: ColumnLineage) -> int:
    return len(lineage.dataset) + sum(len(edges) for edges in lineage.fields.values())


def _coarsened(lineage: ColumnLineage, limit: int) -> tuple[ColumnLineage, str]:
    """The columns with few edges as they are; the inputs of the others as opaque edges on the dataset."""
    by_size = sorted(lineage.fields, key=lambda name: len(lineage.fields[name]))
    shown = _most_that_fit(lineage, by_size, limit)
    coarse = {edge.input for name in by_size[shown:] for edge in lineage.fields[name]}
    fine = set(by_size[:shown])
    fields = {name: edges if name in fine else frozenset() for name, edges in lineage.fields.items()}
    result = ColumnLineage(fields, lineage.dataset | {Dependency(column, COARSE) for column in coarse})
    note = f"the inputs of {len(by_size) - shown} of {len(by_size)} columns stand for the whole dataset."
    lost = _size(result) - limit
    return (result, note) if lost <= 0 else _cut(result, limit, note)


def _most_that_fit(lineage: ColumnLineage, by_size: list[str], limit: int) -> int:
    """How many columns, the small ones first, can keep their edges when the others are coarsened."""
    distinct: set[InputField] = set()
    coarse_sizes = [0]
    for name in reversed(by_size):
        distinct.update(edge.input for edge in lineage.fields[name])
        coarse_sizes.append(len(distinct))
    fine, best = len(lineage.dataset), 0
    for shown, name in enumerate(by_size, start=1):
        fine += len(lineage.fields[name])
        if fine + coarse_sizes[len(by_size) - shown] <= limit:
            best = shown
    return best


def _cut(lineage: ColumnLineage, limit: int, note: str) -> tuple[ColumnLineage, str]:
    """More distinct inputs than the limit: the one case in which edges are lost, and a gap names it."""
    inputs = sorted({edge.input for edge in lineage.dataset}, key=names_of)
    fields: Mapping[str, frozenset[Dependency]] = {name: frozenset() for name in lineage.fields}
    shown = frozenset(Dependency(column, COARSE) for column in inputs[:limit])
    lost = max(len(inputs) - limit, 0)
    return ColumnLineage(fields, shown), f"{note} {lost} of {len(inputs)} input columns are left out."


OutputLineage = tuple[Output, columns.ColumnLineageDatasetFacet | None]
"""An output and the facet of its edges."""


@attr.define
class OpaqueLineageTransformation(LineageTransformation):
    """A conservative edge, marked as in ``columnLineage``; the specification allows more properties here."""

    opaque: bool = True


def explicit_lineage_facet(
    statement: Statement, outputs: Sequence[OutputLineage], settings: FacetSettings
) -> LineageJobFacet | None:
    """The facet of a statement, one entry for each output; None without outputs.

    An output that is the only one is fed by all that was read, also by what no column comes from (``count(*)``).
    """
    if not outputs:
        return None
    read = {seen.dataset for seen in statement.inputs} if len(outputs) == 1 else set[Dataset]()
    return LineageJobFacet([_entry(output, facet, read) for output, facet in outputs], producer=settings.producer)


def _entry(output: Output, facet: columns.ColumnLineageDatasetFacet | None, read: set[Dataset]) -> LineageDatasetEntry:
    dataset, feeding = output.description.dataset, read | output.lineage.inputs
    whole = [LineageDatasetInput(one.namespace, one.name, "DATASET", transformations=None) for one in sorted(feeding)]
    fields = facet.fields if facet else {}
    return LineageDatasetEntry(
        dataset.namespace,
        dataset.name,
        "DATASET",
        inputs=[*whole, *_inputs((facet.dataset if facet else None) or ())],
        fields={name: LineageFieldEntry([*_inputs(field.inputFields)]) for name, field in fields.items()} or None,
    )


def _inputs(edges: Iterable[columns.InputField]) -> Iterator[LineageDatasetInput]:
    for edge in edges:
        steps = [_transformation(step) for step in edge.transformations or ()]
        yield LineageDatasetInput(edge.namespace, edge.name, "DATASET", edge.field, steps)


def _transformation(step: columns.Transformation) -> LineageTransformation:
    kind = OpaqueLineageTransformation if isinstance(step, OpaqueTransformation) else LineageTransformation
    return kind(step.type, step.subtype, step.description, step.masking)


class HeadwaterNestedLineageDatasetFacet(FacetOfEdges):
    """Edges of fields within columns; its schema is ``schemas/HeadwaterNestedLineageDatasetFacet.json``."""

    @staticmethod
    def _get_schema() -> str:
        return own_schema("HeadwaterNestedLineageDatasetFacet")


def nested_lineage_facet(lineage: ColumnLineage, settings: FacetSettings) -> HeadwaterNestedLineageDatasetFacet:
    """The facet of one output; columns of which no edge names a field within are left to ``columnLineage``."""
    fields: defaultdict[str, set[Dependency]] = defaultdict(set)
    for column, edges in lineage.fields.items():
        for edge in edges if names_nested(edges) else ():
            path = edge.path if isinstance(edge, NestedDependency) else ()
            fields[nested_name((column, *path))].add(_as_named(edge))
    rows = map(_as_named, lineage.dataset) if names_nested(lineage.dataset) else ()
    return HeadwaterNestedLineageDatasetFacet(fields, frozenset(rows), settings)


def _as_named(edge: Dependency) -> Dependency:
    """The edge from an input field by its whole name."""
    field = edge.input
    path = field.path if isinstance(field, NestedField) else ()
    return Dependency(InputField(field.dataset, nested_name((field.name, *path))), edge.transformation)
