"""What names of datasets and fields mean, and when: worked out by the store, from the few events that tell of names.

Events that change names are told to a store in a file of its own, without all else that they say; of other names of a
dataset (symlinks) each once, and once more after each moment at which one of these names changed its meaning. A name
that is in neither means one dataset for ever, its own; nothing is kept of it.
"""

import json
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from functools import partial
from itertools import groupby, pairwise
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

from sqlalchemy import Connection, select

from headwater.model import Dataset
from headwater.model.field_names import FieldRename, first_name, own_name, own_renames, present_name
from headwater.model.name_keys import key_of
from headwater.model.time import BEGINNING, FOREVER
from headwater.openlineage.reading import read_event
from headwater.store import open_store, schema

_AT_ONCE = 500  # events in one transaction
_LINKED = 200  # datasets in one event
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
Cuts = dict[Dataset, tuple[int, ...]]
"""By name the moments at which its meaning changes, in their order."""


class Links(NamedTuple):
    """A dataset, its other names with their types, and when an event says so (microseconds since 1970).

    Where none of the names ever changes its meaning, any moment does.
    """

    dataset: Dataset
    others: tuple[tuple[Dataset, str], ...]
    at: int


class Twins(NamedTuple):
    """A dataset, fields of it that differ in case only, and when an event shows them."""

    dataset: Dataset
    names: tuple[str, ...]
    at: int


class TwinName(NamedTuple):
    """A name in lower case that several fields of a dataset have."""

    dataset: Dataset
    dataset_begun: int
    name: str


class RenameSpelling(NamedTuple):
    """How renames spell the present name of fields of a dataset: ``own`` is the name that is compared."""

    dataset: Dataset
    dataset_begun: int
    own: str
    spelling: str


class RenamedField(NamedTuple):
    """A field that an event gave another name: its first name and since when that is its own, and what it is now.

    ``former`` is what the event calls it where that differs in case only; ``own`` is the present name in comparisons.
    """

    dataset: Dataset
    dataset_begun: int
    first: str
    begun: int
    own: str
    former: str | None


class Meaning(NamedTuple):
    """From a moment on, up to but not including another, a name means the dataset that goes by the name ``present``.

    ``begun`` is since when that name is its own; BEGINNING for most. It tells apart what had one name in turn.
    """

    name: Dataset
    since: int
    until: int
    present: Dataset
    begun: int


