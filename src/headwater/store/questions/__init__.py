"""Questions about the lineage in a store, answered with frozen values."""

from headwater.store.questions.answers import (
    UNBOUNDED,
    Bounds,
    Column,
    Direction,
    EdgeType,
    Evidence,
    Graph,
    Hop,
    Impact,
    ImpactedColumn,
    ImpactedDataset,
    KnownDataset,
    KnownJob,
    Origin,
    Path,
    Paths,
    Root,
    Roots,
    Sides,
    Way,
)
from headwater.store.questions.changes import Change, changes_after, latest_event
from headwater.store.questions.collapsed import DatasetGraph, DatasetHop, datasets_from
from headwater.store.questions.columns import (
    DatasetPage,
    FoundColumn,
    FoundColumns,
    Match,
    dataset_page,
    find_columns,
)
from headwater.store.questions.compact import CompactGraph, Reached, compact_from, reached_from
from headwater.store.questions.coverage import Coverage, Covered, coverage
from headwater.store.questions.differences import ChangedHop, Difference, difference, difference_of_job
from headwater.store.questions.exact import Exact, Name
from headwater.store.questions.graphs import impact_of, walk_from
from headwater.store.questions.guesses import GUESS
from headwater.store.questions.listing import Hits, ListedDataset, ListedJob, ListedRun, datasets, jobs, runs, search
from headwater.store.questions.moments import iso, moment_of, state_of
from headwater.store.questions.paths import paths_between
from headwater.store.questions.roots import roots_of

__all__ = [
    "GUESS",
    "UNBOUNDED",
    "Bounds",
    "Change",
    "ChangedHop",
    "Column",
    "CompactGraph",
    "Coverage",
    "Covered",
    "DatasetGraph",
    "DatasetHop",
    "DatasetPage",
    "Difference",
    "Direction",
    "EdgeType",
    "Evidence",
    "Exact",
    "FoundColumn",
    "FoundColumns",
    "Graph",
    "Hits",
    "Hop",
    "Impact",
    "ImpactedColumn",
    "ImpactedDataset",
    "KnownDataset",
    "KnownJob",
    "ListedDataset",
    "ListedJob",
    "ListedRun",
    "Match",
    "Name",
    "Origin",
    "Path",
    "Paths",
    "Reached",
    "Root",
    "Roots",
    "Sides",
    "Way",
    "changes_after",
    "compact_from",
    "coverage",
    "dataset_page",
    "datasets",
    "datasets_from",
    "difference",
    "difference_of_job",
    "find_columns",
    "impact_of",
    "iso",
    "jobs",
    "latest_event",
    "moment_of",
    "paths_between",
    "reached_from",
    "roots_of",
    "runs",
    "search",
    "state_of",
    "walk_from",
]
