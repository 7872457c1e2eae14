"""Versions of a dataset with the columns that each had, and which columns came and went between two moments."""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from uuid import UUID

from sqlalchemy import Connection

from headwater.errors import QuestionError
from headwater.model import Job
from headwater.model.names import place_of
from headwater.model.time import FOREVER
from headwater.openlineage.reading.facets import VersionField
from headwater.store.questions import names
from headwater.store.questions.answers import Column, KnownDataset, Sees
from headwater.store.questions.lookup.find import Name, find
from headwater.store.read_model import versions
from headwater.store.store import Store


@dataclass(frozen=True, slots=True)
class ListedVersion:
    """A version of a dataset: the run that wrote it, since when, and its columns, none where no schema is known.

    ``run`` is empty where no run wrote it: an event about a dataset or a job alone.
    """

    id: UUID
    at: int
    run: str
    state: str
    job: Job
    columns: tuple[Column, ...]


@dataclass(frozen=True, slots=True)
class VersionPage:
    """Versions of a dataset, the newest first; ``next`` is where to go on, None at the end."""

    dataset: KnownDataset
    versions: tuple[ListedVersion, ...]
    next: tuple[int, str] | None


@dataclass(frozen=True, slots=True)
class ChangedColumn:
    """A column that has another name or type than before."""

    before: Column
    after: Column


@dataclass(frozen=True, slots=True)
class ColumnChanges:
    """The columns that came, went or changed between two moments."""

    added: tuple[Column, ...] = ()
    removed: tuple[Column, ...] = ()
    changed: tuple[ChangedColumn, ...] = ()


NO_CHANGES = ColumnChanges()


def version_page(
    store: Store, name: Name, most: int, *, after: tuple[int, str] | None = None, sees: Sees = None
) -> VersionPage:
    """The versions of a dataset.

    Raises:
        UnknownName, AmbiguousName: the name fits none, or several.
        QuestionError: it is the name of a column.
    """
    with store.read() as connection:
        dataset = find(connection, name, None, sees)
        if isinstance(dataset, Column):
            raise QuestionError(
                f"{str(dataset)[:200]!r} is a column: expected the name of a dataset, which has versions."
            )
        question = versions.listed(connection, dataset.id, after)
        rows = connection.execute(question.limit(most + 1)).all()
        page, own = rows[:most], versions.named(connection, dataset.id)
        known = [versions.version_of(row, own) for row in page]
        fields, jobs = versions.fields_of(connection, known), names.jobs(connection, {row.job_id for row in page})
        columns = _columns(connection, dataset, [fields.get(one, ()) for one in known])
    shown = [
        ListedVersion(one.uuid, one.at, one.run, row.state, jobs[row.job_id], own_columns)
        for row, one, own_columns in zip(page, known, columns, strict=True)
    ]
    return VersionPage(dataset, tuple(shown), (page[-1].at, page[-1].uuid) if len(rows) > most else None)


def columns_then(
    connection: Connection, datasets: Mapping[int, KnownDataset], at: int | None
) -> dict[int, tuple[Column, ...]]:
    """The columns of datasets at a moment, None for now; nothing of those without a known schema of then."""
    moment = FOREVER if at is None else at
    fields = versions.fields_at(connection, [(one, moment) for one in datasets])
    return {one: _columns(connection, datasets[one], [some], at)[0] for (one, _), some in fields.items()}


def column_changes(connection: Connection, datasets: Collection[int], before: int, after: int | None) -> ColumnChanges:
    """Return the changes of the columns of datasets.

    Where a dataset was written by one of the moments, but no schema of then is known, it is left out.
    """
    known = names.datasets(connection, datasets, after)
    was, now = (columns_then(connection, known, at) for at in (before, after))
    unknown = _without_schema(connection, known, before, was) | _without_schema(connection, known, after, now)
    earlier, later = (
        {_key(one): one for each in known.keys() - unknown for one in side.get(each, ())} for side in (was, now)
    )
    both = earlier.keys() & later.keys()
    return ColumnChanges(
        tuple(sorted(later[key] for key in later.keys() - both)),
        tuple(sorted(earlier[key] for key in earlier.keys() - both)),
        tuple(ChangedColumn(earlier[key], later[key]) for key in sorted(both) if _differ(earlier[key], later[key])),
    )


def _without_schema(
    connection: Connection, datasets: Mapping[int, KnownDataset], at: int | None, schemas: Collection[int]
) -> set[int]:
    """The datasets that had a version by then and no known schema."""
    named = {one: datasets[one].dataset for one in datasets.keys() - set(schemas)}
    return set(versions.latest(connection, named, at))


def _key(column: Column) -> tuple[int, int, str]:
    """A column has one id under all of its names; one without was never a field of its own."""
    return column.dataset.id, column.id, "" if column.id else column.name


def _differ(one: Column, other: Column) -> bool:
    return (one.name, one.type) != (other.name, other.type)


def _columns(
    connection: Connection, dataset: KnownDataset, several: Iterable[versions.Fields], at: int | None = None
) -> list[tuple[Column, ...]]:
    """The columns of versions of a dataset, with the ids that fields of those names have, or had at a moment."""
    known = names.columns_of(connection, dataset, at)
    called = [one.name for one in known]

    def column(field: VersionField) -> Column:
        place = place_of(called, field.name)
        return Column(dataset, field.name, field.type, 0 if place is None else known[place].id)

    return [tuple(map(column, fields)) for fields in several]
