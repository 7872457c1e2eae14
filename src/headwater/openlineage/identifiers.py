"""Producers, names of facets and URLs of schemas, each declared once for the two halves of the codec.

Of the specification's facets openlineage-python knows names and schemas; here are headwater's own, and the schemas of
what is written without the classes of that client.
"""

PRODUCER = "urn:headwater:producer:headwater"
SERVER_PRODUCER = f"{PRODUCER}-server"
"""The producer of events that the server makes of descriptions over HTTP."""

COVERAGE = "headwater_coverage"
"""The run facet with what the lineage of a run does not cover."""

NAMES = "headwater_names"
"""The dataset facet with what a statement did to the names of a dataset and its fields."""

WRITE = "headwater_write"
"""The output facet that says which rows a write replaces."""

NESTED = "headwater_nestedLineage"
"""The dataset facet with the edges between fields within columns."""

GRANT = "headwater_grant"
"""The member of an event that lists the patterns of its key's namespaces; an event without it has no limits."""

ARGUMENTS = "marquez_run"
"""The run facet in which a run that is made over HTTP keeps what Marquez calls its arguments."""

_SPECIFICATION = "https://openlineage.io/spec"


def extension_producer(name: str) -> str:
    """Return the producer of the facets that an extension adds."""
    return f"urn:headwater:extension:{name}"


def own_schema(facet: str) -> str:
    """Return the URL of the schema of one of headwater's own facets.

    >>> own_schema("HeadwaterNamesDatasetFacet")
    'urn:headwater:facets:1-0-0:HeadwaterNamesDatasetFacet.json#/$defs/HeadwaterNamesDatasetFacet'
    """
    return f"urn:headwater:facets:1-0-0:{facet}.json#/$defs/{facet}"


def event_schema(kind: str) -> str:
    """Return the URL of what the main schema, 2-0-2, defines: ``RunEvent``, ``JobFacet`` and others.

    >>> event_schema("RunEvent")
    'https://openlineage.io/spec/2-0-2/OpenLineage.json#/$defs/RunEvent'
    """
    return f"{_SPECIFICATION}/2-0-2/OpenLineage.json#/$defs/{kind}"


def facet_schema(version: str, facet: str) -> str:
    """Return the URL of the schema of a facet of the specification.

    >>> facet_schema("1-0-1", "SQLJobFacet")
    'https://openlineage.io/spec/facets/1-0-1/SQLJobFacet.json#/$defs/SQLJobFacet'
    """
    return f"{_SPECIFICATION}/facets/{version}/{facet}.json#/$defs/{facet}"
