"""Change an input column, run again, and see whether an edge tells of what changed.

What an edge claims is what it does *not* let happen. A column x without an edge on the dataset neither makes nor drops
rows; without an edge on the field c it does not touch c. So the fields that no edge from x covers, taken together row
by row, must be the same bag of rows before and after x has changed. That one comparison finds a missing edge on a
field (its values differ), a missing edge on the dataset (the number of rows differs), and a missing edge behind a
changed pairing of values that are, field by field, the same.
"""

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from typing import NamedTuple, Protocol

from tests.extract.edge_text import last_component
from tests.oracle.rows import SCATTERED, Source

from headwater.model import ColumnLineage, Dependency, InputField, Subtype

ORDER = "the order of rows"
ROWS = "the rows as a whole"
FIRST = 3  # of the changes, those that show most: by them missing edges are looked for


@dataclass(frozen=True, slots=True)
class Result:
    """The names of the columns of a result, and its rows as texts, in the order in which they come out."""

    names: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]

    def bag(self, places: Iterable[int]) -> Counter[tuple[str, ...]]:
        """The rows with only the columns at ``places``, and how often each comes."""
        chosen = tuple(places)
        return Counter(tuple(row[place] for place in chosen) for row in self.rows)


class Experiment(Protocol):
    """A query with its lineage, that can be run on changed data."""

    @property
    def lineage(self) -> ColumnLineage:
        """The edges to be judged."""

    @property
    def sources(self) -> tuple[Source, ...]:
        """The input columns that may be changed."""

    @property
    def changes(self) -> tuple[str, ...]:
        """The ways to change one, those that show most first."""

    @property
    def databases(self) -> int:
        """How many other databases there are to look for an effect in."""

    def result(self, changed: Collection[Source] = (), change: str = "") -> Result:
        """The result when ``change`` is made to these columns; ``ORDER`` gives all rows in another order."""

    def optimized(self) -> ColumnLineage:
        """The edges that are left when the query is optimized."""

    def scattered(self, number: int) -> AbstractContextManager[None]:
        """Another database, its values at random, to run the query on."""


class Missing(NamedTuple):
    """Changing ``source`` in the way ``change`` shows in these fields, and no edge says so."""

    source: Source
    change: str
    shown: tuple[str, ...]

    def __str__(self) -> str:
        return f"{'.'.join(self.source)} ({self.change}) shows in {', '.join(self.shown)}"


class Claim(NamedTuple):
    """An edge: from a source to a field, or to the dataset where ``output`` is empty."""

    source: Source
    subtype: Subtype
    output: str


@dataclass(slots=True)
class Verdict:
    """Missing edges, and for each claim whether a change showed it; ``discarded`` says why there is nothing.

    No change of any data can show the claims that are ``idle``: the optimized query computes nothing of the kind.
    """

    missing: list[Missing] = field(default_factory=list)
    claims: dict[Claim, bool] = field(default_factory=dict)
    idle: frozenset[Claim] = frozenset()
    runs: int = 0
    failed: int = 0
    discarded: str = ""


def source_of(field: InputField) -> Source:
    """The table and the column of an input field, in lower case; the table by the last component of its name."""
    return last_component(field.dataset.name).lower(), field.name.lower()


def examine(experiment: Experiment, *, tightness: bool = False) -> Verdict:
    """Change the columns of an experiment in all its ways; with ``tightness`` also those that no test could fail for.

    Columns that the same edges cover are changed together: that misses an edge only where two changes undo each other.
    """
    verdict = Verdict()
    before = experiment.result()
    if _differ(before, experiment.result(experiment.sources, ORDER)):
        verdict.discarded = "the result depends on the order in which rows are met"
        return verdict
    for group in _alike(experiment):
        _examine_together(experiment, group, before, verdict)
    if tightness:
        _examine_claims(experiment, before, verdict)
    return verdict


def unexplained(lineage: ColumnLineage, changed: Collection[Source], before: Result, after: Result) -> tuple[str, ...]:
    """The fields in which a change shows although no edge from a changed column covers them."""
    covered = _covered(lineage, changed)
    if covered is None:
        return ()
    places = [place for place, name in enumerate(before.names) if name not in covered]
    if before.bag(places) == after.bag(places):
        return ()
    alone = [place for place in places if before.bag([place]) != after.bag([place])]
    return tuple(before.names[place] for place in alone) or (ROWS,)


def _covered(lineage: ColumnLineage, changed: Collection[Source]) -> frozenset[str] | None:
    """The fields that edges from ``changed`` cover; None when they cover all, with the rows.

    An edge on the dataset does; and where a function that nobody sees into fills every field, its edges stand for the
    rows that it leaves out too.
    """
    if any(source_of(edge.input) in changed for edge in lineage.dataset):
        return None
    own = {name: [edge for edge in edges if source_of(edge.input) in changed] for name, edges in lineage.fields.items()}
    if own and all(any(edge.transformation.opaque for edge in edges) for edges in own.values()):
        return None
    return frozenset(name for name, edges in own.items() if edges)