class FieldMeaning(NamedTuple):
    """From a moment on, up to but not including another, a name means a field of a dataset.

    The field is known by its ``first`` name and since when that is its own; ``present`` is what it is called now. All
    of these are own names (`headwater.model.field_names.own_name`).
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
    """What names mean of which events tell more than that they are used; others mean themselves.

    ``cuts`` are the moments at which a name begins to mean something else, or fields of what it means get other names.
    """

    meanings: tuple[Meaning, ...] = ()
    fields: tuple[FieldMeaning, ...] = ()
    renamed: tuple[RenamedField, ...] = ()
    spellings: tuple[RenameSpelling, ...] = ()
    twins: tuple[TwinName, ...] = ()
    cuts: Cuts = field(default_factory=dict)

    def digest(self) -> str:
        """A digest of all that names mean."""
        parts = (self.meanings, self.fields, self.renamed, self.spellings, self.twins, self.cuts.items())
        said = (sorted(map(repr, some)) for some in parts)
        return key_of(*(repr(one) for one in said)).hex()


def changed_names(renames: Iterable[str]) -> Cuts:
    """The names that events change, and when.

    ``renames`` are the events as `headwater.archive.events.rows.names_alone` has them.
    """
    found: dict[Dataset, set[int]] = defaultdict(set)
    for event in map(read_event, renames):
        for output in event.outputs:
            for change in output.description.names:
                for named in filter(None, (change.former, change.present)):
                    found[named].add(event.at)
    return _sorted(found)


def names(renames: Iterable[str], links: Iterable[Links], twins: Iterable[Twins] = ()) -> Names:
    """The meanings of names after events that change names, and others with several names of one dataset, or twins."""
    # Names change first: who uses one at that moment means what it has come to mean.
    told = [(read_event(text).at, False, text) for text in renames]
    told += [(at, True, text) for at, text in _linking(links)]
    told += [(one.at, True, _with_twins(one)) for one in twins]
    if not told:
        return Names()
    ordered = [text for *_, text in sorted(told)]
    with TemporaryDirectory() as folder, open_store(str(Path(folder) / "names.db")) as store:
        for begin in range(0, len(ordered), _AT_ONCE):
            store.ingest(ordered[begin : begin + _AT_ONCE])
        with store.read() as connection:
            return _read(connection)


def _linking(links: Iterable[Links]) -> Iterator[tuple[int, str]]:
    """Events that tell the other names of datasets, of many at once where they have one moment."""
    by_moment: dict[int, list[Links]] = defaultdict(list)
    for one in links:
        by_moment[one.at].append(one)
    for at, some in by_moment.items():
        for begin in range(0, len(some), _LINKED):
            inputs = [_linked(one) for one in sorted(some[begin : begin + _LINKED])]
            yield at, _event(at, inputs)


def _with_twins(twins: Twins) -> str:
    fields = [{"name": name} for name in twins.names]
    return _event(twins.at, [{**_named(twins.dataset), "facets": {"schema": {"fields": fields}}}])


def _event(at: int, inputs: list[dict[str, Any]]) -> str:
    time = (_EPOCH + timedelta(microseconds=at)).isoformat()
    return json.dumps({"eventTime": time, "job": {"namespace": "headwater", "name": "names"}, "inputs": inputs})


def _linked(links: Links) -> dict[str, Any]:
    others = [{**_named(one), "type": kind} for one, kind in links.others]
    return {**_named(links.dataset), "facets": {"symlinks": {"identifiers": others}}}


def _named(dataset: Dataset) -> dict[str, str]:
    return {"namespace": dataset.namespace, "name": dataset.name}


def _read(connection: Connection) -> Names:
    present = _present(connection)
    meanings = tuple(_meanings(connection, present))
    spelled, twins = _renames(connection), _twins(connection)
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
    """By id what a dataset is called, and since when that is its name: of equal names the latest."""
    name, dataset = schema.dataset_name.c, schema.dataset.c
    its_own = select(dataset.id, name.namespace, name.name, name.since).join(
        schema.dataset_name,
        (name.dataset_id == dataset.id) & (name.namespace == dataset.namespace) & (name.name == dataset.name),
    )
    rows = connection.execute(its_own.order_by(name.since))
    return {row.id: (Dataset(row.namespace, row.name), row.since) for row in rows}


def _meanings(connection: Connection, present: Mapping[int, tuple[Dataset, int]]) -> Iterator[Meaning]:
    """The meanings of each name for all time; while it has none in the store it means a dataset of its own."""
    name = schema.dataset_name.c
    rows = connection.execute(select(schema.dataset_name).order_by(name.namespace, name.name, name.since)).all()
    for named, some in groupby(rows, key=lambda row: Dataset(row.namespace, row.name)):
        end = BEGINNING
        for row in some:
            if end < row.since:
                yield Meaning(named, end, row.since, named, end)
            yield Meaning(named, row.since, row.until, *present[row.dataset_id])
            end = row.until
        if end < FOREVER:
            yield Meaning(named, end, FOREVER, named, end)


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
    own: Callable[[str], str],
) -> Iterator[RenamedField]:
    """The fields that events gave other names, by what these call them (`headwater.store.ingest.descriptions`)."""
    for one in spelled:
        former = own(one.former)
        first, since = first_name(renames, former, one.at - 1)
        present = present_name(renames, first, since)
        yield RenamedField(dataset, begun, first, since, present, one.former if former == present else None)


def _twins(connection: Connection) -> dict[int, set[str]]:
    found: dict[int, set[str]] = defaultdict(set)
    for dataset, name in connection.execute(select(schema.field_twin.c.dataset_id, schema.field_twin.c.name)):
        found[dataset].add(name)
    return found


def _sorted(found: Mapping[Dataset, Iterable[int]]) -> Cuts:
    return {named: tuple(sorted(some)) for named, some in found.items() if some}
