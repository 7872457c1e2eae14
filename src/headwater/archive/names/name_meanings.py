"""The datasets and fields that names mean, and when, as the store derives them from the few events about names.

A temporary store ingests the events that change names, reduced to these changes, and the other names of datasets
(symlinks): each once, and once more after each moment at which one of them changed its meaning. All other names mean
one dataset for ever, that of the name, and need no row.
"""

import json
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import chain, groupby, pairwise
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

from sqlalchemy import Connection, select

from headwater.model import Dataset, Job
from headwater.model.names import (
    FieldRename,
    consistent_renames,
    first_name,
    key_of,
    own_name,
    own_renames,
    present_name,
)
from headwater.model.time import BEGINNING, FOREVER
from headwater.openlineage.reading import read_event
from headwater.openlineage.writing.json_events import described, job_event, schema_facet, symlinks_facet
from headwater.store import open_store, schema

_AT_ONCE = 500  # events in one transaction
_LINKED = 200  # datasets in one event
Cuts = dict[Dataset, tuple[int, ...]]
"""The moments at which the meaning of a name changes, in their order, by name."""


class Links(NamedTuple):
    """A dataset, its other names with their types, and the moment of such an event (microseconds since 1970).

    Where none of the names ever changes its meaning, any moment does.
    """

    dataset: Dataset
    others: tuple[tuple[Dataset, str], ...]
    at: int


class Twins(NamedTuple):
    """A dataset, fields of it that differ in case only, and the moment of an event with them."""

    dataset: Dataset
    names: tuple[str, ...]
    at: int


class TwinName(NamedTuple):
    """A name in lower case that several fields of a dataset have."""

    dataset: Dataset
    dataset_begun: int
    name: str


class RenameSpelling(NamedTuple):
    """The spelling in renames of a field's present name; ``own`` is the name in comparisons."""

    dataset: Dataset
    dataset_begun: int
    own: str
    spelling: str


class RenamedField(NamedTuple):
    """A renamed field: its first name and since when that is its own, and its present name.

    ``former`` is the name before in the event where it differs in case only; ``own`` is the present name as compared.
    """

    dataset: Dataset
    dataset_begun: int
    first: str
    begun: int
    own: str
    former: str | None


class Meaning(NamedTuple):
    """From a moment on, up to but not including another, a name means the dataset whose name is now ``present``.

    ``begun`` is since when that name is its own; BEGINNING for most. It distinguishes datasets that had one name in
    turn.
    """

    name: Dataset
    since: int
    until: int
    present: Dataset
    begun: int


class FieldMeaning(NamedTuple):
    """From a moment on, up to but not including another, a name means a field of a dataset.

    The field is identified by its ``first`` name and since when that is its own; ``present`` is its name now. All of
    these are own names (`headwater.model.names.own_name`).
    """

    dataset: Dataset
    dataset_begun: int
    name: str
    since: int
    until: int
    first: str
    begun: int
    present: str


@dataclass(frozen=True, slots=True)
class Names:
    """The meanings of names that events link or change; all others mean themselves.

    ``cuts`` are the moments at which a name begins to mean another dataset, or fields of its dataset are renamed.
    """

    meanings: tuple[Meaning, ...] = ()
    fields: tuple[FieldMeaning, ...] = ()
    renamed: tuple[RenamedField, ...] = ()
    spellings: tuple[RenameSpelling, ...] = ()
    twins: tuple[TwinName, ...] = ()
    cuts: Cuts = field(default_factory=dict)

    def fields_digests(self) -> dict[tuple[Dataset, int], str]:
        """Digests of all that events change about the names of the fields of a dataset, by its name and begin."""
        found: dict[tuple[Dataset, int], list[str]] = defaultdict(list)
        every: Iterable[FieldMeaning | RenamedField | RenameSpelling | TwinName]
        every = chain(self.fields, self.renamed, self.spellings, self.twins)
        for one in every:
            found[one.dataset, one.dataset_begun].append(repr(one))
        return {dataset: key_of(*sorted(some)).hex() for dataset, some in found.items()}


def changed_names(renames: Iterable[str]) -> Cuts:
    """The names that events change, with the moments of that.

    ``renames`` are the events as `headwater.openlineage.reading.json_values.names_alone` has them.
    """
    found: dict[Dataset, set[int]] = defaultdict(set)
    for event in map(read_event, renames):
        for output in event.outputs:
            for change in output.description.names:
                for name in filter(None, (change.former, change.present)):
                    found[name].add(event.at)
    return _sorted(found)


def names_in(renames: Iterable[str]) -> set[Dataset]:
    """All names in events that change names."""
    outputs = [output.description for event in map(read_event, renames) for output in event.outputs]
    changes = [change for one in outputs for change in one.names]
    others = [link.dataset for one in outputs for link in one.symlinks]
    named = [name for one in changes for name in (one.former, one.present) if name is not None]
    return {*(one.dataset for one in outputs), *others, *named}


def meanings_of_names(renames: Iterable[str], links: Iterable[Links], twins: Iterable[Twins] = ()) -> Names:
    """The meanings of names after events that change names, and events with several names of one dataset, or twins."""
    # Names change first: an event of the same moment uses them as they are after the change.
    events = [(read_event(text).at, False, text) for text in renames]
    events += [(at, True, text) for at, text in _linking(links)]
    events += [(one.at, True, _with_twins(one)) for one in twins]
    if not events:
        return Names()
    ordered = [text for *_, text in sorted(events)]
    with TemporaryDirectory() as folder, open_store(str(Path(folder) / "names.db")) as store:
        for begin in range(0, len(ordered), _AT_ONCE):
            store.ingest(ordered[begin : begin + _AT_ONCE])
        with store.read() as connection:
            return _read(connection)


