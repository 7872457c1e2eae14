"""Taps without Java of headwater's own: a queue of this process, and nothing about RDDs."""

import queue
from collections.abc import Callable, Sequence
from typing import Any

from headwater.capture.rows import ExecutionRow, RddAction
from headwater.capture.settings import CaptureSettings


class QueueTap:
    """A tap whose executions wait in a queue when they have ended; their rows are made when they are polled.

    Of RDDs nothing is followed: what ``toJSON`` and a remote server say of one does not lead to its origins.
    """

    outlives_program = False

    def __init__(self, settings: CaptureSettings) -> None:
        self._settings = settings
        self._ended: queue.Queue[Callable[[], list[ExecutionRow]] | None] = queue.Queue()
        self._dropped = 0

    def rows(self, milliseconds: int) -> list[ExecutionRow] | None:
        """Return the next executions that ended, with their plans; None when there were none for that long."""
        try:
            found = self._ended.get(timeout=milliseconds / 1000) if milliseconds else self._ended.get_nowait()
        except queue.Empty:
            return self._released(everything=not milliseconds)
        return [] if found is None else found()

    def remember(self, data_frame: Any, checkpoint: Any = None) -> bool:
        """False: rows that leave a DataFrame are not followed."""
        return False

    def remember_json(self, data_frame: Any, rdd: Any) -> bool:
        """False: the rows of an RDD are not looked up."""
        return False

    def begin_action(self, action: RddAction) -> int:
        """Note an action on an RDD; a number for end_action(), 0 where RDDs are not seen."""
        return 0

    def end_action(self, number: int, failure: Any) -> None:
        """Note how an action ended; never called where none begins."""

    def keep_origins(self, rdd: Any) -> None:
        """Nothing is done: the lineage of RDDs is not looked up."""

    def dropped(self) -> int:
        """How many executions did not fit into the queue since this was last asked."""
        count, self._dropped = self._dropped, 0
        return count

    def refused(self) -> int:
        """Not known here."""
        return 0

    def pending(self) -> int:
        """How many executions wait to be polled."""
        return self._ended.qsize()

    def leave(self, command: Sequence[str], last_words: str, status_file: str = "") -> None:
        """Nobody would deliver it here."""

    def wake(self) -> None:
        """End a call of rows() that waits."""
        self._ended.put(None)

    def _put(self, rows: Callable[[], list[ExecutionRow]]) -> None:
        """Let rows wait to be made; where the queue is full they are counted only."""
        if self._ended.qsize() >= self._settings.queue:
            self._dropped += 1
        else:
            self._ended.put(rows)

    def _released(self, *, everything: bool) -> list[ExecutionRow] | None:
        """Return rows that were held back and need not wait longer."""
        return None
