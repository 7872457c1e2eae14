"""Finding a dataset or a column by its exact name: two look-ups, however large the store."""

from dataclasses import dataclass

from sqlalchemy import Connection, LargeBinary, bindparam, or_, select

from headwater.errors import UnknownName
from headwater.model import Dataset
from headwater.store import schema
from headwater.store.keys import key_of
from headwater.store.questions import names
from headwater.store.questions.answers import Column, KnownDataset

_NAME = schema.dataset_name
_FIELD = schema.field
_KEY = bindparam("the_key", type_=LargeBinary())
_MEANINGS = select(_NAME.c.dataset_id, _NAME.c.since, _NAME.c.until)
_MEANINGS = _MEANINGS.where(or_(_NAME.c.key == _KEY, _NAME.c.first_key == _KEY)).order_by(_NAME.c.since)
# By its name and not its key: a planner may take the index of folded keys, and read every `id` of the store.
_COLUMN = select(_FIELD.c.id, _FIELD.c.name, _FIELD.c.type)
_COLUMN = _COLUMN.where(_FIELD.c.dataset_id == bindparam("dataset"), _FIELD.c.name == bindparam("called"))


@dataclass(frozen=True, slots=True)
class Exact:
    """The whole name of a dataset, or of a column of it."""

    namespace: str
    dataset: str
    field: str = ""


Name = str | Exact
"""What to look for: an ending of a name as people type it, or a whole name."""


def find_exact(connection: Connection, name: Exact, at: int | None = None) -> Column | KnownDataset:
    """The dataset or column of exactly that name, now or at a moment; a symlink is a name too.

    Raises:
        UnknownName: there is none.
    """
    dataset = _dataset(connection, name, at)
    if not name.field:
        return dataset
    for column in _columns(connection, dataset, name.field, at):
        if column.name == name.field:
            return column
    raise UnknownName(
        f"Dataset {_shown(name)} has no column {name.field[:200]!r}. Cases differ; symlinks do not matter."
    )


def _dataset(connection: Connection, name: Exact, at: int | None) -> KnownDataset:
    rows = connection.execute(_MEANINGS, {"the_key": key_of(name.namespace, name.dataset)}).all()
    then = [row.dataset_id for row in rows if at is None or row.since <= at < row.until]
    if not then:
        raise UnknownName(f"No dataset of the store is named {_shown(name)}. Search for it, or name another.")
    return names.datasets(connection, [then[-1]], at)[then[-1]]


def _columns(connection: Connection, dataset: KnownDataset, field: str, at: int | None) -> list[Column]:
    if at is not None:
        return names.columns_of(connection, dataset, at)
    rows = connection.execute(_COLUMN, {"dataset": dataset.id, "called": field})
    return [Column(dataset, row.name, row.type, row.id) for row in rows]


def _shown(name: Exact) -> str:
    return repr(str(Dataset(name.namespace[:200], name.dataset[:200])))
