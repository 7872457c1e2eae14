"""Tags that flow over the lineage of a store, with the path that proves each arrival."""

from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, date, datetime
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any

from sqlalchemy import Connection, Select, select

from headwater.model import Job, Transformation
from headwater.policies.assignments import Assignments, Unmatched, declared
from headwater.policies.masking import arriving
from headwater.policies.selectors import Names, fits, fits_job
from headwater.policies.tag_file import Breaker, TagFile, TagName
from headwater.policies.tag_targets import Target, Targets, targets_in_store
from headwater.store import schema
from headwater.store.graph.index import OPTION
from headwater.store.graph.timeline import Version, changed_since, version_of
from headwater.store.questions import Bounds, Column, EdgeType, Hop, names
from headwater.store.questions.answers import Node
from headwater.store.questions.hops import named_hops
from headwater.store.questions.walk.edges import Link
from headwater.store.questions.walk.tag_flow import flow_from
from headwater.store.questions.walk.tag_leaves import Leaves, Start, flow_by_leaf
from headwater.store.questions.walk.tag_walk import Arriving, Barriers, Flow
from headwater.store.read_model.presence import once
from headwater.store.read_model.visibility import Sees, described_fields
from headwater.store.sql.databases import rows_for

if TYPE_CHECKING:  # numpy, which it needs, may not be installed
    from headwater.store.questions.walk.held_flows import HeldFlows

_JOB = schema.job
_PAGE = 1_000
_NO_JOBS: tuple[Version | None, int, frozenset[int]] = None, 0, frozenset()


@dataclass(frozen=True, slots=True)
class TagPath:
    """A column that a tag arrives at, what of it arrives, and the steps from the tagged column to it."""

    tag: TagName
    column: Column
    arriving: Arriving
    steps: tuple[Hop, ...]


