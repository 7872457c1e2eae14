"""Walks over fields within columns: a walk over columns, whose links are then followed leaf by leaf (`leaf_steps`)."""

from collections.abc import Collection
from dataclasses import dataclass, field, replace

from sqlalchemy import Connection

from headwater.store.questions.answers import Bounds, Direction, Node
from headwater.store.questions.walk.closure import Closure, reach, walk
from headwater.store.questions.walk.edges import Row
from headwater.store.questions.walk.leaf_steps import LeafSteps


def walk_nodes(
    connection: Connection, start: Collection[Node], direction: Direction, bounds: Bounds, *, links: bool = True
) -> Closure:
    """Walk from columns, or leaf by leaf where the bounds say so or the start is a field within a column.

    Without ``links`` it takes less time, and says which columns there are and how far, unless it takes links to answer.

    Raises:
        UnknownName: the bounds name a job that the store does not know.
    """
    columns = {column for column, _ in start}
    if not bounds.nested and not any(path for _, path in start):
        return (walk if links else reach)(connection, columns, direction, bounds)
    # Leaf by leaf transformations are others: filters look at those.
    walked = walk(connection, columns, direction, replace(bounds, subtypes=frozenset(), masking=None))
    walker = _Walker(walked, bounds, LeafSteps(connection, walked, direction, bounds))
    walker.run(start)
    return walker.closure()


@dataclass(slots=True)
class _Walker:
    walked: Closure
    bounds: Bounds
    steps: LeafSteps
    distance: dict[int, int] = field(default_factory=dict)
    _rows: dict[Row, None] = field(default_factory=dict)
    _unexplored: set[int] = field(default_factory=set)
    _datasets: set[int] = field(default_factory=set)
    _truncated: set[str] = field(default_factory=set)

    def closure(self) -> Closure:
        """Return all that was reached; names are those of columns."""
        column_of = {id_: self.steps.place(id_)[0] for id_ in self.distance}
        limits = {*self._truncated, *self.walked.truncated} | ({"nested"} if self.steps.limited else set())
        if not self._unexplored:
            limits.discard("depth")
        return Closure(
            self.distance,
            {id_: self.walked.dataset_of[column] for id_, column in column_of.items()},
            {id_: self.walked.name_of[column] for id_, column in column_of.items()},
            tuple(self._rows),
            frozenset(self._unexplored),
            tuple(sorted(limits)),
            nodes=self.steps.nodes,
            transformations=self.steps.made,
        )

    def run(self, start: Collection[Node]) -> None:
        """Walk level by level."""
        frontier = self._reach([self.steps.node(column, path) for column, path in start if column > 0], 0)
        level, datasets = 0, {-dataset for dataset, _ in start if dataset < 0}
        while frontier or (datasets and level == 0):
            steps = [step for node in frontier for step in self.steps.of(node)]
            if self.steps.direction is Direction.UP:
                datasets |= {self.walked.dataset_of[self.steps.place(node)[0]] for node in frontier}
                steps += [
                    step for one in sorted(datasets - self._datasets) for step in self.steps.follow(-one, -one, ())
                ]
                self._datasets |= datasets
            if steps and level == self.bounds.depth:
                self._truncated.add("depth")
                self._unexplored |= set(frontier)
                return
            if len(self.distance) > self.bounds.columns:
                self._truncated.add("columns")
                self._unexplored |= set(frontier)
                return
            self._rows |= dict.fromkeys(row for _, row in steps)
            level += 1
            frontier = self._reach([far for far, _ in steps if far > 0], level)

    def _reach(self, nodes: Collection[int], level: int) -> list[int]:
        new = [one for one in dict.fromkeys(nodes) if one not in self.distance]
        self.distance |= dict.fromkeys(new, level)
        self._unexplored |= {one for one in new if self.steps.place(one)[0] in self.walked.unexplored}
        return new
