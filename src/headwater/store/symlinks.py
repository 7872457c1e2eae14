"""One dataset under all its names: a table known by its location and by its name in a catalog is one row."""

from collections.abc import Iterable

from sqlalchemy import and_, bindparam, delete, insert, select, update

from headwater.model import Dataset, SchemaField, Symlink
from headwater.store import schema
from headwater.store.attributes import offer, offer_schema, touch
from headwater.store.ids import Writer, folded, key_of
from headwater.store.withdrawal import Pair, withdraw

_NAME = schema.dataset_name
_FIELD = schema.field
_NAMED = select(_NAME.c.id, _NAME.c.dataset_id).where(_NAME.c.key == bindparam("the_key"))
_PAIR = and_(schema.symlink.c.name_id == bindparam("name_id"), schema.symlink.c.other_id == bindparam("other_id"))
_JOINED = select(schema.symlink.c.type).where(_PAIR)


def dataset_id(writer: Writer, named: Dataset, symlinks: Iterable[Symlink] = ()) -> int:
    """The id of the dataset with this name, after joining it with its other names."""
    name_id, owner = _name(writer, named, None)
    for link in symlinks:
        if link.dataset != named:
            owner = _join(writer, (name_id, owner), link)
    return owner


def _name(writer: Writer, named: Dataset, owner: int | None) -> tuple[int, int]:
    if named not in writer.names:
        writer.names[named] = _found_or_added(writer, named, owner)
    return writer.names[named]


def _found_or_added(writer: Writer, named: Dataset, owner: int | None) -> tuple[int, int]:
    key = key_of(named.namespace, named.name)
    row = writer.connection.execute(_NAMED, {"the_key": key}).first()
    if row is not None:
        return row.id, row.dataset_id
    names = {"namespace": named.namespace, "name": named.name}
    if owner is None:
        owner = writer.add(schema.dataset, names)
    return writer.add(_NAME, {"key": key, **names, "folded": folded(named), "dataset_id": owner}), owner


def _join(writer: Writer, declaring: tuple[int, int], link: Symlink) -> int:
    name_id, owner = declaring
    other_id, other_owner = _name(writer, link.dataset, owner)
    pair = {"name_id": name_id, "other_id": other_id}
    if writer.connection.execute(_JOINED, pair).first() is not None:
        return owner
    writer.connection.execute(insert(schema.symlink).values(**pair, type=link.type))
    if other_owner != owner:
        _merge(writer, owner, other_owner)
    _name_by_location(writer, owner)
    return owner


def _name_by_location(writer: Writer, owner: int) -> None:
    """Calls the dataset by the name that declares the others; of several the first in the alphabet.

    Producers name a table by its location and its catalog names as symlinks (OpenLineage, "Dataset naming").
    """
    names = writer.connection.execute(select(_NAME).where(_NAME.c.dataset_id == owner)).all()
    links = select(schema.symlink.c.other_id).join(_NAME, _NAME.c.id == schema.symlink.c.other_id)
    declared = set(writer.connection.execute(links.where(_NAME.c.dataset_id == owner)).scalars())
    declaring = [row for row in names if row.id not in declared] or names
    first = min(declaring, key=lambda row: (row.namespace, row.name))
    values = {"namespace": first.namespace, "name": first.name}
    writer.connection.execute(update(schema.dataset).where(schema.dataset.c.id == owner).values(**values))


def _merge(writer: Writer, kept: int, gone: int) -> None:
    withdraw(writer, _touching(writer, kept) | _touching(writer, gone))
    _merge_runs(writer, kept, gone)
    _merge_attributes(writer, kept, gone)
    _merge_fields(writer, kept, gone)
    writer.connection.execute(update(_NAME).where(_NAME.c.dataset_id == gone).values(dataset_id=kept))
    writer.connection.execute(delete(schema.dataset).where(schema.dataset.c.id == gone))
    writer.forget()


def _touching(writer: Writer, dataset: int) -> set[Pair]:
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
    writer.fields(kept, writer.fields(gone, ()))
    writer.connection.execute(delete(_FIELD).where(_FIELD.c.dataset_id == gone))


def _merge_runs(writer: Writer, kept: int, gone: int) -> None:
    table = schema.run_dataset
    for row in writer.connection.execute(select(table).where(table.c.dataset_id == gone)).all():
        touch(writer, row.run_id, kept, written=row.written, has_lineage=row.has_lineage)
    writer.connection.execute(delete(table).where(table.c.dataset_id == gone))


def _merge_attributes(writer: Writer, kept: int, gone: int) -> None:
    dataset = schema.dataset
    row = writer.connection.execute(select(dataset).where(dataset.c.id == gone)).one()._mapping
    for name in ("source", "lifecycle", "version"):
        offer(writer, (dataset, name), kept, row[name], row[f"{name}_at"])
    placed = select(_FIELD.c.name, _FIELD.c.type).where(_FIELD.c.dataset_id == gone, _FIELD.c.ordinal.is_not(None))
    fields = [SchemaField(*field) for field in writer.connection.execute(placed.order_by(_FIELD.c.ordinal))]
    offer_schema(writer, kept, fields, row["schema_at"])