@dataclass(frozen=True)
class Flows:
    """The flows of all tags of a store, and of a file beside it, each computed once.

    Args:
        connection: of the store.
        file: further tags, breakers, and the order of values.
        today: the day by which breakers expire.
        guess: whether runs that say nothing of columns are taken to have made every output from every input.
        influence: whether INDIRECT edges are followed too.
        as_of: a moment in microseconds since 1970, None for now; tags and breakers are those of now.
        sees: whether tags on a dataset of a namespace count; None where all do.
    """

    connection: Connection
    file: TagFile = field(default_factory=TagFile)
    today: date = field(default_factory=lambda: datetime.now(UTC).date())
    guess: bool = True
    influence: bool = False
    as_of: int | None = None
    sees: Sees = None
    _flows: dict[TagName, Flow] = field(default_factory=dict)
    _known: dict[int, Transformation] = field(default_factory=dict)
    _cut_by: dict[tuple[Breaker, ...], tuple[Barriers, frozenset[Node]]] = field(default_factory=dict)

    @cached_property
    def every(self) -> Names:
        """The names of all columns."""
        return Names(self.connection)

    @cached_property
    def starts(self) -> Mapping[TagName, Start]:
        """The columns with each tag, and fields within columns.

        Those of tagged datasets are among them; none where a dataset has no known column.
        """
        more = self._of_file[0]
        targets = targets_in_store(self.connection)
        declared_on: dict[TagName, set[Target]] = {}
        for (target, _), tag in more.items():
            declared_on.setdefault(tag, set()).add(target)
        targets |= {tag: targets.get(tag, Targets()) | Targets.of(some) for tag, some in declared_on.items()}
        if self.sees is not None:
            every = {id_ for some in targets.values() for id_ in some.every_dataset}
            owners = names.datasets(self.connection, every)
            seen = frozenset(id_ for id_, one in owners.items() if any(self.sees(name.namespace) for name in one.names))
            targets = {tag: some.within(seen) for tag, some in targets.items()}
        return {tag: self._start(some) for tag, some in targets.items() if some}

    @property
    def unmatched(self) -> tuple[Unmatched, ...]:
        """The selectors of the file's tags that fit nothing."""
        return self._of_file[1]

    @cached_property
    def _of_file(self) -> tuple[Assignments, tuple[Unmatched, ...]]:
        return declared(self.every, self.file) if self.file.tags else ({}, ())

    def tagged(self, tag: TagName) -> frozenset[Node]:
        """Return the columns with a tag, and fields within columns."""
        return self.starts[tag].nodes if tag in self.starts else frozenset()

    @cached_property
    def tags(self) -> tuple[TagName, ...]:
        """Every tag, those that only masking functions make among them, in alphabetical order."""
        made = {TagName(one.masked_as) for one in self.file.tags if one.masked_as}
        return tuple(sorted({*self.starts, *made}, key=str))

    def fitting(self, selectors: Collection[str]) -> tuple[TagName, ...]:
        """Return the tags that one of the patterns fits, by name or as ``NAME=VALUE``."""
        return tuple(one for one in self.tags if fits(selectors, one.tag) or fits(selectors, str(one)))

    def of(self, tag: TagName) -> Flow:
        """Return the flow of a tag, in ids."""
        if tag not in self._flows:
            start, masked = self.starts.get(tag, Start()), Start.of({*self._masked_into(tag)})
            if masked != Start():
                start = Start(start.columns | masked.columns, start.within | masked.within)
            columns = start.every_column
            breakers = tuple(one for one in self.file.breakers if one.holds(tag.tag, self.today))
            functions = frozenset(one.pattern.lower() for one in breakers if one.kind == "function")
            (barriers, leaves_cut), held = self._barriers(breakers), self._held(functions)

            def effect(transformation: int) -> Arriving | None:
                return self._effect(transformation, functions)

            of_leaves = partial(self._arriving, functions=functions)
            leaves = Leaves(start, of_leaves, leaves_cut)
            if held is not None:
                flow = held.of(self.connection, str(tag), columns, effect, barriers, leaves)
            else:
                flow = flow_from(self.connection, columns, effect, barriers, self._bounds)
                flow = flow_by_leaf(self.connection, flow, leaves, effect, barriers, self._bounds) or flow
            self._flows[tag] = flow
        return self._flows[tag]

    @property
    def _bounds(self) -> Bounds:
        return Bounds(None if self.influence or self.guess else EdgeType.DIRECT, self.as_of, guess=self.guess)

    def _held(self, functions: frozenset[str]) -> "HeldFlows | None":
        """The flows that the store holds, where these functions mask."""
        if self.sees is not None or not self.connection.get_execution_options().get(OPTION):
            return None
        from headwater.store.questions.walk.held_flows import held_flows  # numpy, which may not be installed

        return held_flows(self.connection, self._bounds, (self.influence, functions))

    def overruled(self, tag: TagName, arriving: Arriving) -> frozenset[int]:
        """Return the columns, and fields within, at which as much or more of a stricter value arrives, by the order."""
        kinds = [one for one in Arriving if one is Arriving.VALUE or one is arriving]
        flows = [self.of(one) for one in self.tags if self.file.is_stricter(one, tag)]
        return frozenset(node for flow in flows for kind in kinds for node in flow.arrived[kind].now)

    def paths(
        self,
        tag: TagName,
        kinds: Collection[Arriving],
        among: Callable[[Node], bool] | None = None,
        most: int | None = None,
    ) -> Iterator[TagPath]:
        """Yield the arrivals of a tag by name, with their paths; at some columns, or at all that are listed.

        Of each kind that arrives there are ``most``, those that are the fewest steps away.
        """
        flow = self.of(tag)
        for kind in (one for one in Arriving if one in kinds):
            overruled = self.overruled(tag, kind)
            nodes = [node for node in flow.reached(kind) if overruled.isdisjoint((node, flow.place(node)[0]))]
            if among is not None:
                nodes = [node for node in nodes if among(flow.place(node))]
            nodes = self._listed(nodes, flow)[:most]
            links = flow.paths(nodes, kind)
            hops, columns = self._named({row for rows in links.values() for row in rows}, nodes, flow)
            found = [TagPath(tag, columns[node], kind, tuple(hops[row] for row in links[node])) for node in nodes]
            yield from sorted(found, key=lambda one: (len(one.steps), str(one.column)))

    def unused_breakers(self) -> list[Breaker]:
        """Return the breakers that hold and cut nothing of the flows that were computed."""
        blocked = {(flow.place(row[1]), row[3]) for flow in self._flows.values() for row in flow.cut_links()}
        jobs, fields = {job for _, job in blocked}, {column for (column, _), _ in blocked}
        cuts: dict[Breaker, bool] = {}
        for one in self.file.breakers:
            if one.kind == "job":
                cuts[one] = not jobs.isdisjoint(self._jobs(one))
            elif one.kind == "column":
                fields_of = self.every.matching([one.pattern])
                owners = {-dataset for dataset in fields_of.values()}
                leaves = self._leaves_cut_by([one])
                nodes = {(column, path[:end]) for (column, path), _ in blocked for end in range(1, len(path) + 1)}
                cuts[one] = not (fields.isdisjoint({*fields_of, *owners}) and nodes.isdisjoint(leaves))
            else:
                cuts[one] = self._masks(one.pattern.lower())
        return [one for one, cut in cuts.items() if not cut and self.today <= one.expires]

    def _listed(self, nodes: Collection[int], flow: Flow) -> list[int]:
        """Return the columns that lists show, in their order."""
        listed = set(self.connection.execute(names.listed(self.connection, select(schema.dataset.c.id))).scalars())
        question = self._described.where
        column_of = {one: flow.place(one)[0] for one in nodes}
        columns = set(column_of.values())
        rows = rows_for(self.connection, columns, lambda some: question(schema.field.c.id.in_(some)))
        owners = {row.id: row.dataset_id for row in rows}
        return [one for one in nodes if owners.get(column_of[one], -one) in listed]

    def _start(self, targets: Targets) -> Start:
        held = self._held(frozenset())
        if held is not None:
            effect = partial(self._effect, functions=frozenset())
            return held.start(self.connection, targets.datasets, targets.own, effect)
        question = self._described.where
        whole = targets.datasets
        rows = rows_for(self.connection, whole, lambda some: question(schema.field.c.dataset_id.in_(some)))
        return targets.own._replace(columns=targets.own.columns.union(row.id for row in rows))

    @cached_property
    def _described(self) -> Select[Any]:
        return select(schema.field.c.id, schema.field.c.dataset_id).where(described_fields(self.connection))

    def _masked_into(self, tag: TagName) -> Iterator[Node]:
        """Yield the columns with a masked form of a column whose tag becomes this one by masking."""
        for other in self.starts if not tag.value else ():
            if self.file.masked_as(other.tag) == tag.tag:
                flow = self.of(other)
                yield from map(flow.place, flow.arrived[Arriving.MASKED].now)

    def _effect(self, transformation: int, functions: frozenset[str]) -> Arriving | None:
        if transformation not in self._known:  # a page of them at once
            page = range(transformation, transformation + _PAGE)
            self._known.update(names.transformations(self.connection, page))
        return self._arriving(self._known[transformation], functions)

    def _arriving(self, transformation: Transformation, functions: frozenset[str]) -> Arriving | None:
        effect = arriving(transformation, functions)
        return effect if self.influence or effect is not Arriving.INFLUENCE else None

    @cached_property
    def _transformations(self) -> Mapping[int, Transformation]:
        every = set(self.connection.execute(select(schema.transformation.c.id)).scalars())
        return names.transformations(self.connection, every | names.NEVER_STORED)

    def _masks(self, function: str) -> bool:
        own = frozenset({function})
        effects = (arriving(one, own) for one in self._transformations.values() if one.direct)
        return Arriving.MASKED in effects

    def _barriers(self, breakers: tuple[Breaker, ...]) -> tuple[Barriers, frozenset[Node]]:
        if breakers not in self._cut_by:
            jobs = {id_ for one in breakers if one.kind == "job" for id_ in self._jobs(one)}
            columns = [one.pattern for one in breakers if one.kind == "column"]
            fields = self.every.matching(columns) if columns else ()
            leaves = self._leaves_cut_by(breakers)
            self._cut_by[breakers] = Barriers(frozenset(jobs), frozenset(fields)), leaves
        return self._cut_by[breakers]

    def _leaves_cut_by(self, breakers: Collection[Breaker]) -> frozenset[Node]:
        patterns = [one.pattern for one in breakers if one.kind == "column"]
        within = self.every.matching_within(patterns) if patterns else {}
        return frozenset((column, path) for column, paths in within.items() for path in paths)

    def _jobs(self, breaker: Breaker) -> set[int]:
        """Return the jobs that a breaker names; where flows are held, only new ones of the same store are looked at."""
        index = self.connection.get_execution_options().get(OPTION)
        key = ("jobs", breaker.pattern)
        at, last, found = index.derived.get(key, _NO_JOBS) if index is not None else _NO_JOBS
        if at is None or changed_since(self.connection, at) is None:
            last, found = 0, frozenset()
        question = select(_JOB.c.id, _JOB.c.namespace, _JOB.c.name).where(_JOB.c.id > last).order_by(_JOB.c.id)
        rows = self.connection.execute(question).all()
        found |= {row.id for row in rows if fits_job([breaker.pattern], Job(row.namespace, row.name))}
        if index is not None:
            index.derived[key] = once(self.connection, version_of), rows[-1].id if rows else last, found
        return set(found)

    def _named(
        self, rows: Collection[tuple[int, ...]], nodes: Collection[int], flow: Flow
    ) -> tuple[dict[tuple[int, ...], Hop], Mapping[int, Column]]:
        ends = {end for row in rows for end in row[:2] if end > 0}
        columns = dict(names.columns(self.connection, {one for one in ends.union(nodes) if one > 0}, nodes=flow.nodes))
        wholes = names.datasets(self.connection, {-one for one in nodes if one < 0})
        columns |= {-id_: Column(dataset, "*", id=-id_) for id_, dataset in wholes.items()}
        links = [Link(*row) for row in rows]
        transformations = names.transformations(
            self.connection, {one.transformation for one in links}, flow.transformations
        )
        steps = dict.fromkeys((one.input, one.output, one.job) for one in links)
        hops = dict(zip(steps, named_hops(self.connection, links, columns, transformations), strict=True))
        return {one: hops[one.input, one.output, one.job] for one in links}, columns
