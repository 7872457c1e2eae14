"""Which jobs, datasets and tags have words in their texts, by the full-text index of each kind of database.

SQLite has a table of FTS5 for each (`job_words`, `dataset_words`, `tag_text_words`), PostgreSQL an index of the
expression that `_expression` writes: the first revision makes them. A word is letters and digits side by side, in
any case; it is found by its beginning, and all words of a question must be there.
"""

import re
from collections.abc import Sequence
from typing import Any

from sqlalchemy import Connection, Insert, Select, Table, and_, bindparam, column, select, table, text

from headwater.store import schema
from headwater.store.sql.bulk import Addition, Upsert
from headwater.store.sql.rows import rows_for

_MARKS = """!"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~"""
_INDEXED = {schema.job: ("sql", "description"), schema.dataset: ("description",), schema.tag_text: ("tag", "value")}
_MOST_WORDS = 20
_WORD = re.compile(r"[^\W_]+")
_TEXT = schema.tag_text
_TAGGING = schema.tagging


def _unless_known(new: Upsert) -> Insert:
    return new.on_conflict_do_nothing()


_NEW_TEXT = Addition(_TEXT, ("key", "tag_key", "tag", "value"), _unless_known)


def words_of(asked: str) -> tuple[str, ...]:
    """The words of a question, each once and in lower case; those after the twentieth are left out.

    >>> words_of("Customer_ID raw.flights")
    ('customer', 'id', 'raw', 'flights')
    """
    return tuple(dict.fromkeys(word.lower() for word in _WORD.findall(asked)))[:_MOST_WORDS]


def with_words(connection: Connection, within: Table, words: Sequence[str]) -> Select[Any]:
    """The ids of the jobs, datasets or `tag_text` of whose texts all words are a part."""
    if connection.dialect.name == "sqlite":
        index = f"{within.name}_words"
        asked = " ".join(f'"{word}"*' for word in words)
        return select(column("rowid")).select_from(table(index)).where(_matching(f"{index} MATCH :words", asked))
    asked = " & ".join(f"{word}:*" for word in words)
    return select(within.c.id).where(_matching(f"{_expression(within)} @@ to_tsquery('simple', :words)", asked))


def tagged_with_words(connection: Connection, words: Sequence[str], named: Any) -> Select[Any]:
    """One of the ids of the taggings, ``named``, whose tag or value has all words; fields have datasets, too."""
    same = and_(_TAGGING.c.tag_key == _TEXT.c.tag_key, _TAGGING.c.value == _TEXT.c.value)
    found = _TEXT.c.id.in_(with_words(connection, _TEXT, words))
    return select(named).select_from(_TAGGING).join(_TEXT, same).where(found, named != 0)


def add_tag_texts(connection: Connection, rows: Sequence[tuple[bytes, bytes, str, str]]) -> None:
    """Notes tags with their values that are not known yet, each with its key and that of the tag."""
    mine = {row[0]: row for row in rows}
    known = rows_for(connection, mine, lambda some: select(_TEXT.c.key).where(_TEXT.c.key.in_(some)))
    new = mine.keys() - {row.key for row in known}
    if new:
        _NEW_TEXT(connection, [mine[key] for key in sorted(new)])


def _matching(condition: str, asked: str) -> Any:
    return text(condition).bindparams(bindparam("words", asked, unique=True))


def _expression(within: Table) -> str:
    whole = " || ' ' || ".join(f"coalesce({name}, '')" for name in _INDEXED[within])
    marks = _MARKS.replace("'", "''")
    return f"to_tsvector('simple', translate({whole}, '{marks}', '{' ' * len(_MARKS)}'))"
