"""Columns whose names, or whose datasets' names, contain a text, in pages; and datasets with their columns."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Any

from sqlalchemy import ColumnElement, Connection, Select, and_, func, not_, or_, select, tuple_

from headwater.model.names import key_of
from headwater.store import schema
from headwater.store.questions import names
from headwater.store.questions.answers import Column, FoundPage, KnownDataset, Sees
from headwater.store.questions.lists.versions import columns_then
from headwater.store.questions.lookup.find import nested_fields_named
from headwater.store.questions.lookup.typed_names import tail
from headwater.store.read_model.fields import ended_fields, replaced_datasets
from headwater.store.read_model.pages import seen
from headwater.store.read_model.visibility import described_datasets, described_fields
from headwater.store.sql.databases import rows_for
from headwater.store.store import Store

_FIELD = schema.field
_NAME = schema.dataset_name
_CALLED = schema.field_name
_FEW_NAMES = 2_000
_FEW_FIELDS = 5_000
_FEW_DATASETS = 100
_NEAR = 10_000  # ids among which a frequent name fills a page

Condition = ColumnElement[bool]


@dataclass(frozen=True, slots=True)
class ColumnFilter:
    """A filter of columns: a condition on their names, and the datasets that they are of."""

    named: Callable[[ColumnElement[str]], Condition] | None = None
    datasets: Sequence[int] | Select[Any] | None = None


@dataclass(frozen=True, slots=True)
class FieldPage:
    """Which columns: that meet a condition, with greater ids than ``beyond``, so many of them."""

    condition: Condition
    beyond: int
    most: int


def first_fields(connection: Connection, columns: ColumnFilter, page: FieldPage) -> Sequence[int]:
    """The least ids of the fields of a page: ``columns`` narrows where they can be, the page's condition decides."""
    if columns.named is None and columns.datasets is None:
        return connection.execute(_in_order(page)).scalars().all()
    searches = (_among_few, _among_near) if columns.datasets is not None else (_among_near, _among_few)
    for one_search in searches:
        found = one_search(connection, columns, page)
        if found is not None:
            return found
    return connection.execute(_in_order(page)).scalars().all()


def _among_near(connection: Connection, _: ColumnFilter, page: FieldPage) -> Sequence[int] | None:
    """The columns among the next ids, for a filter that many meet; None when too few of these do."""
    near = _in_order(page).where(_FIELD.c.id <= page.beyond + _NEAR)
    found = connection.execute(near).scalars().all()
    return found if len(found) == page.most else None


def _among_few(connection: Connection, columns: ColumnFilter, page: FieldPage) -> Sequence[int] | None:
    """The columns by their names, for a filter that few meet; None when the names are too many."""
    rare = _rare(connection, columns)
    if rare is None:
        return None
    column, values = rare
    if not values:
        return []
    # With a sum the database does not walk all ids in their order to find these few.
    question = select(_FIELD.c.id).where(_FIELD.c.id + 0 > page.beyond, column.in_(values), page.condition)
    found = connection.execute(question.limit(_FEW_FIELDS + 1)).scalars().all()
    return sorted(found)[: page.most] if len(found) <= _FEW_FIELDS else None


def _in_order(page: FieldPage) -> Select[Any]:
    question = select(_FIELD.c.id).where(_FIELD.c.id > page.beyond, page.condition)
    return question.order_by(_FIELD.c.id).limit(page.most)


def datasets_named(connection: Connection, text: str, visible: Condition) -> Sequence[int] | Select[Any]:
    """The ids of the datasets of whose names that may be asked for one contains a text; the question for many."""
    named = select(_NAME.c.dataset_id).where(_NAME.c.folded.contains(tail(text), autoescape=True), visible)
    found = connection.execute(named.limit(_FEW_NAMES + 1)).scalars().all()
    return found if len(found) <= _FEW_NAMES else named


