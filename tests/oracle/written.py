"""Cases that write: the tables lie in files, a change swaps the files, and what was written is read back."""

from collections.abc import Collection
from contextlib import AbstractContextManager, nullcontext
from itertools import count
from pathlib import Path
from tempfile import mkdtemp
from typing import Any

from tests.extract.case_file import Case
from tests.extract.case_run import run
from tests.extract.case_tables import session_of_its_own
from tests.oracle.judging import FIRST, Result, source_of
from tests.oracle.live import LiveFrame, World
from tests.oracle.rows import CHANGES, SOURCES, TABLES, Source

from headwater.model import ColumnLineage

ROWS_AS_THEY_ARE: tuple[frozenset[Source], str] = (frozenset(), "")


class Files:
    """The three tables of the catalog, which read files of this or that change."""

    def __init__(self, spark: Any, world: World, live: Any, folder: Path) -> None:
        self.world, self.spark, self.folder = world, spark, folder
        self._live, self._number = live, count()
        self._written: dict[tuple[str, frozenset[Source], str], str] = {}

    def show(self, changed: frozenset[Source], change: str) -> None:
        """Let the tables be changed in that way."""
        for name in TABLES:
            own = frozenset(source for source in changed if source[0] == name)
            location = self._location(name, own, change if own else "")
            self.spark.sql(f"ALTER TABLE {name} SET LOCATION '{location}'")
            self.spark.catalog.refreshTable(name)

    def _location(self, name: str, changed: frozenset[Source], change: str) -> str:
        key = (name, changed, change)
        if key not in self._written:
            self._written[key] = str(self.folder / "changed" / f"{next(self._number)}" / name)
            with self.world.changed(changed, change):
                self._live.table(name).write.parquet(self._written[key])
        return self._written[key]


class WrittenExperiment:
    """A case that is run from its first statement to its last for each change."""

    sources = SOURCES
    changes = tuple(CHANGES)[:FIRST]  # each takes seconds
    databases = 0

    def __init__(self, files: Files, case: Case, lineage: ColumnLineage) -> None:
        self.lineage, self._files, self._case = lineage, files, case

    def result(self, changed: Collection[Source] = (), change: str = "") -> Result:
        """Run the case with ``change`` made to these columns; the rows that it writes."""
        self._files.show(frozenset(changed), change)
        folder = fresh(self._files.folder / "runs")
        try:
            with session_of_its_own(self._files.spark) as session:
                frame = run(self._case, session, folder)
                found = self._read(session, folder) if frame is None else frame
                return LiveFrame(self._files.world, found).result()
        finally:
            self._files.show(*ROWS_AS_THEY_ARE)

    def optimized(self) -> ColumnLineage:
        """The lineage as it is: what a write optimizes is not looked at."""
        return self.lineage

    def scattered(self, number: int) -> AbstractContextManager[None]:
        """The one database."""
        return nullcontext()

    def _read(self, session: Any, folder: Path) -> Any:
        """The output, its columns in the order of the lineage.

        Raises:
            LookupError: there is no table and there are no files of that name.
        """
        names = tuple(self.lineage.fields)
        found = self._table(session)
        frame = session.table(found) if found else _files(session, folder, self._case.output)
        if not set(names) <= set(frame.columns):
            frame = frame.toDF(*names)
        return frame.select(*(f"`{name}`" for name in names))

    def _table(self, session: Any) -> str:
        databases = [database.name for database in session.catalog.listDatabases()]
        names = (f"{database}.{self._case.output}" for database in ("default", *databases))
        return next((name for name in names if session.catalog.tableExists(name)), "")


def fresh(folder: Path) -> Path:
    """A new and empty folder in this one."""
    folder.mkdir(parents=True, exist_ok=True)
    return Path(mkdtemp(dir=folder))


def _files(session: Any, folder: Path, output: str) -> Any:
    """The files of a dataset below the case's own folder, in their format."""
    for path in (path for path in folder.rglob(output) if path.is_dir()):
        for data in path.rglob("part-*"):
            kind = {".txt": "text", "": "text"}.get(data.suffix, data.suffix[1:])
            return session.read.format(kind).load(str(path))
    raise LookupError(f"nothing called {output!r} was written; expected a table or files of that name")


def reads_only_the_tables(lineage: ColumnLineage) -> bool:
    """Whether every edge begins in one of the three: a case may also read what it wrote itself."""
    edges = lineage.dataset.union(*lineage.fields.values())
    return {source_of(edge.input)[0] for edge in edges} <= set(TABLES)
