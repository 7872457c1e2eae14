"""The answers of questions: frozen values, with names beside ids."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import Generic, TypeVar

from headwater.model import Dataset, Job, Subtype, Transformation

Item = TypeVar("Item")
Node = tuple[int, tuple[str, ...]]
"""The id of a column, and the path of a field within it; no path for the column itself."""

Sees = Callable[[str], bool] | None
"""Whether a namespace may be asked for; None when all may."""


@dataclass(frozen=True, slots=True, order=True)
class KnownDataset:
    """A dataset of the store; ``aliases`` are its other names (symlinks)."""

    dataset: Dataset
    aliases: tuple[Dataset, ...] = ()
    id: int = field(default=0, compare=False)

    @property
    def names(self) -> tuple[Dataset, ...]:
        """Every name of it, that which is shown first."""
        return (self.dataset, *self.aliases)

    def __str__(self) -> str:
        return str(self.dataset)


@dataclass(frozen=True, slots=True, order=True)
class Column:
    """A field of a dataset of the store, or one within it.

    Of a field within a column ``path`` has the names of all fields from the column inwards, ``name`` is these as Spark
    writes them, and ``within`` is the id of the column.
    """

    dataset: KnownDataset
    name: str
    type: str = field(default="", compare=False)
    id: int = field(default=0, compare=False)
    path: tuple[str, ...] = ()
    within: int = field(default=0, compare=False)

    @property
    def node(self) -> Node:
        """The column and the path within it."""
        return (self.within, self.path[1:]) if self.path else (self.id, ())

    def __str__(self) -> str:
        return f"{self.dataset}.{self.name}"


@dataclass(frozen=True, slots=True)
class KnownJob(Job):
    """A job of the store."""

    id: int = field(default=0, compare=False)


@dataclass(frozen=True, slots=True)
class FoundPage(Generic[Item]):
    """A page of a search; ``next`` is where to go on, None at the end."""

    found: tuple[Item, ...]
    next: tuple[int, int] | None


class Direction(str, Enum):
    """Against the flow of data, or with it; or each by itself, from the same start."""

    UP = "up"
    DOWN = "down"
    BOTH = "both"


class EdgeType(str, Enum):
    """Which edges a walk follows: those that carry the value, or paths that influence it without."""

    DIRECT = "direct"
    INDIRECT = "indirect"


@dataclass(frozen=True, slots=True)
class Bounds:
    """The edges that a walk follows, and where it ends at the latest.

    ``edge_type`` DIRECT follows only steps that carry the value; INDIRECT keeps only paths that influence it
    without carrying it; None keeps all. ``as_of`` is a moment in microseconds since 1970, None for now.
    ``depth`` counts steps; ``columns`` and ``seconds`` keep a huge graph from filling memory and patience.

    An edge that is filtered out is not walked: one of another subtype, of another job (``NAME`` or
    ``NAMESPACE/NAME``), one that masks or does not, or that leads out of the namespaces (patterns as of the shell).
    Empty filters, and None, let every edge through. ``guess`` asks for the links too that no event contains
    (`headwater.store.questions.walk.guesses`), ``nested`` for those between fields within columns, which a walk that
    begins at one follows anyway (`headwater.store.questions.walk.nested`). ``sees`` says of which namespaces names may
    be asked for, in filters and at the start: those of others are as if they were not there.
    """

    edge_type: EdgeType | None = None
    as_of: int | None = None
    depth: int | None = None
    columns: int = 20_000
    seconds: float = 20.0
    subtypes: frozenset[Subtype] = frozenset()
    masking: bool | None = None
    jobs: tuple[str, ...] = ()
    namespaces: tuple[str, ...] = ()
    guess: bool = False
    nested: bool = False
    sees: Sees = None

    @property
    def filtered(self) -> bool:
        """Whether edges may have been left out that carry a value."""
        return bool(self.subtypes or self.jobs or self.namespaces or self.masking is not None)


UNBOUNDED = Bounds()
"""All edges of now, as far as the default limits go."""


@dataclass(frozen=True, slots=True)
class Sides:
    """Of a walk both ways, the distances upstream and those downstream, by id."""

    up: dict[int, int]
    down: dict[int, int]


@dataclass(frozen=True, slots=True)
class PathTransformation:
    """How a column takes part in another, over all steps between them.

    ``whole_dataset`` says that it acts on every row of a dataset on the way (a filter, a join), not on one column.
    """

    transformation: Transformation
    whole_dataset: bool = False


@dataclass(frozen=True, slots=True)
class Overwrite:
    """A run that overwrote a dataset, and may have replaced all that others wrote to it; when it ended."""

    run: str
    job: Job
    at: int


@dataclass(frozen=True, slots=True)
class Hop:
    """One step: a job makes a column, or every row of a dataset (``output`` None), depend on a column.

    ``possibly_replaced`` is the last run that may have replaced what the job wrote.
    """

    input: Column
    output: Column | None
    output_dataset: KnownDataset
    transformations: tuple[Transformation, ...]
    job: Job
    possibly_replaced: Overwrite | None = None

    @property
    def whole_dataset(self) -> bool:
        """True when the step acts on every column of the output dataset."""
        return self.output is None


class Origin(str, Enum):
    """Why nothing stands before a root."""

    SOURCE = "source"  # no known job writes its dataset
    CONSTANT = "constant"  # the job that writes it reads nothing for it: a literal, a count of rows
    UNKNOWN = "unknown"  # jobs write its dataset, and what they say of it is nothing, or not all
    CYCLE = "cycle"  # it is made from itself only
    FILTERED = "filtered"  # what stands before it was filtered out


class Evidence(str, Enum):
    """Why a column has nothing before it, as far as is known; beside `Origin`, whose values are fewer."""

    UNWRITTEN = "unwritten"  # no known run writes its dataset
    LITERAL = "literal"  # a run wrote it, and its lineage is whole: it reads no column
    PARTIAL = "partial"  # a run wrote it, but its lineage has gaps
    NO_LINEAGE = "no lineage"  # runs write its dataset, and say nothing of columns
    UNNAMED = "unnamed"  # runs write its dataset, but none ever named that column
    REPLACED = "replaced"  # a run replaced all rows of its dataset, and none has described what is in it since
    CYCLE = "cycle"
    FILTERED = "filtered"


@dataclass(frozen=True, slots=True)
class End:
    """Why a walk up ends at a column; ``near`` are columns that may be meant where no run ever named this one."""

    evidence: Evidence
    near: tuple[Column, ...] = ()


Readings = Mapping[int, tuple[tuple[int, int], ...]]
"""The steps of a walk up by when each column was read, of one that met lineage of before.

