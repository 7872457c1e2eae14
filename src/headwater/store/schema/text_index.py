"""Which jobs, datasets, columns and tags have words in their texts, by the full-text index of each kind of database.

A word is letters and digits side by side, in any case; it is found by its beginning, and all words of a query must be
there.
"""

import re
from collections.abc import Iterator, Sequence
from typing import Any

from sqlalchemy import Connection, Select, Table, and_, select

from headwater.store.schema.names import dataset, field, field_description
from headwater.store.schema.people import tag_text, tagging
from headwater.store.schema.runs import job
from headwater.store.sql.databases import database_of

_INDEXED = {
    job: ("sql", "description"),
    dataset: ("description",),
    field_description: ("description",),
    tag_text: ("tag", "value"),
}
_MOST_WORDS = 20
_WORD = re.compile(r"[^\W_]+")


def words_of(query: str) -> tuple[str, ...]:
    """The words of a query, each once and in lower case; those after the twentieth are left out.

    >>> words_of("Customer_ID raw.flights")
    ('customer', 'id', 'raw', 'flights')
    """
    return tuple(dict.fromkeys(word.lower() for word in _WORD.findall(query)))[:_MOST_WORDS]


def index_statements(connection: Connection) -> Iterator[str]:
    """The statements that make the indexes, of a store whose tables are there."""
    for table, columns in _INDEXED.items():
        yield from database_of(connection).text_index(table.name, columns)


def with_words(connection: Connection, within: Table, words: Sequence[str]) -> Select[Any]:
    """The ids of jobs, datasets, fields (in `field_description`) or `tag_text`, of whose texts all words are a part."""
    return database_of(connection).with_words(within, _INDEXED[within], words)


def tagged_with_words(connection: Connection, words: Sequence[str], owner: Any) -> Select[Any]:
    """One of the ids of the taggings, ``owner``, whose tag or value has all words; fields have datasets, too."""
    same = and_(tagging.c.tag_key == tag_text.c.tag_key, tagging.c.value == tag_text.c.value)
    found = tag_text.c.id.in_(with_words(connection, tag_text, words))
    return select(owner).select_from(tagging).join(tag_text, same).where(found, owner != 0)


def described_with_words(connection: Connection, words: Sequence[str], owner: Any) -> Select[Any]:
    """One of the ids of the fields, ``owner``, whose description has all words, and that their datasets have now."""
    described = with_words(connection, field_description, words)
    return select(owner).where(field.c.id.in_(described), field.c.ordinal.is_not(None))
