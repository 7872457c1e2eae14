"""Edges as sorted arrays of numbers: 25 to 32 bytes for each, and found by bisection from either end."""

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, replace
from itertools import chain, groupby
from operator import itemgetter
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import Connection, FromClause, Select, and_, select

from headwater.store import schema
from headwater.store.graph.timeline import DATASET_EDGES, Pair, Tables
from headwater.store.sql.databases import pairs_for

Ids = NDArray[Any]
Row = tuple[int, ...]
Added = Mapping[int, tuple[Row, ...]]

_FIELD = schema.field
_AT_ONCE = 50_000
_WIDTH = 5
_INPUT, _OUTPUT, _TRANSFORMATION, _JOB, _DATASET = range(_WIDTH)
"""The columns: a link as `headwater.store.questions.walk.edges.Link`, and the dataset of its output."""

_pair: Callable[[Row], Pair] = itemgetter(_JOB, _DATASET)
_by_output, _by_input = (
    itemgetter(_OUTPUT, _INPUT, _JOB, _TRANSFORMATION),
    itemgetter(_INPUT, _OUTPUT, _JOB, _TRANSFORMATION),
)
_SMALL = np.iinfo(np.int32)


@dataclass(frozen=True, slots=True)
class Blocks:
    """Where the edges into each dataset stand: ids of datasets in order, with the first place and the one behind.

    A dataset whose columns do not have ids one after the other has several blocks.
    """

    datasets: Ids
    begins: Ids
    ends: Ids

    @classmethod
    def of(cls, datasets: Ids) -> "Blocks":
        """Return the blocks of edges whose datasets these are."""
        begins = np.flatnonzero(np.diff(datasets, prepend=-1))
        order = np.argsort(datasets[begins], kind="stable")
        return cls(datasets[begins][order], begins[order], np.append(begins[1:], len(datasets))[order])

    def places(self, datasets: Collection[int]) -> Ids:
        """Return the places of the edges into some datasets."""
        found = _found(self.datasets, datasets)
        return _between(self.begins[found], self.ends[found])


@dataclass(frozen=True, slots=True)
class EdgeArrays:
    """All current edges of one kind at one state of the store; it never changes.

    ``columns`` are ordered by output, input, job and transformation; ``by_input`` are the places of the edges in the
    order of input, output, job and transformation, ``inputs`` the inputs in that order. ``gone`` are places whose
    edges hold no more, ``up`` and ``down`` are what came since, by output and by input; ``added`` by whose they are.
    ``blocks`` are where those of each dataset stand.
    """

    columns: tuple[Ids, ...]
    by_input: Ids
    inputs: Ids
    gone: NDArray[np.bool_]
    blocks: Blocks
    added: Mapping[Pair, tuple[Row, ...]]
    up: Added
    down: Added

    def __bool__(self) -> bool:
        return bool(self.added) or not self.gone.all()

    def into(self, outputs: Collection[int]) -> list[Row]:
        """The links into these, ordered by output, input, job and transformation."""
        return _merged(self._links(self._into(outputs)), _of(self.up, outputs), _by_output)

    def out_of(self, inputs: Collection[int]) -> list[Row]:
        """The links from these, ordered by input, output, job and transformation."""
        return _merged(self._links(self._out_of(inputs)), _of(self.down, inputs), _by_input)

    def inputs_of(self, outputs: Collection[int]) -> list[int]:
        """The input of each link into these, in no order."""
        return self._ends(_INPUT, self._into(outputs), _of(self.up, outputs))

    def outputs_of(self, inputs: Collection[int]) -> list[int]:
        """The output of each link from these, in no order."""
        return self._ends(_OUTPUT, self._out_of(inputs), _of(self.down, inputs))

    def columns_from(self, inputs: Ids, numbers: Collection[int] = range(_DATASET)) -> tuple[Ids, ...]:
        """The links from these sorted ids as arrays of inputs, outputs, transformations and jobs, in no order.

        ``numbers`` are the places of those that are wanted.
        """
        places = self._out_of(inputs)
        columns = tuple(self.columns[number][places] for number in numbers)
        added = np.fromiter(self.down, np.int64, len(self.down))
        rows = [row for one in added[np.isin(added, inputs)].tolist() for row in self.down[one]]
        return (
            tuple(map(np.append, columns, ([row[number] for row in rows] for number in numbers))) if rows else columns
        )

    def _into(self, outputs: Collection[int] | Ids) -> Ids:
        return self._there(_found(self.columns[_OUTPUT], outputs))

    def _out_of(self, inputs: Collection[int] | Ids) -> Ids:
        return self._there(self.by_input[_found(self.inputs, inputs)])

    def _there(self, places: Ids) -> Ids:
        return places[~self.gone[places]]

    def _links(self, places: Ids) -> list[Row]:
        return list(zip(*(column[places].tolist() for column in self.columns[:_DATASET]), strict=True))

    def _ends(self, end: int, places: Ids, new: Iterable[Row]) -> list[int]:
        return [*self.columns[end][places].tolist(), *(row[end] for row in new)]

    def after(self, changed: Collection[Pair], rows: Iterable[Row]) -> "EdgeArrays":
        """The edges after those of some pairs of a job and a dataset became these."""
        gone = self.gone.copy()
        gone[self._places(changed)] = True
        new = {pair: [row[:_DATASET] for row in own] for pair, own in groupby(sorted(rows, key=_pair), key=_pair)}
        lost = {row for pair in changed for row in self.added.get(pair, ())}
        up, down = (
            _regrouped(before, place, lost, list(chain.from_iterable(new.values())))
            for before, place in ((self.up, _OUTPUT), (self.down, _INPUT))
        )
        added = {pair: own for pair, own in self.added.items() if pair not in changed}
        return replace(self, gone=gone, added=added | {pair: tuple(own) for pair, own in new.items()}, up=up, down=down)

    def _places(self, changed: Collection[Pair]) -> Ids:
        near = self.blocks.places({dataset for _, dataset in changed})
        pairs = zip(self.columns[_JOB][near].tolist(), self.columns[_DATASET][near].tolist(), strict=True)
        return near[np.fromiter((pair in changed for pair in pairs), np.bool_, len(near))]


