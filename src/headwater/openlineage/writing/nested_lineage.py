"""The ``headwater_nestedLineage`` dataset facet: edges between fields within columns, beside ``columnLineage``.

It has the form of ``columnLineage``, 1-2-0, with names of fields as Spark writes them
(`headwater.model.nested_fields`). The specification knows columns only, and a consumer that does not know this facet
has those.
"""

from collections import defaultdict

from headwater.model import ColumnLineage, Dependency, InputField, NestedDependency, NestedField, names_nested
from headwater.model.nested_fields import nested_name
from headwater.openlineage.identifiers import own_schema
from headwater.openlineage.writing.facets import FacetSettings
from headwater.openlineage.writing.input_fields import FacetOfEdges


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
