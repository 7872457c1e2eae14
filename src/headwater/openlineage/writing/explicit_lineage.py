"""The ``lineage`` job facet, LineageFacet 1-0-0: for each output the datasets and columns that feed it.

On a run event it says what was observed (specification, Lineage Job Facet); its edges are those of ``columnLineage``.
"""

from collections.abc import Iterable, Iterator, Sequence

import attr
from openlineage.client.generated import column_lineage_dataset as columns
from openlineage.client.generated.lineage import (
    LineageDatasetEntry,
    LineageDatasetInput,
    LineageFieldEntry,
    LineageJobFacet,
    LineageTransformation,
)

from headwater.model import Dataset, Output, Statement
from headwater.openlineage.writing.column_lineage import OpaqueTransformation
from headwater.openlineage.writing.facets import FacetSettings

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
