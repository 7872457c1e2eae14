"""The origins of rows that leave the plan of one query and come back in that of another.

A plan over a checkpoint or an RDD begins at a LogicalRDD, which does not say what the rows were made of.
"""

from collections import OrderedDict
from collections.abc import Hashable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import TypeAlias

from headwater.extract.trace import NOTHING, TRANSFORMED, Paths, Trace, flat, step, union
from headwater.model import DatasetDescription, Gap, Statement

_MOST_PATHS = 1_000_000

OriginKey: TypeAlias = int | tuple[Hashable, ...]
"""The holder of rows: the id of an RDD, or one of those below."""


def batch_of(columns: Iterable[int]) -> OriginKey:
    """The batch that ``foreachBatch`` hands out: its columns have the exprIds of the stream's plan."""
    return ("batch", *columns)


def memory_of(sink: int) -> OriginKey:
    """The table that a stream keeps in memory, by the identity of its sink in the JVM."""
    return ("memory", sink)


def collected_as(column: int) -> OriginKey:
    """The rows that the driver made of collected ones (``df.transpose()``), by the exprId of their first column."""
    return ("collected", column)


VARIABLES = "variables"
"""With the id of a session, or None for any: the key that says that a query has filled a variable there."""


def variable_of(session: object, parts: Iterable[object]) -> OriginKey:
    """A variable of a session or a script, by the parts of its name, which have no case."""
    return ("variable", str(session), *(str(part).casefold() for part in parts))


@dataclass(frozen=True, slots=True)
class Origin:
    """Rows as a query made them: the trace of each column, what decides on the rows, what was read and not seen.

    ``nested`` is the same by fields within columns, of rows that were made of some (`headwater.extract.nested`).
    """

    columns: tuple[Trace, ...]
    deciding: Paths = NOTHING
    datasets: tuple[DatasetDescription, ...] = ()
    gaps: tuple[Gap, ...] = ()
    nested: "Origin | None" = None

    @property
    def everything(self) -> Paths:
        """Where the columns come from, taken together."""
        return union(map(flat, self.columns))

    @property
    def size(self) -> int:
        """About how much memory it takes, in paths."""
        own = 1 + len(self.deciding) + sum(len(flat(trace)) for trace in self.columns)
        return own + (self.nested.size if self.nested else 0)


def as_json(rows: Origin) -> Origin:
    """The rows as ``df.toJSON()`` has them: a text with all columns, then the columns for who reads it as JSON."""
    nested = as_json(rows.nested) if rows.nested else None
    return replace(rows, columns=(step(TRANSFORMED, rows.everything), *rows.columns), nested=nested)


@dataclass(frozen=True, slots=True)
class Stream:
    """A streaming query: what it reads and writes, the class of its sink, its rows and what will hold them."""

    statement: Statement
    sink: str
    rows: Origin
    held_by: tuple[OriginKey, ...]


class Origins(Mapping[OriginKey, Origin]):
    """Origins by what holds their rows; those not asked for in the longest time make room for new ones."""

    def __init__(self, most_paths: int = _MOST_PATHS) -> None:
        self._most_paths = most_paths
        self._paths = 0
        self._known: OrderedDict[OriginKey, Origin] = OrderedDict()

    def remember(self, key: OriginKey, origin: Origin) -> None:
        """Keep what is known of rows; the newest is kept whatever its size."""
        self._forget(key)
        self._known[key] = origin
        self._paths += origin.size
        while self._paths > self._most_paths and len(self._known) > 1:
            self._forget(next(iter(self._known)))

    def _forget(self, key: OriginKey) -> None:
        old = self._known.pop(key, None)
        self._paths -= old.size if old else 0

    def forget_variables(self) -> None:
        """Forget what filled variables, of any session: one of them has been assigned what is not known."""
        for key in self:
            if isinstance(key, tuple) and key[0] == "variable":
                self._forget(key)
        self.remember((VARIABLES, None), Origin(()))

    def __getitem__(self, key: OriginKey) -> Origin:
        found = self._known[key]
        self._known.move_to_end(key)
        return found

    def __iter__(self) -> Iterator[OriginKey]:
        return iter(tuple(self._known))

    def __len__(self) -> int:
        return len(self._known)


def has_variables(session: object, origins: Mapping[OriginKey, Origin]) -> bool:
    """Whether the session of that id has a variable that a query filled, or may have filled."""
    return session is not None and any((VARIABLES, known) in origins for known in (str(session), None))


def variables_of(session: object, origins: Mapping[OriginKey, Origin]) -> tuple[Origin, ...]:
    """The values of all variables of a session and its scripts that a query filled."""
    keys = [key for key in origins if isinstance(key, tuple) and key[:2] == ("variable", str(session))]
    return tuple(found for found in map(origins.__getitem__, keys) if found.everything or found.gaps)
