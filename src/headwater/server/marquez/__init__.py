"""The HTTP API of Marquez 0.50, for its clients, its pages and other tools."""

from headwater.server.marquez import (
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

ROUTERS = (
    *(one.router for one in (namespaces, sources, datasets, jobs, runs, tags, search)),
    search.beta_router,
    *(one.router for one in (statistics, events, lineage, column_lineage)),
)
"""The routes of every resource."""
