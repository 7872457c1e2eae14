"""A dataset or a column by its exact name, or by any ending of its name that fits only one."""

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import islice
from typing import Any, NoReturn, TypeVar

from sqlalchemy import ColumnElement, Connection, LargeBinary, Row, Select, and_, bindparam, func, or_, select

from headwater.errors import AmbiguousName, UnknownName
from headwater.model import Dataset
from headwater.model.names import key_of, place_of
from headwater.model.nested_fields import field_within, name_parts
from headwater.model.time import FOREVER
from headwater.store import schema
from headwater.store.questions import names
from headwater.store.questions.answers import Column, KnownDataset, Node, Sees
from headwater.store.questions.lookup.typed_names import (
    ENDING,
    FOLDED_ENDING,
    FOLDED_WHOLE,
    TypedName,
    fit,
    like,
    near_names,
    tail,
    typed,
)
from headwater.store.questions.walk.leaf_steps import nested_id
from headwater.store.read_model.visibility import described_datasets, described_fields, sight_of
from headwater.store.sql.databases import rows_for

_NAME = schema.dataset_name
_KEY = bindparam("the_key", type_=LargeBinary())
_MEANINGS = select(_NAME.c.dataset_id, _NAME.c.since, _NAME.c.until)
_MEANINGS = _MEANINGS.where(or_(_NAME.c.key == _KEY, _NAME.c.first_key == _KEY)).order_by(_NAME.c.since)


@dataclass(frozen=True, slots=True)
class ExactName:
    """The whole name of a dataset, or of a column of it."""

    namespace: str
    dataset: str
    field: str = ""


Name = str | ExactName
"""The name of a column or dataset to find: an ending as people type it, or a whole name."""


def find_exact(
    connection: Connection, name: ExactName, at: int | None = None, *, nested: bool = False
) -> Column | KnownDataset:
    """The dataset or column of that whole name, now or at a moment; a symlink is a name too.

    A column may be spelled in another case, where only one column of the dataset has the name. A field within a
    column of a nested type stands for the column, unless ``nested`` says that it is wanted itself.

    Raises:
        UnknownName: there is none.
    """
    dataset = _dataset(connection, name, at)
    if not name.field:
        return dataset
    columns = names.columns_of(connection, dataset, at)
    called = [column.name for column in columns]
    if (place := place_of(called, name.field)) is not None:
        return columns[place]
    parts = name_parts(name.field)
    written = [(parts[0], list(parts[1:]))] if len(parts) > 1 else []
    for column, path in (*written, *((one.text, path) for one, path in typed(name.field).fields_within())):
        place = place_of(called, column)
        if place is not None and (found := _within(connection, columns[place], path, nested=nested)) is not None:
            return found
    raise UnknownName(f"Dataset {_shown(name)} has no column {name.field[:200]!r}.{_near(columns, name.field)}")


def _dataset(connection: Connection, name: ExactName, at: int | None) -> KnownDataset:
    meanings = _MEANINGS
    if sight_of(connection) is not None:
        meanings = meanings.where(described_datasets(connection, _NAME.c.dataset_id))
    rows = connection.execute(meanings, {"the_key": key_of(name.namespace, name.dataset)}).all()
    then = [row.dataset_id for row in rows if at is None or row.since <= at < row.until]
    if not then:
        raise UnknownName(f"No dataset of the store is named {_shown(name)}. Search for it, or name another.")
    return names.datasets(connection, [then[-1]], at)[then[-1]]


def _within(connection: Connection, column: Column, path: list[str], *, nested: bool) -> Column | None:
    """The field within a column, or the column in its place; None where its type has none of that path."""
    found = field_within(column.type, path)
    if found is None:
        return None
    return within(connection, column, (column.id, found[0])) if nested else column


def within(connection: Connection, column: Column, node: Node) -> Column:
    """Return a field within a column, or the column itself where the path is empty."""
    return names.within(column, node, nested_id(connection, node)) if node[1] else column


def _near(columns: list[Column], field: str) -> str:
    near = like(field, [column.name for column in columns])
    return f" Near: {', '.join(near)}." if near else " Search for it, or name another."


def _shown(name: ExactName) -> str:
    return repr(str(Dataset(name.namespace[:200], name.dataset[:200])))


_FIELD = schema.field
_NAMED_FIELDS = select(
    _FIELD.c.id, _FIELD.c.name.label("field"), _FIELD.c.dataset_id, _NAME.c.namespace, _NAME.c.name, _NAME.c.until
).join(_NAME, _NAME.c.dataset_id == _FIELD.c.dataset_id)
_SHOWN = 10
_SHOWN_TEXT = 200
_MOST_SPLITS = 4
_MOST = 1_000
Entity = TypeVar("Entity", bound=Column | KnownDataset)
Ranks = dict[int, int]
"""How well each id fits, 0 best."""