def few(datasets: Sequence[int] | Select[Any] | None) -> Sequence[int] | None:
    """Datasets when they are so few that to look at all their fields takes less than to look for names."""
    return None if datasets is None or isinstance(datasets, Select) or len(datasets) > _FEW_DATASETS else datasets


def _rare(connection: Connection, columns: ColumnFilter) -> tuple[ColumnElement[Any], Sequence[Any]] | None:
    """A column of `field` and few values, of which each field of the filter has one; None where they are too many."""
    if columns.datasets is not None and not isinstance(columns.datasets, Select):
        return _FIELD.c.dataset_id, columns.datasets
    if columns.named is None:
        return None
    called = select(_CALLED.c.folded_key).where(columns.named(_CALLED.c.name)).limit(_FEW_NAMES + 1)
    keys = connection.execute(called).scalars().all()
    return (_FIELD.c.folded_key, keys) if len(keys) <= _FEW_NAMES else None


_DATASET = schema.dataset


class Match(str, Enum):
    """How a column was found; the order is that of the ranks."""

    EXACT = "exact"  # its name is the text, whatever the case
    START = "start"  # its name begins with it
    PART = "part"  # its name contains it
    DATASET = "dataset"  # the name of its dataset contains it


@dataclass(frozen=True, slots=True)
class FoundColumn:
    """A column and how it was found."""

    column: Column
    match: Match


@dataclass(frozen=True, slots=True)
class DatasetPage:
    """Datasets with their columns, by name; ``next`` is where to go on, None at the end."""

    datasets: tuple[tuple[KnownDataset, tuple[Column, ...]], ...]
    next: tuple[str, str] | None


def find_columns(
    store: Store, text: str, most: int, *, after: tuple[int, int] = (0, 0), sees: Sees = None
) -> FoundPage[FoundColumn]:
    """Columns that contain a text; ``dataset.field`` asks for a part of each, ``column.field`` for one within a column.

    Each rank is asked for by itself, in the order of ids and no further than the page needs: an exact name takes one
    look-up in an index, and a frequent part ends early. What is rare is found by its names, of which there are few.
    """
    found: list[tuple[Match, int]] = []
    first, last = after
    with store.read() as connection:
        nested = nested_fields_named(connection, text, sees)[: most - 1] if after == (0, 0) else []
        most -= len(nested)
        shown = [*_shown(connection, _FIELD.c.dataset_id, sees), described_fields(connection)]
        for rank, (match, column_filter, condition) in enumerate(
            _ranks(connection, text, seen(connection, _NAME.c.namespace, sees))
        ):
            if rank < first:
                continue
            field_page = FieldPage(and_(condition, *shown), last if rank == first else 0, most + 1 - len(found))
            found += [(match, id_) for id_ in first_fields(connection, column_filter, field_page)]
            if len(found) > most:
                break
        page = found[:most]
        columns = names.columns(connection, [id_ for _, id_ in page])
    place = (list(Match).index(page[-1][0]), page[-1][1]) if len(found) > most else None
    exact = [FoundColumn(one, Match.EXACT) for one in nested]
    return FoundPage((*exact, *(FoundColumn(columns[id_], match) for match, id_ in page)), place)


@dataclass(frozen=True, slots=True)
class DatasetQuery:
    """Datasets whose names contain a text, after one of a namespace and a name; now, or at a moment."""

    text: str = ""
    after: tuple[str, str] | None = None
    sees: Sees = None
    at: int | None = None


