"""Run any Python job unchanged, watched: the process becomes the job's own interpreter.

Nothing of headwater is between the job and the world: exit code, stdin, arguments, ``__main__``, tracebacks
and signals are Python's own, because the job is started by ``exec`` with one folder more on PYTHONPATH.

It is the main file of spark-submit too: ``spark-submit [OPTIONS] …/capture/submit.py job.py ARGS``. The settings are
then those of the environment (``HEADWATER_STORE``, …) and of the Spark conf.
"""

import contextlib
import os
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from headwater.capture.java import has_java, java_home
from headwater.capture.settings import capture_settings, require_back_ends
from headwater.errors import HeadwaterError, SettingError

_SITE = Path(__file__).parent / "site"


def run(job: Sequence[str], settings: Mapping[str, object]) -> None:
    """Become the interpreter that runs ``job``: a file and its arguments, or ``-m``, a module and its arguments.

    ``settings`` are those of `CaptureSettings`, None where none are set. Returns never.

    Raises:
        SettingError: there is no such job, or a setting cannot be used.
    """
    if not job:
        raise SettingError("No job was named; expected: headwater run [OPTIONS] job.py [ARGS…].")
    if job[0] != "-m" and not Path(job[0]).exists():
        raise SettingError(f"There is no job at {job[0]}; expected a Python file, as in: headwater run job.py.")
    require_back_ends(capture_settings(settings, {}, "--{}"))
    for stream in (sys.stdout, sys.stderr):
        if stream is not None:  # a closed one is None
            with contextlib.suppress(OSError, ValueError):
                stream.flush()
    os.execve(sys.executable, [sys.executable, *job], environment(settings))


def environment(settings: Mapping[str, object]) -> dict[str, str]:
    """The environment of a watched job: this one, the settings, and the folder of ``sitecustomize``."""
    found = dict(os.environ)
    for name, value in settings.items():
        if value is not None:
            found[f"HEADWATER_{name.upper()}"] = str(value)
    # An empty entry of PYTHONPATH is the working folder, an empty PYTHONPATH is none: the folder twice stands for that.
    path = [found["PYTHONPATH"] or str(_SITE)] if "PYTHONPATH" in found else []
    found["PYTHONPATH"] = os.pathsep.join([str(_SITE), *path])
    started_by_spark_submit = "PYSPARK_GATEWAY_PORT" in found
    home = None if started_by_spark_submit or has_java() else java_home()
    if home is not None:
        found["JAVA_HOME"] = home
    return found


def main() -> None:
    """Become the interpreter that runs the job named first, watched."""
    try:
        run(sys.argv[1:], {})
    except HeadwaterError as error:
        sys.exit(f"headwater: {error}")


if __name__ == "__main__":
    main()