def read_all(connection: Connection, tables: Tables, stopped: Callable[[], bool]) -> EdgeArrays:
    """All current edges; nobody needs the rest of them once it is stopped."""
    parts: list[Ids] = [np.empty((0, _WIDTH), np.int32)]
    with connection.execute(_question(tables), execution_options={"yield_per": _AT_ONCE}) as result:
        for rows in result.partitions():
            if stopped():
                break
            part = np.fromiter(chain.from_iterable(rows), np.int64, len(rows) * _WIDTH).reshape(-1, _WIDTH)
            parts.append(part.astype(np.int32) if part.max() <= _SMALL.max else part)
    return _sorted(np.concatenate(parts).T)


def read_some(connection: Connection, tables: Tables, pairs: Collection[Pair]) -> list[Row]:
    """The current edges of some jobs into some datasets, each with the dataset."""

    def own(pair: FromClause) -> Select[Any]:
        edge, question = tables.current, _question(tables)
        dataset = edge.c.output_dataset if tables is DATASET_EDGES else _FIELD.c.dataset_id
        return question.join(pair, and_(pair.c.one == edge.c.job_id, pair.c.other == dataset))

    return [tuple(row) for row in pairs_for(connection, pairs, own)]


def _question(tables: Tables) -> Select[Any]:
    edge = tables.current
    if tables is DATASET_EDGES:
        output = edge.c.output_dataset
        return select(edge.c.input_field, output, edge.c.transformation_id, edge.c.job_id, output.label("dataset_id"))
    question = select(edge.c.input_field, edge.c.output_field, edge.c.transformation_id, edge.c.job_id)
    return question.add_columns(_FIELD.c.dataset_id).join(_FIELD, _FIELD.c.id == edge.c.output_field)


def _sorted(columns: Ids) -> EdgeArrays:
    order = np.lexsort((columns[_TRANSFORMATION], columns[_JOB], columns[_INPUT], columns[_OUTPUT]))
    own = tuple(column[order] for column in columns)
    by_input = np.argsort(own[_INPUT], kind="stable")  # those of one input stay ordered by output
    if len(by_input) <= _SMALL.max:
        by_input = by_input.astype(np.int32)
    return EdgeArrays(
        own, by_input, own[_INPUT][by_input], np.zeros(len(by_input), np.bool_), Blocks.of(own[_DATASET]), {}, {}, {}
    )


def _found(keys: Ids, nodes: Collection[int] | Ids) -> Ids:
    """The places of some ids among sorted ones, in the order of ids; an array of them is sorted already."""
    ids = nodes if isinstance(nodes, np.ndarray) else np.sort(np.fromiter(nodes, np.int64, len(nodes)))
    # Of another type than the keys, each search would copy all of those.
    ids = ids[ids <= np.iinfo(keys.dtype).max].astype(keys.dtype)
    begins, ends = (np.searchsorted(keys, ids, side) for side in ("left", "right"))
    return _between(begins, ends)


def _between(begins: Ids, ends: Ids) -> Ids:
    """The places from each beginning to its end, one after the other."""
    counts = ends - begins
    places: Ids = np.repeat(begins - counts.cumsum() + counts, counts) + np.arange(counts.sum())
    return places


def _of(added: Added, near: Collection[int]) -> list[Row]:
    return [row for one in added.keys() & near for row in added[one]] if added else []


def _merged(links: list[Row], new: list[Row], order: Callable[[Row], Row]) -> list[Row]:
    return sorted([*links, *new], key=order) if new else links


def _regrouped(before: Added, place: int, lost: set[Row], new: Collection[Row]) -> Added:
    """Links by one of their numbers, without those that are lost and with the new ones."""
    found = dict(before)
    for key in {row[place] for row in lost}:
        found[key] = tuple(row for row in found[key] if row not in lost)
    for row in new:
        found[row[place]] = (*found.get(row[place], ()), row)
    return found
