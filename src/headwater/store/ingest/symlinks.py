"""One dataset under all its names: a table with a location and a name in a catalog is one row."""

from collections.abc import Iterable

from sqlalchemy import and_, bindparam, insert, select, update

from headwater.model import Dataset, Symlink
from headwater.model.name_keys import folded, key_of
from headwater.model.time import BEGINNING
from headwater.store import schema
from headwater.store.ingest.dataset_merge import merge_datasets
from headwater.store.ingest.ids import IdResolver, Meaning, free_span
from headwater.store.ingest.write import write_names

_NAME = schema.dataset_name
_NEW_NAME = insert(_NAME).returning(_NAME.c.id)
_NEW_DATASET = insert(schema.dataset).returning(schema.dataset.c.id)
_END = update(_NAME).where(_NAME.c.id == bindparam("row")).values(until=bindparam("moment"))
_PAIR = and_(schema.symlink.c.name_id == bindparam("name_id"), schema.symlink.c.other_id == bindparam("other_id"))
_JOINED = select(schema.symlink.c.type).where(_PAIR)


def dataset_id(ids: IdResolver, named: Dataset, at: int, symlinks: Iterable[Symlink] = ()) -> int:
    """Return the id of the dataset that a name means at a moment, after joining it with its other names."""
    meaning = _meaning(ids, named, at)
    owner = meaning.dataset
    for link in symlinks:
        if link.dataset != named:
            owner = _join(ids, (meaning.id, owner), link, at)
    return owner


def claim(ids: IdResolver, named: Dataset, at: int, owner: int) -> int:
    """Let a name mean a dataset from a moment on, which is joined with that of the name; return the dataset."""
    found = next((one for one in ids.meanings(named) if one.covers(at)), None)
    if found is None:
        _add(ids, named, owner, (at, free_span(ids.meanings(named), at)[1]))
    elif found.dataset != owner:
        merge_datasets(ids, owner, found.dataset)
    return owner


def end(ids: IdResolver, named: Dataset, at: int) -> None:
    """End what a name means at a moment: from then on it is the name of another dataset, or of none."""
    meanings = ids.meanings(named)
    for place, one in enumerate(meanings):
        if one.spans(at):
            ids.connection.execute(_END, {"row": one.id, "moment": at})
            meanings[place] = one._replace(until=at)
            name_by_location(ids, one.dataset)


def _meaning(ids: IdResolver, named: Dataset, at: int, owner: int | None = None) -> Meaning:
    for one in ids.meanings(named):
        if one.covers(at):
            return one
    return _add(ids, named, owner, free_span(ids.meanings(named), at))


def _add(ids: IdResolver, named: Dataset, owner: int | None, span: tuple[int, int]) -> Meaning:
    names, first = {"namespace": named.namespace, "name": named.name}, key_of(named.namespace, named.name)
    write_names(ids.connection, ids.rows)
    if owner is None:
        owner = int(ids.connection.execute(_NEW_DATASET, names).scalar_one())
    since, until = span
    if since == BEGINNING:
        keys = {"key": first, "first_key": None}
    else:
        keys = {"key": key_of(named.namespace, named.name, str(since)), "first_key": first}
    values = {**names, **keys, "folded": folded(named), "dataset_id": owner, "since": since, "until": until}
    added = Meaning(int(ids.connection.execute(_NEW_NAME, values).scalar_one()), owner, since, until)
    ids.meanings(named).append(added)
    return added


def _join(ids: IdResolver, declaring: tuple[int, int], link: Symlink, at: int) -> int:
    name_id, owner = declaring
    write_names(ids.connection, ids.rows)
    other_id, other_owner, *_ = _meaning(ids, link.dataset, at, owner)
    pair = {"name_id": name_id, "other_id": other_id}
    if ids.connection.execute(_JOINED, pair).first() is not None:
        return owner
    ids.connection.execute(insert(schema.symlink).values(**pair, type=link.type))
    if other_owner != owner:
        merge_datasets(ids, owner, other_owner)
    name_by_location(ids, owner)
    return owner


def name_by_location(ids: IdResolver, owner: int) -> None:
    """Name the dataset by that of its latest names that declares the others; of several the first in the alphabet.

    Producers name a table by its location and its catalog names as symlinks (OpenLineage, "Dataset naming").
    """
    named = ids.connection.execute(select(_NAME).where(_NAME.c.dataset_id == owner)).all()
    latest = max(row.until for row in named)
    names = [row for row in named if row.until == latest]
    links = select(schema.symlink.c.other_id).join(_NAME, _NAME.c.id == schema.symlink.c.other_id)
    declared = set(ids.connection.execute(links.where(_NAME.c.dataset_id == owner)).scalars())
    declaring = [row for row in names if row.id not in declared] or names
    first = min(declaring, key=lambda row: (row.namespace, row.name))
    values = {"namespace": first.namespace, "name": first.name}
    ids.connection.execute(update(schema.dataset).where(schema.dataset.c.id == owner).values(**values))
