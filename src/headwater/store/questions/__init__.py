"""Questions about the lineage in a store, answered with frozen values."""

from headwater.store.questions.answers import (
    UNBOUNDED,
    Bounds,
    Column,
    Direction,
    EdgeType,
    Graph,
    Hop,
    Impact,
    ImpactedColumn,
    ImpactedDataset,
    KnownDataset,
    Origin,
    Path,
    Paths,
    Root,
    Roots,
    Way,
)
from headwater.store.questions.coverage import Coverage, Covered, coverage
from headwater.store.questions.graphs import impact_of, walk_from
from headwater.store.questions.listing import Hits, ListedDataset, ListedJob, ListedRun, datasets, jobs, runs, search
from headwater.store.questions.paths import paths_between
from headwater.store.questions.roots import roots_of

__all__ = [
    "UNBOUNDED",
    "Bounds",
    "Column",
    "Coverage",
    "Covered",
    "Direction",
    "EdgeType",
    "Graph",
    "Hits",
    "Hop",
    "Impact",
    "ImpactedColumn",
    "ImpactedDataset",
    "KnownDataset",
    "ListedDataset",
    "ListedJob",
    "ListedRun",
    "Origin",
    "Path",
    "Paths",
    "Root",
    "Roots",
    "Way",
    "coverage",
    "datasets",
    "impact_of",
    "jobs",
    "paths_between",
    "roots_of",
    "runs",
    "search",
    "walk_from",
]
