"""Steps between columns of files that were written in one format and are read in another.

Read as text, files have one column, ``value``, and as binary files ``content``, whatever was written into them: where
their writers name no such column, it may hold all of theirs. Lines of text may be CSV or JSON: a column that the
writers of ``value`` do not name may be any part of it. Nothing of it is stored, so that the order of events does not
matter.
"""

from collections.abc import Callable, Collection, Iterator
from typing import Any, NamedTuple

from sqlalchemy import Connection, select

from headwater.model import Dataset, Subtype, Transformation
from headwater.model.field_names import caseless
from headwater.model.name_keys import key_of
from headwater.openlineage.naming.locations import holds_paths
from headwater.store import schema
from headwater.store.ingest.field_spelling import CURRENT
from headwater.store.sql.lookup import Lookup
from headwater.store.sql.rows import rows_for

TEXT, BYTES = "value", "content"
"""The columns of files that are read as text, and as binary files."""

STRINGS = ("", "string")
"""Types that the column of a text may have; its type need not be known."""

OTHER_FORMAT = Transformation(
    Subtype.TRANSFORMATION, opaque=True, description="the files were written in another format than they are read in"
)
OTHER_FORMAT_ID = -2
"""Its id among those of transformations; those of the store begin at 1."""

_FIELD = schema.field
_DATASET = schema.dataset
_NAME = schema.field_name.c
_CONTENT = _FIELD.alias("content")
_KEYS = [key_of(one) for one in (TEXT, BYTES)]
_ANY = select(_NAME.key).where(_NAME.key.in_(_KEYS)).limit(1)
_OF_FILES = select(_CONTENT.c.dataset_id).distinct().join(_FIELD, _FIELD.c.dataset_id == _CONTENT.c.dataset_id)
_OF_FILES = _OF_FILES.where(_CONTENT.c.key.in_(_KEYS))
_DATASETS_WITH_CONTENT = Lookup(_OF_FILES, _FIELD.c.id)
_FILES = (_DATASET.c.namespace, _DATASET.c.name.label("dataset"))
_COLUMNS = select(_FIELD.c.id, _FIELD.c.dataset_id, _FIELD.c.name, _FIELD.c.type, _FIELD.c.spelled_by, *_FILES)
_COLUMNS = _COLUMNS.join(_DATASET, _DATASET.c.id == _FIELD.c.dataset_id)

Written = Callable[[Collection[int]], Collection[int]]
"""The fields, of some, that edges of the moment lead to."""


class FormatStep(NamedTuple):
    """A column that was written into files, and the column that may hold it when they are read in another format."""

    input: int
    output: int


def has_file_contents(connection: Connection) -> bool:
    """Whether any column has the name of one that holds the contents of files: one look-up of two keys."""
    return connection.execute(_ANY).first() is not None


def format_steps(connection: Connection, fields: Collection[int], written: Written) -> list[FormatStep]:
    """The steps inside the datasets of some fields."""
    datasets = [dataset for (dataset,) in _DATASETS_WITH_CONTENT.bare(connection, fields)] if fields else []
    rows = rows_for(connection, datasets, lambda some: _COLUMNS.where(_FIELD.c.dataset_id.in_(some)))
    of_files = [row for row in rows if holds_paths(Dataset(row.namespace, row.dataset))]
    made = set(written([row.id for row in of_files])) if of_files else set()
    by_dataset: dict[int, list[Any]] = {}
    for row in of_files:
        by_dataset.setdefault(row.dataset_id, []).append(row)
    return [step for columns in by_dataset.values() for step in _inside(columns, made)]


def _inside(columns: Collection[Any], made: Collection[int]) -> Iterator[FormatStep]:
    """The steps inside one dataset: its writers name a column in their latest schema, or by an edge that holds."""
    named = [column for column in columns if column.spelled_by == CURRENT or column.id in made]
    for other in (column for column in columns if column not in named):
        for one in named:
            of_text = caseless(one.name) == TEXT and one.type in STRINGS
            if of_text or caseless(other.name) in (TEXT, BYTES):
                yield FormatStep(one.id, other.id)
