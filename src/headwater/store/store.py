"""The store: takes OpenLineage events in, and is read by the questions."""

import json
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from copy import copy
from dataclasses import dataclass
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

from sqlalchemy import Connection, Engine, or_, select

from headwater.errors import EventError
from headwater.openlineage.reading.events import Event, read_event
from headwater.store import schema
from headwater.store.graph.index import OPTION, require_arrays
from headwater.store.ingest.pipeline import ingest
from headwater.store.ingest.replacements import believes_overwrite
from headwater.store.migrations.upgrade import require_current, revision_of, upgrade
from headwater.store.read_model.presence import OPTION as STATE
from headwater.store.read_model.visibility import OPTION as SIGHT
from headwater.store.read_model.visibility import Sees
from headwater.store.sql import databases
from headwater.store.sql.databases import database_at
from headwater.store.sql.location import require_file, store_file, store_url

if TYPE_CHECKING:  # it needs numpy, which may not be installed
    from headwater.store.graph.index.memory import EdgeIndex

RawEvent = Mapping[str, Any] | str | bytes


@dataclass(frozen=True, slots=True)
class Rejected:
    """An event that was not taken: its place in the batch, counted from 0, why, and how it begins."""

    index: int
    reason: str
    excerpt: str


@dataclass(frozen=True, slots=True)
class IngestReport:
    """The counts of a batch of events; ``known`` ones were in the store before and changed nothing."""

    added: int = 0
    known: int = 0
    rejected: tuple[Rejected, ...] = ()


