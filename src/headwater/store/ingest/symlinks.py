"""One dataset under all its names: a table known by its location and by its name in a catalog is one row."""

from collections.abc import Iterable

from sqlalchemy import LargeBinary, and_, bindparam, insert, or_, select, update

from headwater.model import Dataset, Symlink
from headwater.model.name_keys import folded, key_of
from headwater.model.time import BEGINNING
from headwater.store import schema
from headwater.store.ingest.dataset_merge import merge_datasets
from headwater.store.ingest.ids import Writer
from headwater.store.ingest.meanings import Meaning, free_span

_NAME = schema.dataset_name
_KEY = bindparam("the_key", type_=LargeBinary())
_NAMED = select(_NAME.c.id, _NAME.c.dataset_id, _NAME.c.since, _NAME.c.until)
_NAMED = _NAMED.where(or_(_NAME.c.key == _KEY, _NAME.c.first_key == _KEY))
_END = update(_NAME).where(_NAME.c.id == bindparam("row")).values(until=bindparam("moment"))
_PAIR = and_(schema.symlink.c.name_id == bindparam("name_id"), schema.symlink.c.other_id == bindparam("other_id"))
_JOINED = select(schema.symlink.c.type).where(_PAIR)


def dataset_id(writer: Writer, named: Dataset, at: int, symlinks: Iterable[Symlink] = ()) -> int:
    """The id of the dataset that a name means at a moment, after joining it with its other names."""
    meaning = _meaning(writer, named, at)
    owner = meaning.dataset
    for link in symlinks:
        if link.dataset != named:
            owner = _join(writer, (meaning.id, owner), link, at)
    return owner


def meanings(writer: Writer, named: Dataset) -> list[Meaning]:
    """All that a name has meant."""
    if named not in writer.names:
        rows = writer.connection.execute(_NAMED, {"the_key": key_of(named.namespace, named.name)})
        writer.names[named] = [Meaning(*row) for row in rows]
    return writer.names[named]


def claim(writer: Writer, named: Dataset, at: int, owner: int) -> int:
    """Lets a name mean a dataset from a moment on; the dataset, joined with what the name means there already."""
    found = next((one for one in meanings(writer, named) if one.covers(at)), None)
    if found is None:
        _add(writer, named, owner, (at, free_span(meanings(writer, named), at)[1]))
    elif found.dataset != owner:
        merge_datasets(writer, owner, found.dataset)
    return owner


def end(writer: Writer, named: Dataset, at: int) -> None:
    """Ends what a name means at a moment: from then on it is the name of another dataset, or of none."""
    known = meanings(writer, named)
    for place, one in enumerate(known):
        if one.spans(at):
            writer.connection.execute(_END, {"row": one.id, "moment": at})
            known[place] = one._replace(until=at)
            name_by_location(writer, one.dataset)


def _meaning(writer: Writer, named: Dataset, at: int, owner: int | None = None) -> Meaning:
    for one in meanings(writer, named):
        if one.covers(at):
            return one
    return _add(writer, named, owner, free_span(meanings(writer, named), at))


def _add(writer: Writer, named: Dataset, owner: int | None, span: tuple[int, int]) -> Meaning:
    names, first = {"namespace": named.namespace, "name": named.name}, key_of(named.namespace, named.name)
    writer.pending.write_names(writer.connection)
    if owner is None:
        owner = writer.add(schema.dataset, names)
    since, until = span
    if since == BEGINNING:
        keys = {"key": first, "first_key": None}
    else:
        keys = {"key": key_of(named.namespace, named.name, str(since)), "first_key": first}
    values = {**names, **keys, "folded": folded(named), "dataset_id": owner, "since": since, "until": until}
    added = Meaning(writer.add(_NAME, values), owner, since, until)
    writer.names[named].append(added)
    return added


def _join(writer: Writer, declaring: tuple[int, int], link: Symlink, at: int) -> int:
    name_id, owner = declaring
    writer.pending.write_names(writer.connection)
    other_id, other_owner, *_ = _meaning(writer, link.dataset, at, owner)
    pair = {"name_id": name_id, "other_id": other_id}
    if writer.connection.execute(_JOINED, pair).first() is not None:
        return owner
    writer.connection.execute(insert(schema.symlink).values(**pair, type=link.type))
    if other_owner != owner:
        merge_datasets(writer, owner, other_owner)
    name_by_location(writer, owner)
    return owner


def name_by_location(writer: Writer, owner: int) -> None:
    """Calls the dataset by that of its latest names that declares the others; of several the first in the alphabet.

    Producers name a table by its location and its catalog names as symlinks (OpenLineage, "Dataset naming").
    """
    known = writer.connection.execute(select(_NAME).where(_NAME.c.dataset_id == owner)).all()
    latest = max(row.until for row in known)
    names = [row for row in known if row.until == latest]
    links = select(schema.symlink.c.other_id).join(_NAME, _NAME.c.id == schema.symlink.c.other_id)
    declared = set(writer.connection.execute(links.where(_NAME.c.dataset_id == owner)).scalars())
    declaring = [row for row in names if row.id not in declared] or names
    first = min(declaring, key=lambda row: (row.namespace, row.name))
    values = {"namespace": first.namespace, "name": first.name}
    writer.connection.execute(update(schema.dataset).where(schema.dataset.c.id == owner).values(**values))