def _linking(links: Iterable[Links]) -> Iterator[tuple[int, str]]:
    """Events with the other names of datasets, of many at once where they have one moment."""
    by_moment: dict[int, list[Links]] = defaultdict(list)
    for one in links:
        by_moment[one.at].append(one)
    for at, those in by_moment.items():
        for begin in range(0, len(those), _LINKED):
            some = sorted(those[begin : begin + _LINKED])
            yield at, _event(at, [described(one.dataset, {"symlinks": symlinks_facet(one.others)}) for one in some])


def _with_twins(twins: Twins) -> str:
    schema_of_twins = schema_facet({"name": name} for name in twins.names)
    return _event(twins.at, [described(twins.dataset, {"schema": schema_of_twins})])


def _event(at: int, inputs: list[dict[str, Any]]) -> str:
    return json.dumps(job_event(Job("headwater", "names"), {}, inputs, (), at))


def _read(connection: Connection) -> Names:
    present = _present(connection)
    meanings = tuple(_meanings(connection, present))
    twins = _twins(connection)
    spelled = {one: list(consistent_renames(some, twins.get(one, ()))) for one, some in _renames(connection).items()}
    renames = {dataset: list(own_renames(some, twins.get(dataset, ()))) for dataset, some in spelled.items()}
    fields = tuple(one for dataset, some in renames.items() for one in _field_meanings(*present[dataset], some))
    renamed: list[RenamedField] = []
    spellings: list[RenameSpelling] = []
    for dataset, some in spelled.items():
        own = partial(own_name, twins=twins.get(dataset, ()))
        renamed += _renamed_fields(*present[dataset], some, renames[dataset], own)
        latest = {own(one.present): one.present for one in sorted(some, key=lambda one: (one.at, one.present))}
        spellings += [RenameSpelling(*present[dataset], name, spelling) for name, spelling in latest.items()]
    moments: dict[Dataset, set[int]] = defaultdict(set)
    at = {present[dataset]: {one.at for one in some} for dataset, some in renames.items()}
    for one in meanings:
        moments[one.name] |= {one.since} - {BEGINNING} | at.get((one.present, one.begun), set())
    of_twins = tuple(TwinName(*present[one], name) for one, some in twins.items() for name in sorted(some))
    return Names(meanings, fields, tuple(renamed), tuple(spellings), of_twins, _sorted(moments))


def _present(connection: Connection) -> dict[int, tuple[Dataset, int]]:
    """The present name of each dataset by id, and since when it has it: of equal names the latest."""
    name, dataset = schema.dataset_name.c, schema.dataset.c
    its_own = select(dataset.id, name.namespace, name.name, name.since).join(
        schema.dataset_name,
        (name.dataset_id == dataset.id) & (name.namespace == dataset.namespace) & (name.name == dataset.name),
    )
    rows = connection.execute(its_own.order_by(name.since))
    return {row.id: (Dataset(row.namespace, row.name), row.since) for row in rows}


def _meanings(connection: Connection, present: Mapping[int, tuple[Dataset, int]]) -> Iterator[Meaning]:
    """The meanings of each name for all time; while the store has none it means a dataset of its own."""
    name = schema.dataset_name.c
    rows = connection.execute(select(schema.dataset_name).order_by(name.namespace, name.name, name.since)).all()
    for dataset, some in groupby(rows, key=lambda row: Dataset(row.namespace, row.name)):
        end = BEGINNING
        for row in some:
            if end < row.since:
                yield Meaning(dataset, end, row.since, dataset, end)
            yield Meaning(dataset, row.since, row.until, *present[row.dataset_id])
            end = row.until
        if end < FOREVER:
            yield Meaning(dataset, end, FOREVER, dataset, end)


def _renames(connection: Connection) -> dict[int, list[FieldRename]]:
    table = schema.field_rename.c
    rows = select(table.dataset_id, table.at, table.former, table.present)
    found: dict[int, list[FieldRename]] = defaultdict(list)
    for dataset, *rename in connection.execute(rows.order_by(table.at, table.former, table.present)):
        found[dataset].append(FieldRename(*rename))
    return found


def _field_meanings(dataset: Dataset, begun: int, renames: Sequence[FieldRename]) -> Iterator[FieldMeaning]:
    moments = [BEGINNING, *sorted({one.at for one in renames}), FOREVER]
    for name in sorted({name for one in renames for name in one[1:]}):
        for since, until in pairwise(moments):
            first, own = first_name(renames, name, since)
            present = present_name(renames, first, own)
            yield FieldMeaning(dataset, begun, name, since, until, first, own, present)


def _renamed_fields(
    dataset: Dataset,
    begun: int,
    spelled: Iterable[FieldRename],
    renames: Sequence[FieldRename],
    name_of: Callable[[str], str],
) -> Iterator[RenamedField]:
    """The fields that events renamed, with the names in these (`headwater.store.ingest.datasets`)."""
    for one in spelled:
        former = name_of(one.former)
        first, since = first_name(renames, former, one.at - 1)
        present = present_name(renames, first, since)
        yield RenamedField(dataset, begun, first, since, present, one.former if former == present else None)


def _twins(connection: Connection) -> dict[int, set[str]]:
    found: dict[int, set[str]] = defaultdict(set)
    for dataset, name in connection.execute(select(schema.field_twin.c.dataset_id, schema.field_twin.c.name)):
        found[dataset].add(name)
    return found


def _sorted(cuts: Mapping[Dataset, Iterable[int]]) -> Cuts:
    return {name: tuple(sorted(some)) for name, some in cuts.items() if some}
