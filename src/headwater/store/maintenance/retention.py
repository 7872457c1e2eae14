"""Takes out of a store what is old and what nothing needs any more; answers about now stay as they are."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import astuple, dataclass

from sqlalchemy import (
    ColumnElement,
    Connection,
    Delete,
    FromClause,
    Table,
    and_,
    delete,
    exists,
    func,
    insert,
    or_,
    select,
    union,
    update,
)

from headwater.store import schema
from headwater.store.graph.index.log import trim
from headwater.store.graph.timeline import DATASET_EDGES, FIELD_EDGES
from headwater.store.maintenance.prunable import doomed, has_child_outside, prunable
from headwater.store.store import Store

_RUN = schema.run
_SCHEDULE = schema.schedule
_NAME = "retention"
_OF_RUN = (schema.event, schema.gap, schema.run_dataset, schema.lineage, schema.replacement)
_HISTORIES = (
    (schema.edge_history, schema.edge_history.c.output_field),
    (schema.dataset_edge_history, schema.dataset_edge_history.c.output_dataset),
)
_READERS = tuple(table for tables in (FIELD_EDGES, DATASET_EDGES) for table in tables)
_OF_VERSIONS = union(
    *(
        select(table.c.schema_digest).where(table.c.schema_digest.is_not(None))
        for table in (schema.run_dataset, schema.dataset_change)
    )
)
_WITHOUT_VERSION = schema.dataset_schema.c.digest.not_in(_OF_VERSIONS)
_RUNS_AT_ONCE = 200
_OUTPUTS_AT_ONCE = 500


@dataclass(frozen=True, slots=True)
class Pruned:
    """How many rows of each kind went, or would go; of edges at least so many, since some go with their readers."""

    runs: int = 0
    events: int = 0
    edges: int = 0

    def __add__(self, other: "Pruned") -> "Pruned":
        return Pruned(*map(sum, zip(astuple(self), astuple(other), strict=True)))


def begin_scheduled(store: Store, now: int, every: int) -> bool:
    """Whether it is time to remove what is old again, and up to this process; others that ask then get False.

    ``now`` is the present moment, ``every`` the time from one begin to the next, in microseconds.

    Raises:
        StoreError: the store cannot be written.
    """
    mine = _SCHEDULE.c.name == _NAME
    with store.write() as connection:
        last = connection.execute(select(_SCHEDULE.c.last_at).where(mine)).scalar()
        if last is None:
            connection.execute(insert(_SCHEDULE), {"name": _NAME, "last_at": now})
        elif now - every >= last:
            connection.execute(update(_SCHEDULE).where(mine).values(last_at=now))
        else:
            return False
    return True


def prune(store: Store, cut: int, *, until: Callable[[], bool] = lambda: False) -> Pruned:
    """Removes runs with their events, and edges that ended, from before a moment (microseconds since 1970).

    Answers about now, and as of any time from the moment on, stay what they are; lists of runs and events become
    shorter. It goes on in small transactions, so that others can write in between; stopped half way, it has removed
    a part. ``until`` is asked before each transaction, and ends it early when it is true.

    Raises:
        StoreError: the store cannot be written.
    """
    with store.read() as connection:
        runs = doomed(connection, cut)
        outputs = _ended(connection, cut)
    parts = [_prune_runs(store, batch, cut) for batch in _parts(runs, _RUNS_AT_ONCE) if not until()]
    for table, ids in outputs.items():
        parts += [_prune_edges(store, table, batch, cut) for batch in _parts(ids, _OUTPUTS_AT_ONCE) if not until()]
    if until():
        return sum(parts, Pruned())
    with store.write() as connection:
        if runs:
            connection.execute(delete(schema.dataset_schema).where(_WITHOUT_VERSION))
        trim(connection)
    return sum(parts, Pruned())


def would_prune(store: Store, cut: int) -> Pruned:
    """Count what `prune` would remove now."""
    with store.read() as connection:
        runs = doomed(connection, cut)
        events = select(func.count()).select_from(schema.event)
        lineages = sum(
            connection.execute(events.where(schema.event.c.run_id.in_(batch))).scalar_one()
            for batch in _parts(runs, _RUNS_AT_ONCE)
        )
        ended = (select(func.count()).select_from(table).where(_removable(table, cut)) for table, _ in _HISTORIES)
        return Pruned(len(runs), lineages, sum(connection.execute(question).scalar_one() for question in ended))


def _removable(history: Table, cut: int) -> ColumnElement[bool]:
    """That an edge ended before the cut, and that no walk goes over it (`headwater.store.questions.walk.past`).

    A walk goes back to what a dataset whose rows were replaced had when another edge has read it: that edge, or one
    before it, held before this one ended.
    """
    own = schema.field.alias("own_field")
    if "output_field" in history.c:
        mine = own.c.id == history.c.output_field
    else:
        mine = own.c.dataset_id == history.c.output_dataset
    replaced = and_(schema.replacement.c.dataset_id == own.c.dataset_id, schema.replacement.c.certain)
    read = or_(*(_reads(table.alias(f"reader_{table.name}"), own, history) for table in _READERS))
    needed = exists().where(mine, exists().where(replaced).correlate(own), read).correlate(history)
    return and_(history.c.valid_to <= cut, ~needed)


def _reads(reader: FromClause, own: FromClause, history: Table) -> ColumnElement[bool]:
    mine = and_(reader.c.input_field == own.c.id, reader.c.valid_from <= history.c.valid_to)
    return exists().where(mine).correlate(own, history)


def _parts(ids: Sequence[int], size: int) -> Iterator[Sequence[int]]:
    return (ids[begin : begin + size] for begin in range(0, len(ids), size))


def _ended(connection: Connection, cut: int) -> dict[Table, Sequence[int]]:
    questions = {table: select(output).where(_removable(table, cut)).distinct() for table, output in _HISTORIES}
    return {table: connection.execute(question).scalars().all() for table, question in questions.items()}


def _prune_runs(store: Store, batch: Sequence[int], cut: int) -> Pruned:
    with store.write() as connection:
        # What came in since they were chosen may need one of them.
        still = and_(_RUN.c.id.in_(batch), prunable(cut), ~has_child_outside(batch))
        going = _without_kept_children(connection, connection.execute(select(_RUN.c.id).where(still)).scalars().all())
        events = sum(_count(connection, statement) for statement in _deletions(going))
        return Pruned(len(going), events)


def _without_kept_children(connection: Connection, runs: Sequence[int]) -> Sequence[int]:
    while True:
        alone = select(_RUN.c.id).where(_RUN.c.id.in_(runs), ~has_child_outside(runs))
        going = connection.execute(alone).scalars().all()
        if len(going) == len(runs):
            return going
        runs = going


def _deletions(runs: Sequence[int]) -> Iterator[tuple[Delete, bool]]:
    for table in _OF_RUN:
        yield delete(table).where(table.c.run_id.in_(runs)), table is schema.event
    yield delete(_RUN).where(_RUN.c.id.in_(runs)), False


def _count(connection: Connection, statement: tuple[Delete, bool]) -> int:
    deletion, counts = statement
    rows = connection.execute(deletion).rowcount
    return rows if counts else 0


def _prune_edges(store: Store, table: Table, outputs: Sequence[int], cut: int) -> Pruned:
    output = next(column for one, column in _HISTORIES if one is table)
    with store.write() as connection:
        ended = delete(table).where(output.in_(outputs), _removable(table, cut))
        return Pruned(edges=connection.execute(ended).rowcount)
