"""Lines that ran and those that did not, without Spark."""

import runpy
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from types import CodeType

import pytest

from headwater.dryrun.lines import Lines

JOB = """\
import part

def never():
    return 1

def udf(text):
    return text

for one in []:
    print(one)
if part.choose(True):
    done = True
else:
    done = False
"""
PART = """\
def choose(first):
    if first:
        return 1
    return 2

def unused():
    return 3
"""


@pytest.fixture
def unexecuted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[Sequence[CodeType]], list[str]]:
    """Run the job and return its lines that never ran, without functions of workers."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [str(tmp_path), *sys.path])
    monkeypatch.delitem(sys.modules, "part", raising=False)
    (tmp_path / "job.py").write_text(JOB)
    (tmp_path / "part.py").write_text(PART)

    def run(workers: Sequence[CodeType]) -> list[str]:
        earlier = sys.gettrace()
        job = str(tmp_path / "job.py")
        lines = Lines(tmp_path, {job: compile(JOB, job, "exec")})
        lines.start()
        try:
            runpy.run_path(str(tmp_path / "job.py"))
        finally:
            lines.stop()
            sys.settrace(earlier)
        return [str(one) for one in lines.unexecuted(workers)]

    return run


def test_lines_that_no_loop_branch_or_call_reached_are_named(
    unexecuted: Callable[[Sequence[CodeType]], list[str]],
) -> None:
    assert unexecuted(()) == ["job.py:4", "job.py:7", "job.py:10", "job.py:14", "part.py:4"]


def test_a_function_of_workers_is_no_line_of_the_driver(
    unexecuted: Callable[[Sequence[CodeType]], list[str]], tmp_path: Path
) -> None:
    module = compile(JOB, str(tmp_path / "job.py"), "exec")
    udf = next(one for one in module.co_consts if isinstance(one, CodeType) and one.co_name == "udf")
    assert "job.py:7" not in unexecuted((udf,))