class Store:
    """An open lineage store; get one from `open_store`, close it or use it in a ``with`` statement."""

    def __init__(self, url: str, engine: Engine, writers: Engine) -> None:
        self.url = url
        self._database = database_at(url)
        self._engine = engine
        self._writers = writers
        self._believe_overwrite = believes_overwrite()
        self._longest_read: float | None = None
        self._index: EdgeIndex | None = None
        self._sight: Sees = None

    def seen_by(self, sees: Sees) -> "Store":
        """The store for one who sees some namespaces only, None for all; it is not to be closed."""
        if sees is None:
            return self
        seen = copy(self)
        seen._sight = sees
        return seen

    def end_reads_after(self, seconds: float) -> None:
        """From now on the database ends what `read` asks and takes longer; what writes is never ended.

        Without it a question that nobody waits for any more holds its thread and its connection as long as it takes.
        """
        self._longest_read = seconds

    def keep_edges(self) -> "EdgeIndex":
        """From now on walks over current edges find them in memory, as soon as they are read.

        Raises:
            SettingError: numpy is not installed.
        """
        require_arrays()
        from headwater.store.graph.index.memory import EdgeIndex

        self._index = EdgeIndex(self._reading)
        return self._index

    def ingest(self, events: Iterable[RawEvent]) -> IngestReport:
        """Takes a batch of OpenLineage events in, as JSON texts or objects, in one transaction.

        The order of events does not matter, and one that is there already changes nothing. An event that
        cannot be read is reported and does not keep the others out.

        Raises:
            StoreLocked: another process holds the store for longer than the timeout.
            StoreUnavailable: the store cannot be written (rights, disk); nothing of the batch was taken.
        """
        rejected: list[Rejected] = []
        readable = list(_readable(events, rejected))
        added = self.take(readable)
        return IngestReport(added, len(readable) - added, tuple(rejected))

    def take(self, events: Sequence[Event]) -> int:
        """Writes events in one transaction; how many of them were not there before.

        Raises:
            StoreError: nothing was written.
        """
        with self.write() as connection:
            self._database.prefer_indexes(connection)
            return ingest(connection, events, believe_overwrite=self._believe_overwrite)

    def events(self, run: str) -> list[dict[str, Any]]:
        """The events of a run as they came, in the order of their times; none when nothing is known of it."""
        mine = select(schema.event.c.payload).join(schema.run, schema.run.c.id == schema.event.c.run_id)
        mine = mine.where(or_(schema.run.c.uuid == run, schema.run.c.shown == run)).order_by(
            schema.event.c.at, schema.event.c.digest
        )
        with self.read() as connection:
            return [json.loads(zlib.decompress(payload)) for payload in connection.execute(mine).scalars()]

    @contextmanager
    def read(self) -> Iterator[Connection]:
        """A connection for reading that sees one state of the store.

        Raises:
            StoreError: the store cannot be read.
            StoreUnavailable: it took longer than `end_reads_after` says.
        """
        with self._reading(self._longest_read, **{OPTION: self._index, SIGHT: self._sight, STATE: {}}) as connection:
            yield connection

    @contextmanager
    def _reading(self, longest: float | None = None, **options: Any) -> Iterator[Connection]:
        with (
            databases.store_errors(self.url),
            databases.reading(self._engine, longest, **options) as connection,
        ):
            yield connection

    def revision(self) -> str:
        """The revision of the schema, as the store says now.

        Raises:
            StoreError: the store cannot be read, or is of a newer headwater by now.
        """
        with databases.store_errors(self.url):
            return revision_of(self._engine, self.url)

    @contextmanager
    def write(self) -> Iterator[Connection]:
        """A connection in one transaction that writes, alone: other writers wait until it ends.

        Raises:
            StoreError: nothing was written.
        """
        silence = databases.SILENCE
        with databases.store_errors(self.url), databases.writing(self._writers, silence) as connection:
            yield connection.execution_options(**{SIGHT: self._sight})

    def require_writable(self) -> None:
        """Writes what is there already, as a look whether the disk takes it.

        Raises:
            StoreError: it cannot be written.
        """
        with self.write() as connection:
            connection.exec_driver_sql(f"UPDATE {schema.VERSION_TABLE} SET version_num = version_num")

    def analyze(self) -> None:
        """Count rows, so that the database chooses the right index.

        Raises:
            StoreError: the store cannot be written.
        """
        with databases.store_errors(self.url):
            self._database.analyze(self._writers)

    def vacuum(self) -> bool:
        """Return the room of removed rows to the disk; False where the database does so by itself.

        Raises:
            StoreLocked: another process writes.
        """
        with databases.store_errors(self.url):
            return self._database.vacuum(self._engine)

    def close(self) -> None:
        """Closes every connection; the store cannot be used any more."""
        if self._index is not None:
            self._index.close()
        self._engine.dispose()
        self._writers.dispose()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def open_store(
    url: str | None = None,
    *,
    create: bool = True,
    read_only: bool = False,
    timeout: float = 30.0,
    durable: bool = False,
) -> Store:
    """The store at ``url`` (see `store_url`), made or upgraded to this version's schema when need be.

    Args:
        create: make the file and its folder when they are missing.
        read_only: never write, which also works on a file and folder without write rights.
        timeout: seconds to wait for another process that writes.
        durable: what is written survives a loss of power also on SQLite, which then waits for the disk each time.

    Raises:
        StoreUnavailable: it is missing (and ``create`` is False), or cannot be opened or written.
        StoreLocked: another process holds it for longer than ``timeout``.
        StoreCorrupt: it is no headwater store, or is damaged.
        StoreTooNew: a newer headwater wrote it.
        StoreTooOld: its schema is of before the first one.
        SettingError: the URL is none, or its driver is not installed.
    """
    url = store_url(url)
    path = store_file(url)
    if path is not None:
        require_file(path, create=create and not read_only)
    # Who writes has connections of its own: readers, however many, do not keep events waiting.
    engine, writers = (databases.connect(url, read_only=read_only, timeout=timeout, durable=durable) for _ in "rw")
    try:
        with databases.store_errors(url):
            (require_current if read_only else upgrade)(engine, url)
    except BaseException:
        engine.dispose()
        raise
    return Store(url, engine, writers)


def _readable(events: Iterable[RawEvent], rejected: list[Rejected]) -> Iterator[Event]:
    for index, source in enumerate(events):
        try:
            yield read_event(source)
        except EventError as fault:
            excerpt = source if isinstance(source, str | bytes) else repr(source)
            rejected.append(Rejected(index, str(fault), str(excerpt[:80])))
