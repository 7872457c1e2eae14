"""The lines of a job that ran, and those that did not."""

import os
import sys
import threading
from collections.abc import Collection, Iterator, Mapping
from pathlib import Path
from types import CodeType, FrameType
from typing import Any

from headwater.dryrun.places import is_of_job, shown
from headwater.dryrun.report import UnexecutedLines


class Lines:
    """Notes the lines that run of the files below the job's folder, from start() to stop().

    ``codes`` are the job's own, by their files: of those all lines count.
    """

    def __init__(self, folder: Path, codes: Mapping[str, CodeType]) -> None:
        self._job = {os.path.realpath(file): code for file, code in codes.items()}
        self._folder = os.path.realpath(folder) + os.sep
        self._ran: dict[str, set[int]] = {}
        self._codes: dict[str, set[CodeType]] = {}
        self._of_job: dict[str, bool] = {}

    def start(self) -> None:
        """Begin with this thread and all to come."""
        threading.settrace(self._called)
        sys.settrace(self._called)

    def stop(self) -> None:
        """End with this thread and all to come."""
        sys.settrace(None)
        threading.settrace(None)

    def unexecuted(self, elsewhere: Collection[CodeType] = ()) -> Iterator[UnexecutedLines]:
        """The lines that never ran: all of the job's own; of other files those in functions that did run.

        ``elsewhere`` are functions that Spark's workers run, which is nothing of the driver's.
        """
        workers = {(os.path.realpath(code.co_filename), code.co_firstlineno) for code in elsewhere}
        for file in dict.fromkeys([*self._job, *sorted(self._codes)]):
            yield from self._unexecuted_of(file, {line for name, line in workers if name == file})

    def _unexecuted_of(self, file: str, workers: Collection[int]) -> Iterator[UnexecutedLines]:
        entered = {code.co_firstlineno for code in self._codes.get(file, ())}
        code = self._job.get(file) or compile(Path(file).read_bytes(), file, "exec")
        owned = [
            (line, line in self._ran.get(file, ()))
            for one in _codes(code, workers)
            if file in self._job or one.co_firstlineno in entered
            for line in _lines(one)
        ]
        ran = {line for line, did in owned if did}
        for first, last in _ranges({line: line in ran for line, _ in owned}):
            yield UnexecutedLines(shown(file), first, last)

    def _called(self, frame: FrameType, event: str, _: Any) -> Any:
        code = frame.f_code
        if not self._is_watched(code.co_filename):
            return None
        file = os.path.realpath(code.co_filename)
        self._codes.setdefault(file, set()).add(code)
        ran = self._ran.setdefault(file, set())

        def passed(inner: FrameType, event: str, _: Any) -> Any:
            ran.add(inner.f_lineno)
            return passed

        return passed

    def _is_watched(self, file: str) -> bool:
        found = self._of_job.get(file)
        if found is None:
            whole = os.path.realpath(file)
            found = self._of_job[file] = whole in self._job or (is_of_job(file) and whole.startswith(self._folder))
        return found


def _codes(code: CodeType, workers: Collection[int]) -> Iterator[CodeType]:
    """A code and those inside it, without the functions that begin at a line of ``workers``."""
    yield code
    for one in code.co_consts:
        if isinstance(one, CodeType) and one.co_firstlineno not in workers:
            yield from _codes(one, workers)


def _lines(code: CodeType) -> set[int]:
    """The lines of a code, without that of a function's ``def``, which its call does not pass."""
    lines = {line for _, _, line in code.co_lines() if line}
    return lines if code.co_name in ("<module>", "<lambda>") else lines - {code.co_firstlineno}


def _ranges(ran: dict[int, bool]) -> Iterator[tuple[int, int]]:
    """The first and last line of each stretch that did not run.

    >>> list(_ranges({1: True, 2: False, 4: False, 5: True, 6: False}))
    [(2, 4), (6, 6)]
    """
    first = last = 0
    for line in sorted(ran):
        if ran[line] and first:
            yield first, last
        first, last = (0, 0) if ran[line] else (first or line, line)
    if first:
        yield first, last
