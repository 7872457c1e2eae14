"""The HTTP API of Marquez 0.50, for its clients, its pages and other tools."""

from headwater.server.marquez import (
    beta_search,
    column_lineage,
    datasets,
    events,
    jobs,
    lineage,
    namespaces,
    runs,
    search,
    sources,
    statistics,
    tags,
)

ROUTERS = tuple(
    resource.router
    for resource in (
        namespaces,
        sources,
        datasets,
        jobs,
        runs,
        tags,
        search,
        beta_search,
        statistics,
        events,
        lineage,
        column_lineage,
    )
)
"""The routes of every resource."""
