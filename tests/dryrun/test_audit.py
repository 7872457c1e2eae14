"""Calls that leave the process, in one of its own, since an audit hook stays until the process ends."""

import json
import subprocess
import sys

import pytest

AUDITED = """\
import json, sys
from headwater.dryrun.audit import Audit
from headwater.dryrun.report import Findings
from headwater.errors import DryRunError

findings = Findings()
Audit(sys.argv[1], findings).start()
for code in sys.argv[2:]:
    ended = True
    try:
        exec(compile(code, "job.py", "exec"), {})
    except DryRunError as error:
        print(error, file=sys.stderr)
        ended = False
    print(json.dumps([code, [[one.place, one.call, one.reason] for one in findings.refusals], ended]), flush=True)
    findings.refusals.clear()
"""

REFUSED = (
    ("open('new.txt', 'w')", "open", "it would change new.txt"),
    ("open('there.txt', 'r+')", "open", "it would change there.txt"),
    ("import pathlib; pathlib.Path('new').mkdir()", "os.mkdir", "it would change new"),
    ("import os; os.makedirs('new', exist_ok=True)", "os.mkdir", "it would change new"),
    ("import os; os.rename('there.txt', 'inside/x')", "os.rename", "it would change there.txt"),
    ("import shutil; shutil.rmtree('inside/../')", "shutil.rmtree", "it would change inside/../"),
    ("import os; os.system('true')", "os.system", "it would start true"),
    ("import subprocess; subprocess.run(['true', 'x'])", "subprocess.Popen", "it would start true x"),
    ("import socket; socket.create_connection(('192.0.2.1', 9))", "socket.connect", "it would reach 192.0.2.1"),
    ("import urllib.request as r; r.urlopen('http://127.0.0.1:9')", "socket.connect", "it would reach 127.0.0.1"),
    (
        "import socket; socket.socket(2, 2).sendto(b'', ('192.0.2.1', 9))",
        "socket.sendto",
        "it would reach 192.0.2.1",
    ),
    ("import socket; socket.socket(1).connect('/run/x.sock')", "socket.connect", "it would reach /run/x.sock"),
    ("import os; os.fork()", "os.fork", "it would start another process"),
    ("import os; os.kill(1, 9)", "os.kill", "it would send signal 9 to process 1"),
    ("open('/dev/mem', 'r+b')", "open", "it would change /dev/mem"),
    ("import sqlite3; sqlite3.connect('new.db')", "sqlite3.connect", "it would change new.db"),
)
COPIER = "one = t.Thread(None, shutil.copy, 'a', ('there.txt', 'new.txt')); one.start(); one.join()"
READER = "P(1, 'a').submit(r.urlopen, 'http://127.0.0.1:9').exception()"
IN_THREADS = (
    (f"import shutil, threading as t; {COPIER}", "open", "it would change new.txt"),
    (
        f"from concurrent.futures import ThreadPoolExecutor as P; import urllib.request as r; {READER}",
        "socket.connect",
        "it would reach 127.0.0.1",
    ),
)
HARMLESS = (
    "assert open('there.txt').read() == 'there'",
    "open('inside/new.txt', 'w').close()",
    "open('/dev/null', 'w').close()",
    "import sqlite3; sqlite3.connect(':memory:')",
    "open('/dev/stdout', 'w').close()",
    "import os; os.kill(os.getpid(), 0)",
    "import platform; platform.processor(); platform.architecture()",
    "import os; os.makedirs('inside/a/b')",
)
Refusals = dict[str, tuple[list[list[str]], bool]]
"""The place, event and reason of each refusal, by code; and whether the code went on to its end."""


@pytest.fixture(scope="module")
def refused(tmp_path_factory: pytest.TempPathFactory) -> Refusals:
    """The refusals of code that runs with ``inside`` as the folder it may use."""
    folder = tmp_path_factory.mktemp("audited")
    (folder / "inside").mkdir()
    (folder / "there.txt").write_text("there")
    command = [sys.executable, "-c", AUDITED, "inside", *(code for code, *_ in (*REFUSED, *IN_THREADS)), *HARMLESS]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False, timeout=120)
    assert done.returncode == 0, done.stderr
    assert sorted(one.name for one in folder.iterdir()) == ["inside", "there.txt"]
    assert (folder / "there.txt").read_text() == "there"
    return {code: (refusals, ended) for code, refusals, ended in map(json.loads, done.stdout.splitlines())}


@pytest.mark.parametrize(("code", "event", "reason"), REFUSED)
def test_a_call_that_changes_something_is_refused(refused: Refusals, code: str, event: str, reason: str) -> None:
    assert refused[code] == ([["job.py:1", event, reason]], event == "os.mkdir")


@pytest.mark.parametrize(("code", "event", "reason"), IN_THREADS)
def test_a_thread_without_a_line_of_the_job_is_refused(refused: Refusals, code: str, event: str, reason: str) -> None:
    ((place, *rest),), ended = refused[code]
    assert rest == [event, reason]
    assert place.startswith("thread a")
    assert ended


@pytest.mark.parametrize("code", HARMLESS)
def test_a_call_that_changes_nothing_goes_on(refused: Refusals, code: str) -> None:
    assert refused[code] == ([], True)