For each node the nodes before it, with the place of the hop between. Nodes are the ids of columns, those of whole
datasets with a minus sign, and others: a column with what it had when it was read before.
"""


@dataclass(frozen=True, slots=True)
class Graph:
    """The result of a walk: columns with their distance from the start, and the hops between them.

    ``truncated`` names the limits that cut the walk: ``depth``, ``columns``, ``time``; ``nested`` where fields within
    columns were followed no further than to some events. It is empty when the walk is whole.
    ``sides`` are those of a walk both ways, whose distances are to the nearer side. ``ends`` are the columns that
    nothing stands before, where they were asked for; with them come the ``readings``, of a walk that met any.
    """

    start: Column | KnownDataset
    direction: Direction
    columns: dict[Column, int]
    hops: tuple[Hop, ...]
    truncated: tuple[str, ...] = ()
    sides: Sides | None = None
    ends: Mapping[Column, End] = field(default_factory=dict)
    readings: Readings = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Root:
    """A column with nothing before it, and how it reaches the column that was asked for.

    ``jobs`` are those on the shortest path, from the root on; ``applications`` what they are parts of. ``near`` are
    columns that may be meant where no run ever named this one. ``possibly_replaced`` are the runs that may have
    replaced what a job on that path wrote.
    """

    column: Column
    origin: Origin
    transformations: tuple[PathTransformation, ...]
    distance: int
    jobs: tuple[Job, ...]
    applications: tuple[Job, ...] = ()
    evidence: Evidence | None = None
    near: tuple[Column, ...] = ()
    possibly_replaced: tuple[Overwrite, ...] = ()


@dataclass(frozen=True, slots=True)
class Roots:
    """The roots of a column; ``origin``, ``evidence`` and ``near`` are set when it is a root itself."""

    column: Column
    roots: tuple[Root, ...]
    origin: Origin | None = None
    truncated: tuple[str, ...] = ()
    evidence: Evidence | None = None
    near: tuple[Column, ...] = ()


@dataclass(frozen=True, slots=True)
class ImpactedColumn:
    """A column that depends on the one that was asked for."""

    column: Column
    distance: int
    transformations: tuple[PathTransformation, ...]


@dataclass(frozen=True, slots=True)
class ImpactedDataset:
    """A dataset with impacted columns, the jobs that write those, and the distance of the nearest.

    ``transformations`` are those of the dataset itself, of which no column is known; empty otherwise.
    ``possibly_replaced`` are the runs that may have replaced what one of the jobs wrote.
    """

    dataset: KnownDataset
    columns: tuple[ImpactedColumn, ...]
    jobs: tuple[Job, ...]
    distance: int
    transformations: tuple[PathTransformation, ...] = ()
    possibly_replaced: tuple[Overwrite, ...] = ()


@dataclass(frozen=True, slots=True)
class Impact:
    """Everything downstream, the nearest datasets first."""

    start: Column | KnownDataset
    datasets: tuple[ImpactedDataset, ...]
    truncated: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Path:
    """From one column to another: n + 1 columns and the n steps between them, in the direction of the data.

    A step has one hop per job that makes it.
    """

    columns: tuple[Column, ...]
    steps: tuple[tuple[Hop, ...], ...]


@dataclass(frozen=True, slots=True)
class Paths:
    """Paths from ``source`` to ``target``, shortest first; empty when there is none."""

    source: Column
    target: Column
    paths: tuple[Path, ...]
    truncated: tuple[str, ...] = ()
