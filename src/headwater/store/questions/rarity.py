"""The first columns that meet a condition: from few candidates where names tell them, else in the order of ids."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import ColumnElement, Connection, Select, select

from headwater.store import schema
from headwater.store.questions.endings import tail

_FIELD = schema.field
_NAME = schema.dataset_name
_CALLED = schema.field_name
_FEW_NAMES = 2_000
_FEW_FIELDS = 5_000
_FEW_DATASETS = 100
_NEAR = 10_000  # ids among which a frequent name fills a page

Condition = ColumnElement[bool]


@dataclass(frozen=True, slots=True)
class Sought:
    """What all wanted columns have: a name that meets a condition, one of some datasets."""

    named: Callable[[ColumnElement[str]], Condition] | None = None
    datasets: Sequence[int] | Select[Any] | None = None


@dataclass(frozen=True, slots=True)
class Wanted:
    """Which columns: that meet a condition, with greater ids than ``beyond``, so many of them."""

    condition: Condition
    beyond: int
    most: int


def first_fields(connection: Connection, sought: Sought, wanted: Wanted) -> Sequence[int]:
    """The least ids of the fields that are wanted; what is sought tells where they can be, the condition decides."""
    if sought.named is None and sought.datasets is None:
        return connection.execute(_in_order(wanted)).scalars().all()
    ways = (_among_few, _among_near) if sought.datasets is not None else (_among_near, _among_few)
    for way in ways:
        found = way(connection, sought, wanted)
        if found is not None:
            return found
    return connection.execute(_in_order(wanted)).scalars().all()


def _among_near(connection: Connection, _: Sought, wanted: Wanted) -> Sequence[int] | None:
    """What is frequent is found among the next ids; None when they are too few."""
    near = _in_order(wanted).where(_FIELD.c.id <= wanted.beyond + _NEAR)
    found = connection.execute(near).scalars().all()
    return found if len(found) == wanted.most else None


def _among_few(connection: Connection, sought: Sought, wanted: Wanted) -> Sequence[int] | None:
    """What is rare is found by its names; None when there are too many."""
    rare = _rare(connection, sought)
    if rare is None:
        return None
    column, values = rare
    if not values:
        return []
    # With a sum the database does not walk all ids in their order to find these few.
    question = select(_FIELD.c.id).where(_FIELD.c.id + 0 > wanted.beyond, column.in_(values), wanted.condition)
    found = connection.execute(question.limit(_FEW_FIELDS + 1)).scalars().all()
    return sorted(found)[: wanted.most] if len(found) <= _FEW_FIELDS else None


def _in_order(wanted: Wanted) -> Select[Any]:
    question = select(_FIELD.c.id).where(_FIELD.c.id > wanted.beyond, wanted.condition)
    return question.order_by(_FIELD.c.id).limit(wanted.most)


def datasets_named(connection: Connection, text: str, asked_for: Condition) -> Sequence[int] | Select[Any]:
    """The ids of the datasets of whose names that may be asked for one contains a text; the question for many."""
    named = select(_NAME.c.dataset_id).where(_NAME.c.folded.contains(tail(text), autoescape=True), asked_for)
    found = connection.execute(named.limit(_FEW_NAMES + 1)).scalars().all()
    return found if len(found) <= _FEW_NAMES else named


def few(datasets: Sequence[int] | Select[Any] | None) -> Sequence[int] | None:
    """Datasets when they are so few that to look at all their fields takes less than to look for names."""
    return None if datasets is None or isinstance(datasets, Select) or len(datasets) > _FEW_DATASETS else datasets


def _rare(connection: Connection, sought: Sought) -> tuple[ColumnElement[Any], Sequence[Any]] | None:
    """What all sought fields have one of, and few others; None where there is too much of it."""
    if sought.datasets is not None and not isinstance(sought.datasets, Select):
        return _FIELD.c.dataset_id, sought.datasets
    if sought.named is None:
        return None
    called = select(_CALLED.c.folded_key).where(sought.named(_CALLED.c.name)).limit(_FEW_NAMES + 1)
    keys = connection.execute(called).scalars().all()
    return (_FIELD.c.folded_key, keys) if len(keys) <= _FEW_NAMES else None
