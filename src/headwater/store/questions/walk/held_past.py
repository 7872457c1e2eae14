"""The steps over past links of a whole store, brought up to date from the datasets that have changed.

What a dataset had when somebody read it depends on what is known of it and on its readers: links of now, and past links
that others have read. So a dataset is looked at again where it has changed, or one of its readers.
"""

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field, replace
from itertools import chain
from typing import Any

from sqlalchemy import Connection, Select, and_, exists, or_, select, true

from headwater.store import schema
from headwater.store.graph.timeline import DATASET_EDGES, FIELD_EDGES, Span
from headwater.store.ingest.replacements import any_replacement
from headwater.store.questions.answers import Bounds
from headwater.store.questions.walk.edges import Row
from headwater.store.questions.walk.past import PastLinks, Reading
from headwater.store.questions.walk.past_steps import FIRST_NODE, PastSteps
from headwater.store.questions.walk.tag_reach import LinksNear
from headwater.store.questions.walk.tag_walk import owners_of
from headwater.store.sql.databases import rows_for

_MOST_ROUNDS = 20
_FIELD, _REPLACED = schema.field.c, schema.replacement.c.dataset_id
Place = tuple[Row, Span, int]
"""A past link, a span that it held, and the column at which it arrives."""


@dataclass(frozen=True)
class HeldPast:
    """Steps over past links of a state of the store, and those of each dataset with their links; it never changes."""

    steps: PastSteps = field(default_factory=PastSteps)
    of_datasets: Mapping[int, Mapping[Row, Row]] = field(default_factory=dict)
    nodes: dict[Place, int] = field(default_factory=dict)
    places: dict[int, Place] = field(default_factory=dict)

    @classmethod
    def of_store(cls, links: LinksNear, bounds: Bounds) -> "HeldPast":
        """Return those of all datasets."""
        if not any_replacement(links.connection):
            return cls()
        every = set(links.connection.execute(_with_past(None)).scalars())
        found = cls()._followed(links, bounds, every, None)
        return found[0] if found is not None else cls()

    def after(self, links: LinksNear, bounds: Bounds, changed: Collection[int]) -> "tuple[HeldPast, set[int]] | None":
        """Return the steps after some datasets have changed, and the columns and nodes to which they are others.

        None where that cannot be followed.
        """
        if not any_replacement(links.connection):
            return self, set()
        near = links.columns(changed).union(-one for one in changed)
        links.past = self.steps
        links.load(near)
        read = {row[0] for node in near for row in links.every_into(node)}
        columns = {self.steps.columns.get(node, node) for node in read}
        datasets = {*changed, *owners_of(links.connection, columns).values()}
        known = self.with_past(links.connection, datasets) | (datasets & self.of_datasets.keys())
        known |= _made_anew(links.connection, datasets - known)
        return self._followed(links, bounds, known, _MOST_ROUNDS)

    def with_past(self, connection: Connection, datasets: Collection[int]) -> set[int]:
        """Return those of some datasets to which past links lead, of which parts of present ones are looked at."""
        found = {row.dataset_id for row in rows_for(connection, datasets, _with_past)}
        return found | {one for one in datasets if self.of_datasets.get(one)}

    def _followed(
        self, links: LinksNear, bounds: Bounds, waiting: set[int], rounds: int | None
    ) -> "tuple[HeldPast, set[int]] | None":
        """Look at datasets, then at those that past links have read which are others, and at what is made of any."""
        held, ends, looked_at = self, set[int](), set[int]()
        while waiting:
            if rounds == 0:
                return None  # past links in a circle
            rounds = rounds and rounds - 1
            found = held._steps_of(links, bounds, waiting)
            old = {one: held.of_datasets.get(one, {}) for one in found}
            gone = [step for one, own in found.items() for step in old[one] if step not in own]
            new = {step: real for one, own in found.items() for step, real in own.items() if step not in old[one]}
            if gone or new:
                held = replace(held, steps=held.steps.after(gone, new), of_datasets={**held.of_datasets, **found})
            changed = {*gone, *new}
            ends |= {step[1] for step in changed}
            sources = {step[0] for step in changed if step[0] < FIRST_NODE}
            below = {one for one, own in found.items() if own.keys() != old[one].keys()} | (waiting - looked_at)
            looked_at |= waiting
            waiting = set(owners_of(links.connection, sources).values())
            waiting |= _made_anew_of(links, held.with_past(links.connection, below))
        return held, ends

    def _steps_of(self, links: LinksNear, bounds: Bounds, datasets: Collection[int]) -> dict[int, dict[Row, Row]]:
        """Return the steps to past links into datasets, and from there to who has read these, by dataset."""
        columns = {node for node in links.columns(datasets) if node > 0}
        owner = {node: dataset for dataset in datasets for node in links.columns_of[dataset]}
        ended: dict[Row, set[Span]] = {}
        for step in chain.from_iterable(map(self.steps.out_of, columns)):
            link, held, _ = self.places[step[1]]
            ended.setdefault(link, set()).add(held)
        past = PastLinks(links.connection, bounds, lambda fields: owners_of(links.connection, fields))
        past.add_ended(ended)
        past.behind([*links.out_of(columns), *ended])
        found: dict[int, dict[Row, Row]] = {one: {} for one in datasets}
        every = list(past.read_links())
        sources = owners_of(links.connection, {one.link[0] for one in every if past.is_part(one.link, one.held)})
        before = self.with_past(links.connection, set(sources.values()))
        for link, held, column, reading in every:
            if past.is_part(link, held) and sources[link[0]] not in before:
                continue  # all that comes to it comes by links of now
            node, own, how = self._node(link, held, column), found[owner[column]], reading.link
            own[link[0], node, *link[2:]] = link
            own.update(((node, end, *how[2:]), how) for end in self._ends(reading, links))
        return found

    def _ends(self, reading: Reading, links: LinksNear) -> Iterator[int]:
        """Yield where a link leads that has read: a column or dataset, or the nodes of a past link."""
        link, held = reading.link, reading.held
        if held is None:
            yield link[1]
        else:
            columns = (link[1],) if link[1] > 0 else links.columns((-link[1],))
            yield from (self._node(link, held, column) for column in columns)

    def _node(self, link: Row, held: Span, column: int) -> int:
        place = link, held, column
        if place not in self.nodes:
            node = self.nodes[place] = FIRST_NODE + len(self.nodes)
            self.places[node], self.steps.columns[node] = place, column
        return self.nodes[place]


