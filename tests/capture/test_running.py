"""``headwater run`` is the job itself: what plain Python does, for jobs without Spark."""

import os
import signal
import subprocess
import time

import pytest
from tests.capture.conftest import PYTHON, WATCHED, Ended, Jobs

PRINTING = """\
import os, sys
print(sys.argv, __name__, __file__, sys.path, os.getcwd(), os.environ.get("PYTHONPATH"))
print(sys.stdin.read(), sorted(name for name in sys.modules if name.startswith("pyspark")))
print("to the other side", file=sys.stderr)
"""


def same(jobs: Jobs, *job: object, **more: object) -> Ended:
    """The job's end, after it was seen to be the same with headwater as without."""
    plain, watched = jobs.plain(*job, **more), jobs.watched(*job, **more)
    assert (watched.code, watched.out, watched.err) == (plain.code, plain.out, plain.err)
    assert jobs.events() == []
    return watched


def test_a_job_sees_what_it_sees_without(jobs: Jobs) -> None:
    jobs.write(PRINTING)
    words = ("job.py", "--store", "x", "-m", "--", "--help", "täglich")
    ended = same(jobs, *words, stdin="two\nlines")
    assert (ended.code, ended.err) == (0, "to the other side\n")
    by_command = jobs.headwater("run", "--store", "y", "--quiet", *words, stdin="two\nlines")
    assert (by_command.code, by_command.out, by_command.err) == (ended.code, ended.out, ended.err)


@pytest.mark.parametrize("path", [None, "", ":", "given", ":given:"])
def test_the_module_path_is_as_before(jobs: Jobs, path: str | None) -> None:
    jobs.write(PRINTING)
    source = jobs.environment.pop("PYTHONPATH", None)
    entries = [entry for entry in (source, path) if entry is not None]
    same(jobs, "job.py", environment={"PYTHONPATH": os.pathsep.join(entries)} if entries else {})


@pytest.mark.parametrize(
    "ending",
    [
        "raise SystemExit(0)",
        "sys.exit(7)",
        "sys.exit('no more')",
        "raise KeyError('x') from ValueError('y')",
        "1 / 0",
        "os._exit(4)",
        "raise KeyboardInterrupt",
        "def f(): f()\nf()",
        "this is no Python",
    ],
)
def test_a_job_ends_as_without(jobs: Jobs, ending: str) -> None:
    jobs.write(f"import os, sys\n{ending}\n")
    same(jobs, "job.py")


def test_a_module_runs_as_without(jobs: Jobs) -> None:
    jobs.write(PRINTING, "shop/daily.py")
    ended = same(jobs, "-m", "shop.daily", "-x", "1")
    assert jobs.headwater("run", "-m", "shop.daily", "-x", "1").out == ended.out


def test_a_folder_with_a_main_file_runs_as_without(jobs: Jobs) -> None:
    jobs.write(PRINTING, "shop/__main__.py")
    same(jobs, "shop")


def test_children_of_the_job_see_nothing_of_it(jobs: Jobs) -> None:
    jobs.write(PRINTING, "child.py")
    jobs.write(
        "import multiprocessing, os, subprocess, sys\n"
        "subprocess.run([sys.executable, 'child.py'], check=True)\n"
        "def shout(x): print(x, os.environ.get('PYTHONPATH'), flush=True)\n"
        "if __name__ == '__main__':\n"
        "    for how in ('fork', 'spawn'):\n"
        "        one = multiprocessing.get_context(how).Process(target=shout, args=[how])\n"
        "        one.start(); one.join()\n"
    )
    assert same(jobs, "job.py").code == 0


@pytest.mark.parametrize("fault", ["", "raise RuntimeError('broken')", "import nowhere_to_be_found"])
def test_the_users_own_sitecustomize_runs(jobs: Jobs, fault: str) -> None:
    jobs.write(f"import builtins\nbuiltins.customized = __file__\n{fault}\n", "site/sitecustomize.py")
    jobs.write("import sys\nprint(customized, getattr(sys.modules.get('sitecustomize'), '__file__', ''))\n")
    path = os.pathsep.join(filter(None, [str(jobs.folder / "site"), jobs.environment.get("PYTHONPATH")]))
    plain = jobs.plain("job.py", environment={"PYTHONPATH": path})
    watched = jobs.watched("job.py", environment={"PYTHONPATH": path})
    assert watched.out.split()[0] == plain.out.split()[0] == str(jobs.folder / "site/sitecustomize.py")
    if not fault:
        assert (watched.out, watched.err) == (plain.out, plain.err)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGUSR1])
def test_a_signal_ends_the_job_as_without(jobs: Jobs, number: signal.Signals) -> None:
    jobs.write("import time\nprint('ready', flush=True)\ntime.sleep(60)\n")

    def killed(*command: object) -> tuple[int, str]:
        words = [str(word) for word in command]
        with subprocess.Popen(
            words,
            cwd=jobs.folder,
            env=jobs.environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            preexec_fn=lambda: signal.signal(number, signal.SIG_DFL),  # noqa: PLW1509 - nohup and a shell's & have children ignore some
        ) as process:
            assert process.stdout is not None
            assert process.stdout.readline() == "ready\n"
            time.sleep(0.5)
            process.send_signal(number)
            _, err = process.communicate(timeout=120)
            return process.returncode, err

    assert killed(*WATCHED, "job.py") == killed(PYTHON, "job.py")


def test_without_a_job_there_is_one_line_that_says_so(jobs: Jobs) -> None:
    ended = jobs.headwater("run", "jbo.py")
    assert ended.code == 1
    assert ended.err == "Error: There is no job at jbo.py; expected a Python file, as in: headwater run job.py.\n"


def test_a_setting_that_cannot_be_used_does_not_stop_the_job(jobs: Jobs) -> None:
    jobs.write("import sys\nsys.modules['x'] = 1\nprint('done')\n")
    assert same(jobs, "job.py", environment={"HEADWATER_QUEUE": "many"}).out == "done\n"


def test_the_start_of_the_interpreter_imports_next_to_nothing(jobs: Jobs) -> None:
    jobs.write("import sys\nprint(len([name for name in sys.modules if name.startswith('headwater')]), *sys.modules)")
    ended = jobs.watched("job.py")
    assert int(ended.out.split()[0]) <= 4
    assert not {"openlineage", "sqlalchemy", "attr", "importlib.abc"} & set(ended.out.split())


def test_the_job_runs_in_the_process_that_was_started(jobs: Jobs) -> None:
    jobs.write("import os\nprint(os.getpid(), os.getppid())\n")
    with subprocess.Popen(
        [*WATCHED, "job.py"],
        cwd=jobs.folder,
        env=jobs.environment,
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        out, _ = process.communicate(timeout=120)
    assert out.split() == [str(process.pid), str(os.getpid())]
