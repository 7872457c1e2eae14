"""Finding a dataset or a column by its exact name: a few look-ups, however large the store."""

from dataclasses import dataclass

from sqlalchemy import Connection, LargeBinary, bindparam, or_, select

from headwater.errors import UnknownName
from headwater.model import Dataset
from headwater.model.field_names import place_of
from headwater.model.name_keys import key_of
from headwater.store import schema
from headwater.store.catalog.sight import described_datasets, sight_of
from headwater.store.questions import names
from headwater.store.questions.answers import Column, KnownDataset
from headwater.store.questions.near import like

_NAME = schema.dataset_name
_KEY = bindparam("the_key", type_=LargeBinary())
_MEANINGS = select(_NAME.c.dataset_id, _NAME.c.since, _NAME.c.until)
_MEANINGS = _MEANINGS.where(or_(_NAME.c.key == _KEY, _NAME.c.first_key == _KEY)).order_by(_NAME.c.since)


@dataclass(frozen=True, slots=True)
class Exact:
    """The whole name of a dataset, or of a column of it."""

    namespace: str
    dataset: str
    field: str = ""


Name = str | Exact
"""What to look for: an ending of a name as people type it, or a whole name."""


def find_exact(connection: Connection, name: Exact, at: int | None = None) -> Column | KnownDataset:
    """The dataset or column of that whole name, now or at a moment; a symlink is a name too.

    A column may be spelled in another case, where only one column of the dataset has the name.

    Raises:
        UnknownName: there is none.
    """
    dataset = _dataset(connection, name, at)
    if not name.field:
        return dataset
    columns = names.columns_of(connection, dataset, at)
    place = place_of([column.name for column in columns], name.field)
    if place is not None:
        return columns[place]
    raise UnknownName(f"Dataset {_shown(name)} has no column {name.field[:200]!r}.{_near(columns, name.field)}")


def _dataset(connection: Connection, name: Exact, at: int | None) -> KnownDataset:
    meanings = _MEANINGS
    if sight_of(connection) is not None:
        meanings = meanings.where(described_datasets(connection, _NAME.c.dataset_id))
    rows = connection.execute(meanings, {"the_key": key_of(name.namespace, name.dataset)}).all()
    then = [row.dataset_id for row in rows if at is None or row.since <= at < row.until]
    if not then:
        raise UnknownName(f"No dataset of the store is named {_shown(name)}. Search for it, or name another.")
    return names.datasets(connection, [then[-1]], at)[then[-1]]


def _near(columns: list[Column], field: str) -> str:
    near = like(field, [column.name for column in columns])
    return f" Near: {', '.join(near)}." if near else " Search for it, or name another."


def _shown(name: Exact) -> str:
    return repr(str(Dataset(name.namespace[:200], name.dataset[:200])))
