"""From ids back to names, for what is shown."""

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from typing import Any, NamedTuple

from sqlalchemy import Connection, Select, func, select

from headwater.model import Dataset, Job, Subtype, Transformation
from headwater.model.names import FieldRename, first_name, former_name
from headwater.model.nested_fields import field_within, nested_name
from headwater.model.time import BEGINNING, FOREVER
from headwater.store import schema
from headwater.store.ingest.field_spelling import READ
from headwater.store.questions.answers import Column, KnownDataset, KnownJob, Node
from headwater.store.questions.walk.guesses import GUESS, GUESS_ID
from headwater.store.questions.walk.steps_inside import ANY_COLUMN, ANY_COLUMN_ID, OTHER_FORMAT, OTHER_FORMAT_ID
from headwater.store.read_model.fields import ended_fields, replaced_datasets
from headwater.store.read_model.presence import presence
from headwater.store.read_model.visibility import described_datasets, sight_of
from headwater.store.sql.databases import Lookup, rows_for

_NAME, _DATASET, _FIELD, _JOB, _TRANSFORMATION = (
    table.c for table in (schema.dataset_name, schema.dataset, schema.field, schema.job, schema.transformation)
)
_CALLED = select(_DATASET.id, _DATASET.namespace, _DATASET.name)
_CALLED = _CALLED.add_columns(_NAME.id.label("name_id"), _NAME.namespace, _NAME.name, _NAME.since, _NAME.until)
_CALLED = _CALLED.select_from(schema.dataset).outerjoin(schema.dataset_name, _NAME.dataset_id == _DATASET.id)
_DATASETS = Lookup(_CALLED, _DATASET.id)
_FIELDS = Lookup(select(_FIELD.id, _FIELD.dataset_id, _FIELD.name, _FIELD.type), _FIELD.id)
_OF_DATASET = select(_FIELD.id, _FIELD.name, _FIELD.type, _FIELD.ordinal)
_FIELDS_OF = Lookup(_OF_DATASET, _FIELD.dataset_id)
_DESCRIBED_FIELDS_OF = Lookup(_OF_DATASET.where(_FIELD.spelled_by >= READ), _FIELD.dataset_id)
_JOBS = Lookup(select(_JOB.id, _JOB.namespace, _JOB.name), _JOB.id)
_TRANSFORMATIONS = Lookup(select(schema.transformation), _TRANSFORMATION.id)
NEVER_STORED = frozenset({GUESS_ID, ANY_COLUMN_ID, OTHER_FORMAT_ID})
"""The ids of the transformations of steps that no event contains."""

_NO_NODES: Mapping[int, Node] = {}
_NONE_MADE: Mapping[int, Transformation] = {}
_DECLARED = Lookup(select(schema.symlink.c.other_id), schema.symlink.c.other_id)


class _DatasetName(NamedTuple):
    """A name that a dataset goes by, or went by."""

    id: int
    namespace: str
    name: str
    since: int
    until: int


def datasets(connection: Connection, ids: Collection[int], at: int | None = None) -> dict[int, KnownDataset]:
    """Datasets by id, with their other names: those of now, or of a moment."""
    by_id: dict[int, list[tuple[Any, ...]]] = defaultdict(list)
    for row in _DATASETS.bare(connection, ids):
        by_id[row[0]].append(row)
    found: dict[int, KnownDataset] = {}
    named: dict[int, list[_DatasetName]] = {}
    for id_, rows in by_id.items():
        shown = rows[0][1:3]
        found[id_] = KnownDataset(Dataset(*shown), (), id_)
        if len(rows) > 1 or shown != rows[0][4:6]:  # as few
            named[id_] = [_DatasetName(*row[3:]) for row in rows if row[3] is not None]
    then = {key: _names_at(rows, at) for key, rows in named.items()}
    declared = _declared(connection, [row.id for key, rows in then.items() if rows != named[key] for row in rows])
    return found | {id_: _known(found[id_], names, declared) for id_, names in then.items()}


def columns(
    connection: Connection, ids: Collection[int], at: int | None = None, nodes: Mapping[int, Node] = _NO_NODES
) -> dict[int, Column]:
    """Columns by id, and those of ``nodes`` that are within one; by their names of now, or of a moment."""
    if any(one in nodes for one in ids):
        known = columns(connection, {nodes[one][0] if one in nodes else one for one in ids}, at)
        return {one: within(known[nodes[one][0]], nodes[one], one) if one in nodes else known[one] for one in ids}
    rows = _FIELDS.bare(connection, ids)
    owners = datasets(connection, {dataset for _, dataset, *_ in rows}, at)
    called = NamesAtMoment(connection, at)
    return {id_: Column(owners[dataset], called(dataset, name), kind, id_) for id_, dataset, name, kind in rows}


def within(column: Column, node: Node, id_: int) -> Column:
    """Return the field within a column that has an id of its own."""
    path = (column.name, *node[1])
    field = field_within(column.type, node[1])
    return Column(column.dataset, nested_name(path), field[1] if field is not None else "", id_, path, column.id)


