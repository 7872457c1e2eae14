"""The columns of every dataset whose schema an event had, under each name that the dataset has now."""

from collections.abc import Mapping
from dataclasses import dataclass

from sqlalchemy import Connection, select

from headwater.model import Dataset
from headwater.model.time import FOREVER
from headwater.store import schema
from headwater.store.read_model import fields

_NAME = schema.dataset_name


@dataclass(frozen=True, slots=True)
class NamedSchema:
    """The types of a dataset's columns by their names, and the dataset's names: its own, and those of symlinks."""

    names: tuple[Dataset, ...]
    columns: Mapping[str, str]


def schemas(connection: Connection) -> list[NamedSchema]:
    """The schemas of all datasets; columns without a type are left out, and so are datasets without columns."""
    names: dict[int, list[Dataset]] = {}
    for row in connection.execute(select(_NAME).where(_NAME.c.until == FOREVER).order_by(_NAME.c.id)):
        names.setdefault(row.dataset_id, []).append(Dataset(row.namespace, row.name))
    columns: dict[int, dict[str, str]] = {}
    for row in fields.lasting(connection, list(names)):
        if row.type:
            columns.setdefault(row.dataset_id, {})[row.name] = row.type
    return [NamedSchema(tuple(names[one]), found) for one, found in columns.items()]
