"""Put first on PYTHONPATH by ``headwater run``: Python imports it before the job's first line.

It takes itself out of the way (the job, its workers and the programs it starts see the path as it was),
lets the user's own sitecustomize run, and waits for pyspark to be imported.
"""

import importlib
import os
import sys

_HERE = os.path.dirname(__file__)


def _step_aside() -> None:
    sys.path[:] = [entry for entry in sys.path if entry != _HERE]
    path = os.environ.get("PYTHONPATH", "")
    if path == _HERE:
        del os.environ["PYTHONPATH"]
    else:
        as_it_was = path.removeprefix(_HERE + os.pathsep)
        os.environ["PYTHONPATH"] = "" if as_it_was == _HERE else as_it_was
    own = sys.modules.pop("sitecustomize")
    try:
        importlib.import_module("sitecustomize")
    except ModuleNotFoundError as missing:
        if missing.name != "sitecustomize":
            raise
    finally:
        sys.modules.setdefault("sitecustomize", own)


try:
    from headwater.capture.startup import wait_for_pyspark

    wait_for_pyspark()
except Exception as error:
    if sys.stderr is not None:
        print(f"headwater is off: {error!r}", file=sys.stderr)
_step_aside()
