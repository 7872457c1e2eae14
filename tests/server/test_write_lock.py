"""The processes of one server write in turn: two that share a folder stand for them here, locks of files being of those
who opened them."""

import itertools
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from headwater.server.intake.queue import WriteLock

_HOLDS = """
import sys, time
from pathlib import Path
from headwater.server.intake.queue import WriteLock
with WriteLock(Path(sys.argv[1])).hold(5):
    print("mine", flush=True)
    time.sleep(60)
"""


@pytest.fixture
def two(tmp_path: Path) -> Iterator[tuple[WriteLock, WriteLock]]:
    with closing(WriteLock(tmp_path)) as one, closing(WriteLock(tmp_path)) as other:
        yield one, other


def test_who_waits_is_next_though_the_one_before_comes_back_at_once(two: tuple[WriteLock, WriteLock]) -> None:
    order: list[int] = []
    start = threading.Barrier(2)

    def write(number: int) -> None:
        start.wait()
        for _ in range(10):
            with two[number].hold(10):
                order.append(number)
                time.sleep(0.01)

    threads = [threading.Thread(target=write, args=(number,)) for number in (0, 1)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(order) == [0] * 10 + [1] * 10
    assert sum(one != after for one, after in itertools.pairwise(order)) >= 15, order


def test_only_one_has_the_turn(two: tuple[WriteLock, WriteLock]) -> None:
    with two[0].hold(10):
        begun = time.monotonic()
        with two[1].hold(0.2):  # who has it may hang: then the database decides
            assert time.monotonic() - begun >= 0.2
    with two[1].hold(10):
        assert time.monotonic() - begun < 5


def test_a_process_that_dies_lets_go(tmp_path: Path) -> None:
    with subprocess.Popen([sys.executable, "-c", _HOLDS, str(tmp_path)], stdout=subprocess.PIPE, text=True) as holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == "mine\n"
        threading.Timer(0.2, holder.kill).start()
        begun = time.monotonic()
        with closing(WriteLock(tmp_path)) as turns, turns.hold(30):
            assert 0.1 < time.monotonic() - begun < 10


def test_a_process_alone_waits_for_nobody(tmp_path: Path) -> None:
    turns = WriteLock(None)
    with turns.hold(10), turns.hold(10):
        assert list(tmp_path.iterdir()) == []
