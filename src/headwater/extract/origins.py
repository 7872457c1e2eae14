"""What is remembered of rows that leave the plan of one query and come back in that of another.

A plan over a checkpoint or an RDD begins at a LogicalRDD, which does not say what the rows were made of.
"""

from collections import OrderedDict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from headwater.extract.trace import NOTHING, Paths, Trace, flat, union
from headwater.model import DatasetDescription, Gap

_MOST_PATHS = 1_000_000


@dataclass(frozen=True, slots=True)
class Origin:
    """Rows as a query made them: the trace of each column, what decides on the rows, what was read and not seen."""

    columns: tuple[Trace, ...]
    deciding: Paths = NOTHING
    datasets: tuple[DatasetDescription, ...] = ()
    gaps: tuple[Gap, ...] = ()

    @property
    def everything(self) -> Paths:
        """Where the columns come from, taken together."""
        return union(map(flat, self.columns))

    @property
    def size(self) -> int:
        """About how much memory it takes, in paths."""
        return 1 + len(self.deciding) + sum(len(flat(trace)) for trace in self.columns)


class Origins(Mapping[int, Origin]):
    """Origins by the id of their RDD; those not asked for in the longest time make room for new ones."""

    def __init__(self, most_paths: int = _MOST_PATHS) -> None:
        self._most_paths = most_paths
        self._paths = 0
        self._known: OrderedDict[int, Origin] = OrderedDict()

    def remember(self, rdd: int, origin: Origin) -> None:
        """Keep what is known of the rows of an RDD; the newest is kept whatever its size."""
        self._forget(rdd)
        self._known[rdd] = origin
        self._paths += origin.size
        while self._paths > self._most_paths and len(self._known) > 1:
            self._forget(next(iter(self._known)))

    def _forget(self, rdd: int) -> None:
        old = self._known.pop(rdd, None)
        self._paths -= old.size if old else 0

    def __getitem__(self, rdd: int) -> Origin:
        found = self._known[rdd]
        self._known.move_to_end(rdd)
        return found

    def __iter__(self) -> Iterator[int]:
        return iter(tuple(self._known))

    def __len__(self) -> int:
        return len(self._known)
