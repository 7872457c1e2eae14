"""Sources of datasets: those that people described, and those that events name."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, Select, func, insert, literal, select, union_all, update

from headwater.model.names import key_of
from headwater.openlineage.reading.merged_facets import source_url
from headwater.store import schema
from headwater.store.catalog import events
from headwater.store.read_model.pages import Listing, Page, paged, seen
from headwater.store.read_model.visibility import Sees, described_datasets

_SOURCE = schema.source
_DATASET = schema.dataset

DEFAULT_SOURCE = "default"
"""The source of datasets without one in any event (Marquez, OpenLineageDao.DEFAULT_SOURCE_NAME)."""


@dataclass(frozen=True, slots=True)
class Source:
    """A source; ``type`` is what people gave it, or the scheme of its URL in capitals."""

    name: str
    type: str
    url: str
    description: str
    created_at: int
    updated_at: int


def listing(connection: Connection, page: Page, sees: Sees = None) -> Listing[Source]:
    """The sources by name: those of datasets, and those that people described; who sees some namespaces only sees the
    sources of datasets in these, as the facets of the datasets name them.
    """
    known = every(connection, sees).subquery()
    found = paged(connection, select(known).order_by(known.c.name), page)
    return Listing(_sources(connection, found.items), found.total)


def find(connection: Connection, name: str, sees: Sees = None) -> Source | None:
    """A source by its name."""
    known = every(connection, sees).subquery()
    rows = connection.execute(select(known).where(known.c.name == name)).all()
    return next(iter(_sources(connection, rows)), None)


def describe(connection: Connection, source: Source) -> None:
    """Says what a source is."""
    values = {
        "type": source.type,
        "url": source.url,
        "description": source.description,
        "updated_at": source.updated_at,
    }
    mine = update(_SOURCE).where(_SOURCE.c.key == key_of(source.name))
    if not connection.execute(mine.values(**values)).rowcount:
        row = {"key": key_of(source.name), "name": source.name, "created_at": source.created_at, **values}
        connection.execute(insert(_SOURCE), row)


def every(connection: Connection, sees: Sees = None) -> Any:
    """A question for every source, by its name and what else is known of it."""
    described = select(
        *(_SOURCE.c[name] for name in ("name", "type", "url", "description", "created_at", "updated_at"))
    )
    name = func.coalesce(_DATASET.c.source, DEFAULT_SOURCE)
    times = (func.min(_DATASET.c.first_at), func.max(_DATASET.c.last_at))
    named = select(name.label("name"), *times, func.max(_DATASET.c.id)).group_by(name)
    named = named.where(seen(connection, _DATASET.c.namespace, sees), _DATASET.c.hidden_at.is_(None))
    named = named.where(described_datasets(connection, _DATASET.c.id))
    of_events = named.subquery("named")
    if sees is not None:
        # The description of a source has an address and no namespace: it is for callers who see all.
        return _undescribed(of_events, every=True)
    undescribed = _undescribed(of_events)
    return union_all(described.add_columns(literal(0).label("dataset")), undescribed)


def _undescribed(names: Any, *, every: bool = False) -> Select[Any]:
    name, first, last, dataset = names.c
    nothing = (literal("").label(one) for one in ("type", "url", "description"))
    moments = (first.label("created_at"), last.label("updated_at"))
    question = select(name, *nothing, *moments, dataset.label("dataset"))
    return question if every else question.where(name.not_in(select(_SOURCE.c.name)))


def _sources(connection: Connection, rows: Sequence[Any]) -> tuple[Source, ...]:
    """Sources that nobody described, by the dataSource facet of a dataset."""
    of_datasets = events.of_datasets(connection, [row.dataset for row in rows if row.dataset])
    return tuple(
        Source(
            row.name,
            row.type or _type(source_url(of_datasets.get(row.dataset))),
            row.url or source_url(of_datasets.get(row.dataset)),
            row.description,
            row.created_at or 0,
            row.updated_at or 0,
        )
        for row in rows
    )


def _type(url: str) -> str:
    """The kind of a source by its URL.

    >>> _type("jdbc:postgresql://db:5432/x"), _type("s3://lake"), _type("/data")
    ('POSTGRESQL', 'S3', 'UNKNOWN')
    """
    scheme, separator, _ = url.removeprefix("jdbc:").partition(":")
    return scheme.upper() if separator else "UNKNOWN"