def columns_of(connection: Connection, dataset: KnownDataset, at: int | None = None) -> list[Column]:
    """The columns of a dataset: in the order of its schema, then those only lineage knows of."""
    fields = _FIELDS_OF if sight_of(connection) is None else _DESCRIBED_FIELDS_OF
    rows = fields.bare(connection, [dataset.id])
    ordered = sorted(rows, key=lambda row: (row[3] is None, row[3] or 0, row[1]))
    called, owner = NamesAtMoment(connection, at), dataset.id
    then = [row for row in ordered if called.had(owner, row[1])]
    return [Column(dataset, called(owner, name), kind, id_) for id_, name, kind, _ in then]


def current_columns(connection: Connection, dataset: KnownDataset) -> list[Column]:
    """The columns that a dataset has now: those that ended with a replacement are left out."""
    field = schema.field.c
    unplaced = select(field.id, field.dataset_id, field.ordinal)
    rows = connection.execute(unplaced.where(field.dataset_id == dataset.id, field.ordinal.is_(None))).all()
    ended = ended_fields(connection, rows)
    return [one for one in columns_of(connection, dataset) if one.id not in ended]


class NamesAtMoment:
    """The names of fields at a moment; None is now."""

    def __init__(self, connection: Connection, at: int | None) -> None:
        self._at = FOREVER if at is None else at
        self.renames: dict[int, list[FieldRename]] = {}
        if at is None:
            return
        rename = schema.field_rename.c
        later = select(rename.dataset_id, rename.at, rename.former, rename.present).where(rename.at > self._at)
        for dataset, *how in connection.execute(later):
            self.renames.setdefault(dataset, []).append(FieldRename(*how))

    def __call__(self, dataset: int, name: str) -> str:
        """Return the name at that moment of the field of a dataset that has a name now."""
        return former_name(self.renames[dataset], name, self._at) if dataset in self.renames else name

    def had(self, dataset: int, name: str) -> bool:
        """Whether the field may have had its present name then: no rename has given it since."""
        return dataset not in self.renames or first_name(self.renames[dataset], name, FOREVER)[1] == BEGINNING


def jobs(connection: Connection, ids: Collection[int]) -> dict[int, Job]:
    """Jobs by id."""
    return {id_: KnownJob(namespace, name, id_) for id_, namespace, name in _JOBS.bare(connection, ids)}


def applications(connection: Connection, jobs_named: Mapping[int, Job]) -> dict[int, Job]:
    """The job each job is a part of, where the name says so too (``app.command.table``), else itself.

    Source: the ParentRunFacet of the newest run, and the job names of the OpenLineage Spark integration.
    """
    if not presence(connection).parents:
        return dict(jobs_named)
    mine, parent, job = schema.run, schema.run.alias("parent"), schema.job

    def parents(jobs: list[int]) -> Select[Any]:
        last = select(func.max(mine.c.id)).where(mine.c.job_id == job.c.id).correlate(job).scalar_subquery()
        newest = select(last).where(job.c.id.in_(jobs))
        question = select(mine.c.job_id, job.c.id, job.c.namespace, job.c.name).where(mine.c.id.in_(newest))
        return question.join(parent, parent.c.id == mine.c.parent_id).join(job, job.c.id == parent.c.job_id)

    found = {row.job_id: KnownJob(row.namespace, row.name, row.id) for row in rows_for(connection, jobs_named, parents)}
    return {
        key: found[key] if key in found and named.name.startswith(f"{found[key].name}.") else named
        for key, named in jobs_named.items()
    }


def transformations(
    connection: Connection, ids: Collection[int], made: Mapping[int, Transformation] = _NONE_MADE
) -> dict[int, Transformation]:
    """Transformations by id; ``made`` are those that are not stored."""
    rows = _TRANSFORMATIONS(connection, [id_ for id_ in ids if id_ not in made])
    stored = {row.id: Transformation(Subtype(row.subtype), row.masking, row.opaque, row.description) for row in rows}
    made = {GUESS_ID: GUESS, ANY_COLUMN_ID: ANY_COLUMN, OTHER_FORMAT_ID: OTHER_FORMAT, **made}
    return stored | {id_: one for id_, one in made.items() if id_ in ids}


def _names_at(rows: list[_DatasetName], at: int | None) -> list[_DatasetName]:
    """The names that a dataset had at a moment; those before or after it where it had none."""
    moment = FOREVER - 1 if at is None else at
    then = [row for row in rows if row.since <= moment < row.until]
    if then:
        return then
    latest = max((row.until for row in rows if row.until <= moment), default=None)
    return rows if latest is None else [row for row in rows if row.until == latest]


def _declared(connection: Connection, names: list[int]) -> set[int]:
    """The names that events have as symlinks of others (SymlinksDatasetFacet)."""
    return {other for (other,) in _DECLARED.bare(connection, names)} if names else set()


def _known(of: KnownDataset, names: Sequence[_DatasetName], declared: Collection[int]) -> KnownDataset:
    """A dataset by the name that it goes by, or went by."""
    shown, then = of.dataset, {Dataset(one.namespace, one.name): one.id for one in names}
    if then and shown not in then:
        shown = min(then, key=lambda one: (then[one] in declared, one))
    return KnownDataset(shown, tuple(sorted(then.keys() - {shown})), of.id)


def listed(connection: Connection, question: Select[Any]) -> Select[Any]:
    """A question about datasets without those that are hidden, or were dropped and whose names are others' now."""
    question = question.where(_DATASET.hidden_at.is_(None), described_datasets(connection, _DATASET.id))
    gone = replaced_datasets(connection)
    return question.where(_DATASET.id.not_in(gone)) if gone else question