def _alike(experiment: Experiment) -> Iterable[tuple[Source, ...]]:
    """The sources that no edge on the dataset covers, those together that cover the same fields."""
    groups: dict[frozenset[str], list[Source]] = defaultdict(list)
    for source in experiment.sources:
        covered = _covered(experiment.lineage, (source,))
        if covered is not None:
            groups[covered].append(source)
    return map(tuple, groups.values())


def _examine_together(experiment: Experiment, group: tuple[Source, ...], before: Result, verdict: Verdict) -> None:
    for change in experiment.changes[:FIRST]:
        after = _tried(experiment, group, change, verdict)
        if after is None or not unexplained(experiment.lineage, group, before, after):
            continue
        verdict.missing.extend(_blamed(experiment, group, change, before))


def _blamed(experiment: Experiment, group: tuple[Source, ...], change: str, before: Result) -> Iterator[Missing]:
    """The same change for one column at a time; where only several together show it, the first stands for all."""
    found = []
    for source in group:
        shown = unexplained(experiment.lineage, (source,), before, experiment.result((source,), change))
        if shown:
            found.append(Missing(source, change, shown))
    together = unexplained(experiment.lineage, group, before, experiment.result(group, change))
    yield from found or [Missing(group[0], f"{change}, with {group[1:]}", together)]


def _examine_claims(experiment: Experiment, before: Result, verdict: Verdict) -> None:
    """Look for an effect of each claim: on the rows as they are, then in one scattered database after the other."""
    of_sources = [claim for claim in claims(experiment.lineage) if claim.source in experiment.sources]
    verdict.claims.update(dict.fromkeys(of_sources, False))
    for change in experiment.changes:
        _show(experiment, change, before, verdict)
    verdict.idle = frozenset(_idle(experiment, _open(verdict)))
    for number in range(1, experiment.databases + 1):
        if not _open(verdict):
            break
        with experiment.scattered(number):
            scattered = _tried(experiment, (), "", verdict)
            if scattered is not None:
                _show(experiment, SCATTERED, scattered, verdict)


def _show(experiment: Experiment, change: str, before: Result, verdict: Verdict) -> None:
    """Change each column of which a claim has not shown, and mark the claims that show."""
    for source in dict.fromkeys(claim.source for claim in _open(verdict)):
        after = _tried(experiment, (source,), change, verdict)
        if after is not None:
            own = [claim for claim in _open(verdict) if claim.source == source]
            covered = _covered(experiment.lineage, (source,)) or frozenset()
            verdict.claims.update((claim, _shows(claim, covered, before, after)) for claim in own)


def _open(verdict: Verdict) -> tuple[Claim, ...]:
    """The claims that may show yet."""
    return tuple(claim for claim, shown in verdict.claims.items() if not shown and claim not in verdict.idle)


def _idle(experiment: Experiment, unshown: Collection[Claim]) -> Iterator[Claim]:
    """The claims whose source, once the query is optimized, has no edge that covers the output."""
    if not unshown:
        return
    left = experiment.optimized()
    fields = {name: {source_of(edge.input) for edge in edges} for name, edges in left.fields.items()}
    rows = {source_of(edge.input) for edge in left.dataset}
    for claim in unshown:
        covering = [fields[claim.output]] if claim.output else fields.values()
        if claim.source not in rows.union(*covering):
            yield claim


def claims(lineage: ColumnLineage) -> Iterator[Claim]:
    """Every edge of a lineage."""
    yield from (_claim(edge, "") for edge in lineage.dataset)
    yield from (_claim(edge, name) for name, edges in lineage.fields.items() for edge in edges)


def _claim(edge: Dependency, output: str) -> Claim:
    return Claim(source_of(edge.input), edge.transformation.subtype, output)


def _shows(claim: Claim, covered: Collection[str], before: Result, after: Result) -> bool:
    """Whether the claimed field, alone or beside those that are not ``covered``, changed; of the dataset any part."""
    if claim.subtype is Subtype.SORT and not claim.output:
        return before.rows != after.rows
    if not _differ(before, after):
        return False
    everything = range(len(before.names))
    own = [place for place in everything if not claim.output or before.names[place] == claim.output]
    others = [place for place in everything if place not in own]
    beside = [*own, *(place for place in others if before.names[place] not in covered)]
    return before.bag(beside) != after.bag(beside) or before.bag(others) == after.bag(others)


def _differ(before: Result, after: Result) -> bool:
    everything = range(len(before.names))
    return before.bag(everything) != after.bag(everything)


def _tried(experiment: Experiment, changed: Collection[Source], change: str, verdict: Verdict) -> Result | None:
    """The result on changed data; None when the query fails on it, as a division by zero does."""
    verdict.runs += 1
    try:
        return experiment.result(changed, change)
    except Exception:
        verdict.failed += 1
        return None
