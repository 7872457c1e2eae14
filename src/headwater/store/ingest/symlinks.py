"""One dataset under all its names: a table known by its location and by its name in a catalog is one row."""

from collections.abc import Iterable
from typing import Any

from sqlalchemy import LargeBinary, Select, and_, bindparam, delete, insert, or_, select, update

from headwater.model import Dataset, Symlink
from headwater.model.name_keys import folded, key_of
from headwater.model.time import BEGINNING
from headwater.store import schema
from headwater.store.graph.index.log import Pair
from headwater.store.ingest.attributes import note_change, offer, touch
from headwater.store.ingest.ids import Writer
from headwater.store.ingest.joined_tags import merge_tags
from headwater.store.ingest.meanings import Meaning, free_span
from headwater.store.ingest.replacements import retract_replacements
from headwater.store.ingest.spellings import CURRENT, WRITTEN, spelled
from headwater.store.ingest.upserts import ToldSchema
from headwater.store.ingest.withdrawal import withdraw

_NAME = schema.dataset_name
_FIELD = schema.field
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
        _merge(writer, owner, found.dataset)
    return owner


def end(writer: Writer, named: Dataset, at: int) -> None:
    """Ends what a name means at a moment: from then on it is the name of another dataset, or of none."""
    known = meanings(writer, named)
    for place, one in enumerate(known):
        if one.straddles(at):
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
        _merge(writer, owner, other_owner)
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


def _merge(writer: Writer, kept: int, gone: int) -> None:
    writer.flush()
    withdraw(writer, touching(writer, kept) | touching(writer, gone))
    retract_replacements(writer, (kept, gone))
    if writer.renames(kept) or writer.renames(gone) or writer.twins(kept) != writer.twins(gone):
        writer.entangled |= {kept} & _with_fields(writer, kept, gone)
    if gone in writer.entangled:
        writer.entangled = (writer.entangled - {gone}) | {kept}
    _merge_runs(writer, kept, gone)
    _merge_renames(writer, kept, gone)
    _merge_attributes(writer, kept, gone)
    merge_tags(writer, kept, gone)
    _merge_facets(writer, kept, gone)
    _merge_fields(writer, kept, gone)
    writer.connection.execute(update(_NAME).where(_NAME.c.dataset_id == gone).values(dataset_id=kept))
    writer.connection.execute(delete(schema.dataset).where(schema.dataset.c.id == gone))
    writer.forget()


def touching(writer: Writer, dataset: int) -> set[Pair]:
    """Whose lineage reads or writes a dataset, now or in the past."""
    lineage = schema.lineage
    mine = select(_FIELD.c.id).where(_FIELD.c.dataset_id == dataset)
    questions = [select(lineage.c.job_id, lineage.c.output_id).where(lineage.c.output_id == dataset)]
    for edges in (schema.edge, schema.edge_history):
        output = select(edges.c.job_id, _FIELD.c.dataset_id).join(_FIELD, _FIELD.c.id == edges.c.output_field)
        questions.append(output.where(edges.c.input_field.in_(mine)).distinct())
    for edges in (schema.dataset_edge, schema.dataset_edge_history):
        output = select(edges.c.job_id, edges.c.output_dataset).where(edges.c.input_field.in_(mine))
        questions.append(output.distinct())
    return {(job, output) for question in questions for job, output in writer.connection.execute(question)}


def _merge_fields(writer: Writer, kept: int, gone: int) -> None:
    if not writer.renames(kept):
        for _, (_, best, by) in spelled(writer.connection, gone):
            writer.fields(kept, [best], BEGINNING, min(by, WRITTEN))
    writer.flush()
    for table in (_FIELD, schema.field_twin):
        writer.connection.execute(delete(table).where(table.c.dataset_id == gone))


def _with_fields(writer: Writer, kept: int, gone: int) -> set[int]:
    """The dataset that stays, when it or the other has fields already: they may be other ones after joining."""
    known = writer.connection.execute(select(_FIELD.c.id).where(_FIELD.c.dataset_id.in_((kept, gone))).limit(1))
    return {kept} if known.first() else set()


def _merge_renames(writer: Writer, kept: int, gone: int) -> None:
    for rename in writer.renames(gone):
        writer.rename_field(kept, rename)
    table = schema.field_rename
    writer.connection.execute(delete(table).where(table.c.dataset_id == gone))


def _merge_runs(writer: Writer, kept: int, gone: int) -> None:
    table = schema.run_dataset
    for row in writer.connection.execute(select(table).where(table.c.dataset_id == gone)).all():
        touch(writer, row.run_id, kept, written=row.written, has_lineage=row.has_lineage)
        if row.schema_digest is not None:
            place = (row.run_id, kept, row.written)
            writer.pending.add_version_schema(place, row.schema_at, row.schema_digest)
    writer.connection.execute(delete(table).where(table.c.dataset_id == gone))
    changed = schema.dataset_change
    for row in writer.connection.execute(select(changed).where(changed.c.dataset_id == gone)).all():
        left = None if row.schema_at is None else (row.schema_at, row.schema_digest)
        note_change(writer, row.run_id, kept, left)
    writer.connection.execute(delete(changed).where(changed.c.dataset_id == gone))


def _merge_facets(writer: Writer, kept: int, gone: int) -> None:
    table = schema.facet
    mine = table.c.dataset_id == gone
    for row in writer.connection.execute(select(table).where(mine)).all():
        writer.pending.facet((kept, 0), row.name, row.at, row.event_digest)
    writer.connection.execute(delete(table).where(mine))


def _merge_attributes(writer: Writer, kept: int, gone: int) -> None:
    dataset = schema.dataset
    row = writer.connection.execute(select(dataset).where(dataset.c.id == gone)).one()._mapping
    for name in ("source", "lifecycle", "version", "description"):
        offer(writer, (dataset, name), kept, row[name], row[f"{name}_at"])
    for moment in filter(None, (row["first_at"], row["last_at"])):
        writer.pending.seen(dataset, kept, moment)
    placed = select(_FIELD.c.name, _FIELD.c.type).where(_FIELD.c.dataset_id == gone, _FIELD.c.ordinal.is_not(None))
    _offer_schema(writer, kept, placed.order_by(_FIELD.c.ordinal), (row["schema_at"], row["schema_digest"]))
    current = select(_FIELD.c.name, _FIELD.c.type).where(_FIELD.c.dataset_id == gone, _FIELD.c.spelled_by == CURRENT)
    _offer_schema(writer, kept, current, (row["written_at"], row["written_digest"]), written=True)


def _offer_schema(
    writer: Writer,
    kept: int,
    fields: Select[Any],
    moment: tuple[int | None, bytes | None],
    *,
    written: bool = False,
) -> None:
    """Gives a dataset the schema of another, as it was when it was told."""
    at, digest = moment
    if at is None or digest is None:
        return
    rows = writer.connection.execute(fields).all()
    placed = tuple((writer.field(kept, row.name, BEGINNING), row.type, row.name) for row in rows)
    if written:
        writer.pending.spellings.schema(kept, ToldSchema(at, digest, placed))
    else:
        writer.pending.schema(kept, ToldSchema(at, digest, placed), written=False)