def find_column(
    connection: Connection, name: Name, at: int | None = None, sees: Sees = None, *, nested: bool = False
) -> Column:
    """The column whose full name ends in ``name`` (``gold.delays.avg_delay``, ``delays.avg_delay``).

    Parts are parted by ``.`` or ``/``; a part in backticks is taken as it stands. A whole name goes before
    an ending, equal case before other case, and a dataset's symlinks count as its names. Names are those of a
    moment (microseconds since 1970), or of now; then a name that nothing has any more is found as well. Names in
    namespaces that may not be asked for are as if they were not there. A field within a column of a nested type
    (``orders.items.price``) stands for the column, where lineage knows none of that name; ``nested`` asks for itself.

    Raises:
        UnknownName: there is none; the message lists near ones.
        AmbiguousName: there are several; the message lists them.
    """
    if isinstance(name, ExactName):
        return _column(find(connection, name, at, sees, nested=nested))
    found = names.columns(connection, _best(_columns(connection, typed(name), at, sees)), at)
    found = found or _columns_around(connection, typed(name), at, sees, nested=nested)
    return _only(found) if len(found) == 1 else _refuse(connection, name, "column", found)


def find(
    connection: Connection, name: Name, at: int | None = None, sees: Sees = None, *, nested: bool = False
) -> Column | KnownDataset:
    """The dataset or column of that name; otherwise as `find_column`."""
    if isinstance(name, ExactName):
        if sees is not None and not sees(name.namespace):
            raise UnknownName("No dataset that you may see has that name.")
        return find_exact(connection, name, at, nested=nested)
    datasets, columns = _datasets(connection, typed(name).text, at, sees), _columns(connection, typed(name), at, sees)
    best = min([*datasets.values(), *columns.values()], default=0)
    found: dict[int, Column | KnownDataset] = {}
    found |= names.columns(connection, _best(columns, best), at)
    found |= {-key: value for key, value in names.datasets(connection, _best(datasets, best), at).items()}
    found = found or {**_columns_around(connection, typed(name), at, sees, nested=nested)}
    return _only(found) if len(found) == 1 else _refuse(connection, name, "dataset or column", found)


def _columns_around(
    connection: Connection, name: TypedName, at: int | None, sees: Sees, *, nested: bool
) -> dict[int, Column]:
    """The columns in whose type a name's last parts are a field; or these fields."""
    for column, path in name.fields_within():
        known = names.columns(connection, _columns(connection, column, at, sees), at)
        around = {key: _within(connection, one, path, nested=nested) for key, one in known.items()}
        if found := {key: one for key, one in around.items() if one is not None}:
            return found
    return {}


def nested_fields_named(connection: Connection, name: str, sees: Sees = None) -> list[Column]:
    """The fields within columns that have a name or whose whole names end in it."""
    return sorted(_columns_around(connection, typed(name), None, sees, nested=True).values())


def _column(entity: Column | KnownDataset) -> Column:
    if isinstance(entity, Column):
        return entity
    raise UnknownName(f"{_short(str(entity))!r} is a dataset: expected one of its columns too.")


def _best(ranks: Ranks, best: int | None = None) -> list[int]:
    wanted = min(ranks.values(), default=0) if best is None else best
    return [key for key, rank in ranks.items() if rank == wanted]


def _only(candidates: Mapping[int, Entity]) -> Entity:
    return next(iter(candidates.values()))


def _datasets(connection: Connection, ending: str, at: int | None = None, sees: Sees = None) -> Ranks:
    ranks: Ranks = {}
    for row in _latest(connection, select(_NAME).where(_ends_in(ending)), at, sees):
        _note(ranks, row.dataset_id, fit(Dataset(row.namespace, row.name), ending), row)
    return ranks


def _latest(connection: Connection, question: Select[Any], at: int | None, sees: Sees) -> list[Row[Any]]:
    """The dataset behind each name at a moment, or now; the last one, when the name means nothing any more."""
    if at is not None:
        question = question.where(_NAME.c.since <= at, _NAME.c.until > at)
    question = question.where(described_datasets(connection, _NAME.c.dataset_id))
    if "field" in question.selected_columns:
        question = question.where(described_fields(connection))
    every = connection.execute(question.order_by(_NAME.c.since))
    rows = [row for row in every if sees is None or sees(row.namespace)]
    if at is not None:
        return rows
    return list({(row.namespace, row.name, getattr(row, "field", "")): row for row in rows}.values())


