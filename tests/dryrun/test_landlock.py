"""Writes that no audit hook of Python sees, in processes of their own, since what the kernel refuses stays refused."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from tests.capture.conftest import PYTHON, SPARK
from tests.dryrun.conftest import DryJobs

CONFINED = """\
import sys
from headwater.dryrun.landlock import confine, start_programs_unconfined

start_programs_unconfined()
print(confine(sys.argv[1]), flush=True)
import ctypes, os, shutil, subprocess, threading
from pyspark import java_gateway

C = ctypes.CDLL(None)
for code in sys.argv[2:]:
    try:
        result = eval(code)
    except OSError as error:
        result = type(error).__name__
    print(result, flush=True)
"""

REFUSED = {
    "C.creat(b'new.txt', 0o644)": "-1",
    "C.truncate(b'there.txt', 0)": "-1",
    "C.unlink(b'there.txt')": "-1",
    "C.rename(b'there.txt', b'inside/there.txt')": "-1",
    "open('there.txt', 'a')": "PermissionError",
    "subprocess.run(['touch', 'new.txt'], stderr=-3).returncode": "1",
}
ALLOWED = {
    "open('there.txt').read()": "there",
    "C.creat(b'inside/new.txt', 0o644) > 0": "True",
    "os.makedirs('inside/a/b')": "None",
    "os.rename('inside/new.txt', 'inside/a/b/new.txt')": "None",
    "shutil.rmtree('inside/a')": "None",
    "open('/dev/null', 'w').close()": "None",
    "java_gateway.Popen(['touch', 'by_program.txt']).wait()": "0",
}

JOB = f"""{SPARK}
import ctypes, threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

print("written by C:", ctypes.CDLL(None).creat(b"left.txt", 0o644))
with ThreadPoolExecutor(1, "writers") as pool:
    print(pool.submit(Path("left.txt").write_text, "x").exception())
spark.read.parquet("lake/orders").select("id").write.parquet("lake/ids")
"""


def has_landlock() -> bool:
    code = "import sys; from headwater.dryrun.landlock import confine; sys.exit(not confine(sys.argv[1]))"
    return subprocess.run([sys.executable, "-c", code, os.curdir], check=False).returncode == 0


pytestmark = pytest.mark.skipif(not has_landlock(), reason="this kernel has no Landlock")


def test_a_process_changes_files_of_one_folder_alone(tmp_path: Path) -> None:
    (tmp_path / "inside").mkdir()
    (tmp_path / "there.txt").write_text("there")
    command = [sys.executable, "-c", CONFINED, "inside", *REFUSED, *ALLOWED]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False, timeout=120)
    assert done.stdout.splitlines() == ["True", *REFUSED.values(), *ALLOWED.values()], done.stderr
    assert {one.name for one in tmp_path.iterdir()} == {"inside", "there.txt", "by_program.txt"}
    assert (tmp_path / "there.txt").read_text() == "there"


@pytest.mark.spark
def test_a_job_writes_nothing_by_libraries_in_c_and_by_threads_of_libraries(lake: DryJobs) -> None:
    lake.write(JOB)
    before = lake.state()
    ended = lake.run([PYTHON, "-m", "headwater", "plan", "job.py"])
    assert lake.state() == before
    assert "written by C: -1" in ended.err, ended.err
    assert "open is refused in a dry run: it would change left.txt (at thread writers_0)." in ended.err
    assert "lake/ids" in ended.out
    assert ended.code == 3


ELSEWHERE = """\
import sys
from pathlib import Path
from headwater.dryrun import process, report

sys.platform = sys.argv[1]
Path("run/answers.json").write_text("{}")
Path("run/schemas.json").write_text("{}")
process.run(Path("run").absolute(), Path("job.py").absolute(), [])
print(*report.read_report(Path("run/report.json").read_text()).unwatched)
"""


@pytest.mark.parametrize(("system", "said"), [("linux", ""), ("freebsd14", "no Landlock")])
def test_a_report_says_whether_the_kernel_refuses_what_libraries_write(tmp_path: Path, system: str, said: str) -> None:
    (tmp_path / "run").mkdir()
    (tmp_path / "job.py").write_text("rows = 1\n")
    command = [sys.executable, "-c", ELSEWHERE, system]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False, timeout=120)
    assert done.returncode == 0, done.stderr
    assert said in done.stdout if said else not done.stdout.strip()