def dataset_page(store: Store, most: int, query: DatasetQuery) -> DatasetPage:
    """Datasets by name, with their columns in the order of their schemas.

    At a moment these are the columns of the schemas of then, as far as they are known, and datasets that no event
    had spoken of yet are left out. Names are searched and ordered as they are now.
    """
    text, after, sees, at = query.text, query.after, query.sees, query.at
    place = tuple_(_DATASET.c.namespace, _DATASET.c.name)
    question = select(_DATASET.c.id, _DATASET.c.namespace, _DATASET.c.name)
    question = question.order_by(_DATASET.c.namespace, _DATASET.c.name, _DATASET.c.id)
    if after is not None:
        question = question.where(place > tuple_(*after))
    with store.read() as connection:
        if text:
            question = question.where(
                _DATASET.c.id.in_(datasets_named(connection, text, seen(connection, _NAME.c.namespace, sees)))
            )
        question = question.where(*_shown(connection, _DATASET.c.id, sees))
        if at is not None:
            question = question.where(or_(_DATASET.c.first_at.is_(None), _DATASET.c.first_at <= at))
        rows = connection.execute(question.limit(most + 1)).all()
        known = names.datasets(connection, [row.id for row in rows[:most]], at)
        columns: Mapping[int, Sequence[Column]] = _columns(connection, known.values())
        if at is not None:
            columns = {**columns, **columns_then(connection, known, at)}
    listed = tuple((known[row.id], tuple(columns.get(row.id, ()))) for row in rows[:most])
    return DatasetPage(listed, (rows[most - 1].namespace, rows[most - 1].name) if len(rows) > most else None)


def _columns(connection: Connection, datasets: Iterable[KnownDataset]) -> dict[int, list[Column]]:
    owners = {one.id: one for one in datasets}
    question = select(_FIELD).where(described_fields(connection))
    rows = list(rows_for(connection, owners, lambda some: question.where(_FIELD.c.dataset_id.in_(some))))
    ended = ended_fields(connection, rows)
    found: dict[int, list[Column]] = {}
    for row in sorted(rows, key=lambda row: (row.ordinal is None, row.ordinal or 0, row.name)):
        if row.id in ended:
            continue
        found.setdefault(row.dataset_id, []).append(Column(owners[row.dataset_id], row.name, row.type, row.id))
    return found


def _ranks(connection: Connection, text: str, visible: Condition) -> Iterator[tuple[Match, ColumnFilter, Condition]]:
    """The filter of each rank, and its condition; no column meets those of two."""
    cut = max(text.rfind("."), text.rfind("/"))
    dataset, field = (text[:cut], text[cut + 1 :]) if 0 < cut < len(text) - 1 else ("", text)

    def starts(name: ColumnElement[str]) -> Condition:
        return func.lower(name).startswith(field.lower(), autoescape=True)

    def contains(name: ColumnElement[str]) -> Condition:
        return func.lower(name).contains(field.lower(), autoescape=True)

    same = _FIELD.c.folded_key == key_of(field.casefold())
    start, part = starts(_FIELD.c.name), contains(_FIELD.c.name)
    owners = datasets_named(connection, dataset, visible) if dataset else None
    owned = [_FIELD.c.dataset_id.in_(owners)] if owners is not None else []
    yield Match.EXACT, ColumnFilter(None, few(owners)), and_(same, *owned)
    yield Match.START, ColumnFilter(starts, few(owners)), and_(start, not_(same), *owned)
    yield Match.PART, ColumnFilter(contains, few(owners)), and_(part, not_(start), not_(same), *owned)
    whole = datasets_named(connection, text, visible)
    yield (
        Match.DATASET,
        ColumnFilter(None, whole),
        and_(_FIELD.c.dataset_id.in_(whole), not_(and_(or_(part, same), *owned))),
    )


def _shown(connection: Connection, dataset: ColumnElement[int], sees: Sees) -> list[Condition]:
    """The condition of datasets that the caller may see and that have not lost their names to others."""
    conditions: list[Condition] = [described_datasets(connection, dataset)]
    gone = replaced_datasets(connection)
    if gone:
        conditions.append(dataset.not_in(gone))
    if sees is not None:
        conditions.append(dataset.in_(select(_DATASET.c.id).where(seen(connection, _DATASET.c.namespace, sees))))
    return conditions
