"""Steps between columns of one dataset that no event contains, and that are not stored.

From each column to the field that stands for all of them (`explicit_lineage`), and between columns of files that were
written in one format and are read in another. Made at each walk, they do not depend on the order of events: a column
that becomes known later is among them.

Read as text, files have one column, ``value``, and as binary files ``content``, whatever was written into them: where
their writers name no such column, it may hold all of theirs. Lines of text may be CSV or JSON: a column that the
writers of ``value`` do not name may be any part of it.
"""

from collections.abc import Callable, Collection, Iterator
from typing import Any, NamedTuple

from sqlalchemy import ColumnElement, Connection, Select, case, func, or_, select

from headwater.model import Dataset, Subtype, Transformation
from headwater.model.names import caseless
from headwater.openlineage.naming.locations import FILE_SYSTEMS, holds_paths
from headwater.store import schema
from headwater.store.ingest.field_spelling import CURRENT
from headwater.store.questions.answers import Bounds, Direction, EdgeType
from headwater.store.read_model.presence import BYTES, CONTENT_KEYS, TEXT, WHOLE_KEY, presence
from headwater.store.sql.databases import Lookup, rows_for

ANY_COLUMN = Transformation(Subtype.TRANSFORMATION, opaque=True, description="one of the columns of the dataset")
ANY_COLUMN_ID = -1
"""Its id among those of transformations; those of the store begin at 1."""

_FIELD = schema.field
_STAR = schema.field.alias("star")

Valid = list[tuple[Any, list[ColumnElement[bool]]]]
"""Tables of edges, each with what is so of an edge that holds."""


def follows_opaque_values(bounds: Bounds) -> bool:
    """Whether a walk within bounds follows an opaque TRANSFORMATION that is not known to mask."""
    if bounds.masking or bounds.edge_type is EdgeType.INDIRECT:
        return False
    return not bounds.subtypes or Subtype.TRANSFORMATION in bounds.subtypes


def has_whole_sources(connection: Connection, bounds: Bounds) -> bool:
    """Whether there are such steps that a walk within bounds may follow."""
    return follows_opaque_values(bounds) and presence(connection).whole_sources


def whole_source_steps(
    connection: Connection, direction: Direction, fields: Collection[int], valid: Valid, jobs: Collection[int]
) -> list[tuple[int, ...]]:
    """The steps into some of the fields or out of them, as rows of (input, output, transformation, job).

    The job is each that reads the dataset as a whole; one of ``jobs`` where some are given.
    """
    near = _STAR.c.id if direction is Direction.UP else _FIELD.c.id
    question = select(_FIELD.c.id, _STAR.c.id.label("star")).join(_STAR, _STAR.c.dataset_id == _FIELD.c.dataset_id)
    question = question.where(_STAR.c.folded_key == WHOLE_KEY, _FIELD.c.id != _STAR.c.id)
    rows = list(rows_for(connection, fields, lambda some: question.where(near.in_(some))))
    readers: dict[int, set[int]] = {}
    for table, then in valid:
        for star, job in rows_for(
            connection,
            {row.star for row in rows},
            lambda some, table=table, then=then: _reading(table, then, some),  # type: ignore[misc]
        ):
            readers.setdefault(star, set()).add(job)
    return [
        (row.id, row.star, ANY_COLUMN_ID, job)
        for row in sorted(rows)
        for job in sorted(readers.get(row.star, ()))
        if not jobs or job in jobs
    ]


def _reading(table: Any, then: list[ColumnElement[bool]], stars: Any) -> Select[Any]:
    return select(table.c.input_field, table.c.job_id).where(table.c.input_field.in_(stars), *then).distinct()


STRINGS = ("", "string")
"""Types that the column of a text may have; its type need not be known."""

OTHER_FORMAT = Transformation(
    Subtype.TRANSFORMATION, opaque=True, description="the files were written in another format than they are read in"
)
OTHER_FORMAT_ID = -2
"""Its id among those of transformations; those of the store begin at 1."""

_DATASET = schema.dataset
_CONTENT = _FIELD.alias("content")
_MOST_CANDIDATES = 1_000  # columns; to look at each takes about a microsecond
_OF_FILES = select(_CONTENT.c.dataset_id).distinct().join(_FIELD, _FIELD.c.dataset_id == _CONTENT.c.dataset_id)
_OF_FILES = _OF_FILES.where(_CONTENT.c.key.in_(CONTENT_KEYS))
_CANDIDATE = select(_FIELD.c.dataset_id).where(_FIELD.c.folded_key.in_(CONTENT_KEYS)).limit(_MOST_CANDIDATES).subquery()
_HOLDS_PATHS = or_(  # as `holds_paths`
    _DATASET.c.namespace.in_(FILE_SYSTEMS),
    *(_DATASET.c.namespace.startswith(f"{scheme}://") for scheme in sorted(FILE_SYSTEMS)),
    _DATASET.c.name.startswith("/"),
)
_CANDIDATES = select(func.count(), func.max(case((_HOLDS_PATHS, 1), else_=0)))
_CANDIDATES = _CANDIDATES.join_from(_CANDIDATE, _DATASET, _DATASET.c.id == _CANDIDATE.c.dataset_id)
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
    """Whether files may have a column that holds their contents; columns of tables that are called so are none.

    Where too many columns are called so it answers True without looking at all.
    """
    present = presence(connection)
    if not present.contents:
        return False
    # The index is of present names, the key is that of the first one: columns with others cannot be found by it.
    if present.field_renames:
        return True
    count, of_files = connection.execute(_CANDIDATES).one()
    return bool(of_files) or count == _MOST_CANDIDATES


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
