"""A history as an experiment: its jobs run on files of changed tables, and ``out`` is read back."""

from collections.abc import Collection
from contextlib import AbstractContextManager, nullcontext

from tests.extract.case_tables import session_of_its_own
from tests.oracle.histories.history import History
from tests.oracle.histories.running import work
from tests.oracle.judging import Result
from tests.oracle.live import LiveFrame
from tests.oracle.rows import CHANGES, SOURCES, Source
from tests.oracle.written import ROWS_AS_THEY_ARE, Files, fresh

from headwater.model import ColumnLineage


class HistoryExperiment:
    """A history whose jobs all run again for each change, outside of the application that was watched."""

    sources = SOURCES
    changes = tuple(CHANGES)[:2]  # each takes seconds
    databases = 0

    def __init__(self, files: Files, history: History, lineage: ColumnLineage) -> None:
        self.lineage, self._files, self._history = lineage, files, history

    def result(self, changed: Collection[Source] = (), change: str = "") -> Result:
        """Run the history with ``change`` made to these columns; the rows that its last job writes."""
        folder = fresh(self._files.folder / "histories")
        self._files.show(frozenset(changed), change)
        try:
            with session_of_its_own(self._files.spark) as session:
                work(session, self._history.jobs, "again", folder)
                return LiveFrame(self._files.world, session.read.parquet(f"{folder}/out")).result()
        finally:
            self._files.show(*ROWS_AS_THEY_ARE)

    def optimized(self) -> ColumnLineage:
        """The lineage as it is: each job has plans of its own."""
        return self.lineage

    def scattered(self, number: int) -> AbstractContextManager[None]:
        """The one database."""
        return nullcontext()
