"""Writing what runs tell of a job's output: that nothing was known of, or that is as before, all at once."""

from collections.abc import Collection, Iterable
from typing import Any, NamedTuple

from sqlalchemy import Connection, FromClause, Select, and_, bindparam, func, or_, select

from headwater.store import schema
from headwater.store.bulk import add_rows
from headwater.store.index.log import Pair, note
from headwater.store.numbering import Edges
from headwater.store.rows import pairs_for
from headwater.store.schema import FOREVER
from headwater.store.timeline import DATASET_EDGES, FIELD_EDGES, Scope, Span, add_first

_LINEAGE = schema.lineage
_ROW = ("job_id", "output_id", "run_id", "at", "digest")
_AT, _UUID = _LINEAGE.c.at, schema.run.c.uuid
_TOLD = select(_AT, _UUID, _LINEAGE.c.digest).join(schema.run, schema.run.c.id == _LINEAGE.c.run_id)
_TOLD = _TOLD.where(_LINEAGE.c.job_id == bindparam("job"), _LINEAGE.c.output_id == bindparam("output")).limit(1)
_MOMENT, _THE_UUID = bindparam("moment", type_=_AT.type), bindparam("the_uuid", type_=_UUID.type)
_BEFORE = _TOLD.where(or_(_AT < _MOMENT, and_(_AT == _MOMENT, _UUID < _THE_UUID))).order_by(_AT.desc(), _UUID.desc())
_AFTER = _TOLD.where(or_(_AT > _MOMENT, and_(_AT == _MOMENT, _UUID > _THE_UUID))).order_by(_AT, _UUID)


class Run(NamedTuple):
    """A run's row, as far as its lineage goes."""

    id: int
    uuid: str
    job_id: int
    state: str
    state_at: int


class Told(NamedTuple):
    """The edges that one run told of one output, and from when on they hold."""

    edges: Edges
    at: int

    @property
    def digest(self) -> bytes:
        """Equal for equal edges."""
        return self.edges.digest


class Latest(NamedTuple):
    """When lineage of a job's output was told last, and its digest; None where several runs told some then."""

    at: int
    digest: bytes | None


class Telling:
    """Takes what runs tell of (job, output) pairs; all of it is written after `flush`."""

    def __init__(self, connection: Connection, pairs: Collection[Pair]) -> None:
        self._connection = connection
        self._latest: dict[Pair, Latest | Told | None] = {**_latest(connection, pairs)}
        self._told: list[tuple[int, int, int, Told]] = []
        self._first: dict[Pair, Told] = {}

    def tell(self, run: Run, output: int, told: Told) -> None:
        """Takes what a run tells of an output that it has not told of before."""
        pair = (run.job_id, output)
        latest = self._latest[pair] if pair in self._latest else _latest(self._connection, [pair])[pair]
        if latest is None:
            self._first[pair] = told
        elif told.at <= latest.at or told.digest != latest.digest:
            self.flush()
            _paint(self._connection, run, output, told)
        self._told.append((*pair, run.id, told))
        self._latest[pair] = _later(latest, told)

    def forget(self, pairs: Iterable[Pair]) -> None:
        """Drops what was known of pairs, after their lineage was taken back."""
        for pair in pairs:
            self._latest.pop(pair, None)

    def flush(self) -> None:
        """Writes what was taken, before somebody reads it."""
        first = [(job, told) for (job, _), told in self._first.items()]
        # Digests too are made while PostgreSQL writes.
        fields = ((*edge, job, told.at) for job, told in first if told.digest for edge in told.edges.fields)
        datasets = ((*edge, job, told.at) for job, told in first for edge in told.edges.dataset)
        add_first(self._connection, FIELD_EDGES, fields)
        add_first(self._connection, DATASET_EDGES, datasets)
        note(self._connection, self._first)
        rows = ((job, output, run, told.at, told.digest) for job, output, run, told in self._told)
        add_rows(self._connection, _LINEAGE, _ROW, rows)
        self._told.clear()
        self._first.clear()


def _later(latest: Latest | Told | None, told: Told) -> Latest | Told:
    if latest is None or told.at > latest.at:
        return told
    return latest if told.at < latest.at else Latest(latest.at, None)


def _latest(connection: Connection, pairs: Collection[Pair]) -> dict[Pair, Latest | None]:
    """Of each pair what was told last, None where nothing was told."""
    found: dict[Pair, Latest | None] = dict.fromkeys(pairs)
    for job, output, at, digest in pairs_for(connection, pairs, _told_last):
        found[job, output] = Latest(at, digest if found[job, output] is None else None)
    return found


def _told_last(pair: FromClause) -> Select[Any]:
    told, other = _LINEAGE.c, _LINEAGE.alias().c
    last = select(func.max(other.at)).where(other.job_id == pair.c.one, other.output_id == pair.c.other)
    question = select(told.job_id, told.output_id, told.at, told.digest).select_from(pair)
    mine = and_(told.job_id == pair.c.one, told.output_id == pair.c.other, told.at == last.scalar_subquery())
    return question.join(_LINEAGE, mine)


def _paint(connection: Connection, run: Run, output: int, told: Told) -> None:
    """Makes the edges so from then on until the next run told its own; equal times go by run id."""
    place = {"job": run.job_id, "output": output, "moment": told.at, "the_uuid": run.uuid}
    before, after = connection.execute(_BEFORE, place).first(), connection.execute(_AFTER, place).first()
    end = after.at if after is not None else FOREVER
    if told.at < end and (before is None or before.digest != told.digest):
        scope, window = Scope(connection, run.job_id, output), Span(told.at, end)
        scope.paint(FIELD_EDGES, window, told.edges.fields)
        scope.paint(DATASET_EDGES, window, told.edges.dataset)
        note(connection, [(run.job_id, output)])
