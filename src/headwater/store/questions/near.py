"""What somebody may have meant who typed a name that nothing has."""

from collections.abc import Iterable
from difflib import get_close_matches

from sqlalchemy import Connection, func, select

from headwater.store import schema
from headwater.store.questions.endings import Typed, tail

_NAME = schema.dataset_name
_FIELD = schema.field
_COMPARED = 5_000  # names; comparing takes about 20 µs each
_LONGEST = 300  # characters; comparing grows with the square of the length
_SPLITS = 3  # places where a typed name is taken apart
_MOST = 5


def near_names(connection: Connection, name: Typed) -> list[str]:
    """Endings of known names that look like a typed one, at most five."""
    if len(name.text) > _LONGEST:
        return []
    datasets = _dataset_names(connection)
    near: list[str] = []
    for ending, field in list(name.splits())[:_SPLITS]:
        for dataset in like(ending, _endings(datasets, ending)):
            near += [f"{dataset}.{known}" for known in like(field, _fields_of(connection, dataset))]
    near += like(name.text, _endings(datasets, name.text))
    if not name.cuts:
        near += like(name.text, _field_names(connection))
    return list(dict.fromkeys(near))[:_MOST]


def like(text: str, known: Iterable[str]) -> list[str]:
    """At most three of the known names that look like a text, the best first."""
    if len(text) > _LONGEST:
        return []
    by_folded = {tail(one): one for one in known if len(one) <= _LONGEST}
    return [by_folded[match] for match in get_close_matches(tail(text), by_folded, n=3, cutoff=0.7)]


def _endings(names: list[str], text: str) -> list[str]:
    """The endings of names with as many parts as the text has."""
    parts = tail(text).count(".") + 1
    return [_ending(name, parts) for name in names]


def _ending(name: str, parts: int) -> str:
    begin = len(name)
    for _ in range(parts):
        begin = max(name.rfind(".", 0, begin), name.rfind("/", 0, begin))
        if begin < 0:
            return name
    return name[begin + 1 :]


def _dataset_names(connection: Connection) -> list[str]:
    return list(connection.execute(select(_NAME.c.name).order_by(_NAME.c.id.desc()).limit(_COMPARED)).scalars())


def _field_names(connection: Connection) -> list[str]:
    return list(connection.execute(select(_FIELD.c.name).distinct().limit(_COMPARED)).scalars())


def _fields_of(connection: Connection, ending: str) -> list[str]:
    end = tail(ending)
    place = func.length(_NAME.c.folded) - len(end) + 1
    fields = select(_FIELD.c.name).join(_NAME, _NAME.c.dataset_id == _FIELD.c.dataset_id)
    fields = fields.where(place > 0, func.substr(_NAME.c.folded, place) == end)
    return list(connection.execute(fields.limit(_COMPARED)).scalars())
