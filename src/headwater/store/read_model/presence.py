"""The rarer kinds of rows that a store has: one statement finds all of them, and spares those that would find nothing.

A statement takes a tenth of a millisecond even where it finds no row, and a walk has a dozen such questions.
"""

from collections.abc import Callable
from typing import Any, NamedTuple, TypeVar

from sqlalchemy import Connection, Select, exists, or_, select, text

from headwater.model.names import key_of, keys_of
from headwater.openlineage.reading.lineage_facets import WHOLE
from headwater.store import schema

T = TypeVar("T")
OPTION = "headwater_state"
"""The execution option of a connection that reads one state of the store: a dictionary for what was found of it."""

WHOLE_KEY = keys_of(WHOLE)[1]
"""The folded key of fields that stand for all columns of a dataset."""

TEXT, BYTES = "value", "content"
"""The columns of files that are read as text, and as binary files."""

CONTENT_KEYS = (key_of(TEXT), key_of(BYTES))


class Presence(NamedTuple):
    """The kinds of rows of which a store has at least one, whoever may see it."""

    whole_sources: bool
    contents: bool
    """Names of fields that hold the contents of files, or of others that are called so."""
    field_renames: bool
    dataset_edges: bool
    replacements: bool
    possible_replacements: bool
    """Replacements that are not certain."""
    hidden_datasets: bool
    reused_names: bool
    dataset_changes: bool
    parents: bool
    """Runs that another run started."""
    nested_lineage: bool
    """Lineage of fields within columns."""


_FIELD, _DATASET, _RUN = schema.field.c, schema.dataset.c, schema.run.c
_REPLACEMENT, _NAME = schema.replacement.c, schema.field_name.c
_ROWS: dict[str, Select[Any]] = {
    "whole_sources": select(_FIELD.id).where(_FIELD.folded_key == WHOLE_KEY),
    "contents": select(_NAME.key).where(or_(*(_NAME.key == key for key in CONTENT_KEYS))),
    "field_renames": select(schema.field_rename.c.at),
    "dataset_edges": select(schema.dataset_edge.c.job_id),
    "replacements": select(_REPLACEMENT.run_id),
    # In the words of the index, which SQLite uses for no others.
    "possible_replacements": select(_REPLACEMENT.run_id).where(text("NOT certain")),
    "hidden_datasets": select(_DATASET.id).where(_DATASET.hidden_at.is_not(None)),
    "reused_names": select(schema.dataset_name.c.id).where(schema.dataset_name.c.first_key.is_not(None)),
    "dataset_changes": select(schema.dataset_change.c.run_id),
    "parents": select(_RUN.id).where(_RUN.parent_id > 0),
    "nested_lineage": select(schema.facet.c.dataset_id).where(schema.HAS_NESTED_LINEAGE),
}
_PRESENCE = select(*(exists(rows).label(kind) for kind, rows in _ROWS.items()))


def once(connection: Connection, question: Callable[[Connection], T]) -> T:
    """Return the answer to a question: asked once of a connection that reads, each time of one that writes."""
    answers: dict[Callable[[Connection], T], T] = connection.get_execution_options().get(OPTION, {})
    if question not in answers:
        answers[question] = question(connection)
    return answers[question]


def presence(connection: Connection) -> Presence:
    """Return which kinds of rows there are."""
    return once(connection, _presence_now)


def _presence_now(connection: Connection) -> Presence:
    return Presence(**connection.execute(_PRESENCE).one()._mapping)