def _made_anew(connection: Connection, datasets: Collection[int]) -> set[int]:
    """Return those of some datasets whose rows were replaced by a job that had written them before."""
    before, own = schema.lineage.alias("before"), schema.lineage.alias("own")
    by = and_(own.c.run_id == schema.replacement.c.run_id, own.c.output_id == _REPLACED)
    earlier = exists().where(before.c.job_id == own.c.job_id, before.c.output_id == _REPLACED, before.c.at < own.c.at)
    question = select(_REPLACED).distinct().join(own, by).where(schema.replacement.c.certain, earlier)
    return {row.dataset_id for row in rows_for(connection, datasets, lambda some: question.where(_REPLACED.in_(some)))}


def _made_anew_of(links: LinksNear, datasets: Collection[int]) -> set[int]:
    """Return the datasets that are made of some, and whose rows were replaced."""
    columns = {node for node in links.columns(datasets) if node > 0}
    ends = {step[1] for step in links.out_of(columns)} if columns else set()
    outputs = {*owners_of(links.connection, ends).values(), *(-end for end in ends if end < 0)}
    return _made_anew(links.connection, outputs - set(datasets)) if outputs else set()


def _with_past(datasets: Any) -> Select[Any]:
    """Return a question for the datasets, of some or of all for None, that were replaced, and have past links."""
    near = (true() if datasets is None else _REPLACED.in_(datasets)), schema.replacement.c.certain
    dataset = select(_REPLACED).where(*near).distinct().subquery().c.dataset_id
    of_field, of_dataset = FIELD_EDGES.history.c.output_field, DATASET_EDGES.history.c.output_dataset
    into_fields = exists().where(_FIELD.dataset_id == dataset, of_field == _FIELD.id)
    return select(dataset).where(or_(into_fields, exists().where(of_dataset == dataset)))