def _columns(connection: Connection, name: TypedName, at: int | None, sees: Sees) -> Ranks:
    if at is not None:
        return _columns_then(connection, name, at, sees) or _columns_anywhere(connection, name.text, sees)
    ranks: Ranks = {}
    splits = {key_of(field.casefold()): (ending, field) for ending, field in name.splits()}
    known = select(_FIELD.c.folded_key).distinct()
    for row in rows_for(connection, splits, lambda some: known.where(_FIELD.c.folded_key.in_(some))):
        _note_columns(connection, ranks, *splits[row.folded_key], sees)
    return ranks or _columns_anywhere(connection, name.text, sees)


def _columns_then(connection: Connection, name: TypedName, at: int, sees: Sees) -> Ranks:
    """Columns by what they, and their datasets, were called at a moment."""
    ranks: Ranks = {}
    called = names.NamesAtMoment(connection, at)
    for ending, field in name.splits():
        same = or_(_FIELD.c.folded_key == key_of(field.casefold()), _FIELD.c.dataset_id.in_(list(called.renames)))
        for row in _latest(connection, _NAMED_FIELDS.where(same, _ends_in(ending)), at, sees):
            then = called(row.dataset_id, row.field)
            if then.casefold() == field.casefold() and called.had(row.dataset_id, row.field):
                _note(ranks, row.id, _column_fit(row, then, ending, field), row)
    return ranks


def _note_columns(connection: Connection, ranks: Ranks, ending: str, field: str, sees: Sees) -> None:
    question = _NAMED_FIELDS.where(_FIELD.c.folded_key == key_of(field.casefold()), _ends_in(ending))
    for row in _latest(connection, question, None, sees):
        _note(ranks, row.id, _column_fit(row, row.field, ending, field), row)


def _column_fit(row: Row[Any], called: str, ending: str, field: str) -> int | None:
    rank = fit(Dataset(row.namespace, row.name), ending)
    if rank is None or called == field:
        return rank
    return max(rank, FOLDED_ENDING if rank == ENDING else FOLDED_WHOLE)


def _columns_anywhere(connection: Connection, field: str, sees: Sees) -> Ranks:
    same = _FIELD.c.folded_key == key_of(field.casefold())
    if sees is not None:
        found = _latest(connection, _NAMED_FIELDS.where(same), None, sees)[:_MOST]
    else:
        every = select(_FIELD.c.id, _FIELD.c.name.label("field")).where(same)
        found = list(connection.execute(every.limit(_MOST)))
    return {row.id: 2 * (ENDING if row.field == field else FOLDED_ENDING) for row in found}


def _note(ranks: Ranks, key: int, rank: int | None, row: Row[Any]) -> None:
    """A name that a dataset has goes before one that it had."""
    if rank is not None:
        found = 2 * rank + (row.until != FOREVER)
        ranks[key] = min(found, ranks.get(key, found))


def _ends_in(ending: str) -> ColumnElement[bool]:
    end = tail(ending)
    length = func.length(_NAME.c.folded)
    return and_(length >= len(end), func.substr(_NAME.c.folded, length - len(end) + 1) == end)


def _refuse(connection: Connection, name: str, kind: str, candidates: Mapping[int, Column | KnownDataset]) -> NoReturn:
    if candidates:
        shown = sorted(map(str, candidates.values()))
        more = f", and {len(shown) - _SHOWN} more" if len(shown) > _SHOWN else ""
        raise AmbiguousName(
            f"{len(shown)} names end in {_short(name)!r}: {', '.join(map(_short, shown[:_SHOWN]))}{more}. "
            "Type more of the one you mean."
        )
    if kind == "column" and _datasets(connection, typed(name).text):
        raise UnknownName(f"{_short(name)!r} is a dataset: expected one of its columns, as in {_short(name)}.COLUMN.")
    _refuse_unlike(connection, typed(name))
    near = near_names(connection, typed(name))
    known = f"Near: {', '.join(map(_short, near))}." if near else "`headwater datasets` lists what the store knows."
    raise UnknownName(f"No {kind} of the store ends in {_short(name)!r}. {known}")


def _refuse_unlike(connection: Connection, name: TypedName) -> None:
    """Where the name begins as that of one dataset, and no column of it is like the rest, say which it has."""
    for ending, field in islice(name.splits(), _MOST_SPLITS):
        owners = _best(_datasets(connection, ending, None, sight_of(connection)))
        if len(owners) != 1:
            continue
        columns = [one.name for one in names.current_columns(connection, names.datasets(connection, owners)[owners[0]])]
        if not columns or like(field, columns):
            return
        more = f" and {len(columns) - _SHOWN} more" if len(columns) > _SHOWN else ""
        listed = ", ".join(map(_short, columns[:_SHOWN]))
        raise UnknownName(f"Dataset {_short(ending)!r} has no column {_short(field)!r}. It has {listed}{more}.")


def _short(name: str) -> str:
    return name if len(name) <= _SHOWN_TEXT else f"{name[:_SHOWN_TEXT]}…"
