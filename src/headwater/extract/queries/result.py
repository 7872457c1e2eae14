"""The output of a query or one of its parts: columns by name, and stars over tables of unknown columns."""

from collections.abc import Iterable
from dataclasses import dataclass

from headwater.extract.trace import NOTHING, OPAQUE, Paths, source, step, union
from headwater.model import Dataset, InputField


@dataclass(frozen=True, slots=True)
class Star:
    """All columns of a table; of several where a set operation puts their rows together."""

    tables: tuple[Dataset, ...]

    def column(self, name: str) -> Paths:
        """The column of that name."""
        return union(source(InputField(table, name)) for table in self.tables)


Column = tuple[str, Paths | Star]


@dataclass(frozen=True, slots=True)
class Result:
    """The columns that a query puts out, in order, and what decides on its rows."""

    columns: tuple[Column, ...] = ()
    deciding: Paths = NOTHING

    @property
    def stars(self) -> tuple[Star, ...]:
        """The stars among the columns."""
        return tuple(trace for _, trace in self.columns if isinstance(trace, Star))

    def named(self, name: str) -> Paths | None:
        """The column that is listed under that name; None when none is."""
        found = [
            trace for label, trace in self.columns if not isinstance(trace, Star) and label.lower() == name.lower()
        ]
        return union(trace for trace in found if not isinstance(trace, Star)) if found else None

    def column(self, name: str) -> tuple[Paths, bool]:
        """The column of that name, listed or under a star, and whether that is certain."""
        listed = self.named(name)
        return (listed, True) if listed is not None else candidates(self.stars, name)

    def renamed(self, names: Iterable[str]) -> "Result":
        """The columns under other names, by position; a star makes positions unknown and keeps its own."""
        names = list(names)
        if not names or self.stars:
            return self
        labels = [*names, *(label for label, _ in self.columns[len(names) :])]
        return Result(
            tuple((label, trace) for label, (_, trace) in zip(labels, self.columns, strict=False)), self.deciding
        )


def candidates(stars: Iterable[Star], name: str) -> tuple[Paths, bool]:
    """The column ``name`` under one of these stars: certain with one table, opaque edges from each with more."""
    stars = tuple(stars)
    found = union(star.column(name) for star in stars)
    certain = len(stars) == 1 and len(stars[0].tables) == 1
    return (found, True) if certain else (step(OPAQUE, found), False)
