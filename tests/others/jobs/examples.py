"""Spark's own examples in Python, as the pyspark package carries them, one after the other in one process.

What each prints, and how it ends, goes to ``printed/NAME.txt``. ``data/`` is what
the package brings; the files that it leaves out, which Spark's sources have below ``examples/src/main/resources``, are
made here.
"""

import contextlib
import os
import random
import runpy
import shutil
import socket
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyspark
from pyarrow import orc, parquet
from pyspark import SparkContext
from pyspark.sql import SparkSession
from pyspark.streaming import StreamingContext

FOLDER, *GROUPS = sys.argv[1:]
"""Where to be, and the folders of examples to run."""

HOME = Path(pyspark.__file__).parent
EXAMPLES = HOME / "examples" / "src" / "main" / "python"
RESOURCES = Path("examples/src/main/resources")

NETWORK = ("localhost", "{port}")
ARGUMENTS = {
    "structured_network_wordcount": NETWORK,
    "structured_network_wordcount_session_window": NETWORK,
    "structured_network_wordcount_windowed": (*NETWORK, "60"),
    "structured_sessionization": NETWORK,
    "network_wordcount": NETWORK,
    "network_wordjoinsentiments": NETWORK,
    "recoverable_network_wordcount": (*NETWORK, "checkpoint", "counts"),
    "sql_network_wordcount": NETWORK,
    "stateful_network_wordcount": NETWORK,
}
ELSEWHERE = ("__init__", "structured_kafka_wordcount", "hdfs_wordcount")
"""They need a broker, or somebody who puts files into a folder meanwhile."""

LINES = b"the happy cat saw the sad dog\nthe dog had fun\n"
PATIENCE = 10  # seconds that a stream has for them

FILES = {
    "people.txt": "Ann, 31\nBob, 17\nCas, 44\n",
    "people.json": '{"name":"Ann"}\n{"name":"Bob", "age":31}\n{"name":"Cas", "age":17}\n',
    "people.csv": "name;age;job\nAnn;31;Developer\nBob;44;Cook\n",
    "people.xml": "<people><person><name>Ann</name><age>15</age></person><person><name>Bob</name></person></people>",
    "kv1.txt": "".join(f"{number}\x01val_{number}\n" for number in (8, 4, 4, 12, 97)),
}


def make_resources() -> None:
    """Write the files that examples read and the package does not carry."""
    shutil.copytree(HOME / "data", "data", ignore=shutil.ignore_patterns("artifact-tests"))
    for name, text in FILES.items():
        (RESOURCES / name).parent.mkdir(parents=True, exist_ok=True)
        (RESOURCES / name).write_text(text)
    (RESOURCES / "dir1" / "dir2").mkdir(parents=True)
    for name in ("dir1/file1.parquet", "dir1/dir2/file2.parquet"):
        parquet.write_table(pa.table({"file": [Path(name).name]}), RESOURCES / name)
    then = datetime(2050, 6, 15, tzinfo=UTC).timestamp()  # an example looks for files of that month
    os.utime(RESOURCES / "dir1" / "file1.parquet", (then, then))
    users = pa.table({"name": ["Ann", "Bob"], "favorite_color": [None, "red"], "favorite_numbers": [[3, 9], []]})
    parquet.write_table(users, RESOURCES / "users.parquet")
    orc.write_table(users, RESOURCES / "users.orc")


@contextlib.contextmanager
def words() -> Iterator[int]:
    """A port that says ``LINES`` to whoever connects, and ends the streams when they had time for them."""
    with socket.create_server(("localhost", 0)) as server:
        server.settimeout(600)  # until Spark has started, on a busy machine too
        speaker = threading.Thread(target=_speak, args=(server,))
        speaker.start()
        try:
            yield server.getsockname()[1]
        finally:
            socket.create_connection(server.getsockname()).close()  # an example that failed has not come for them
            speaker.join()


def _speak(server: socket.socket) -> None:
    connection, _ = server.accept()
    with connection:
        connection.sendall(LINES)
        older = StreamingContext.getActive()
        time.sleep(PATIENCE)
        if older:
            older.stop(stopSparkContext=False)
        session = SparkSession._instantiatedSession
        for query in [] if older or session is None else session.streams.active:
            query.stop()


def run(example: Path) -> None:
    """Run one as ``python example.py`` would, and write down what it printed and how it ended."""
    arguments = ARGUMENTS.get(example.stem, ())
    with contextlib.ExitStack() as stack:
        printed = stack.enter_context(Path("printed", f"{example.parent.name}-{example.stem}.txt").open("w"))
        port = stack.enter_context(words()) if NETWORK[0] in arguments else 0
        stack.enter_context(contextlib.redirect_stdout(printed))
        random.seed(0)  # `randomSplit` without a seed takes one from here
        np.random.seed(0)
        sys.argv = [str(example), *(one.format(port=port) for one in arguments)]
        started = time.monotonic()
        try:
            runpy.run_path(str(example), run_name="__main__")
            end = "ended"
        except (Exception, SystemExit) as fault:
            end = f"ended by {type(fault).__name__}"
        print(end, file=printed)
        print(f"{example.stem}: {end}, {time.monotonic() - started:.0f} s", file=sys.stderr, flush=True)
    if context := SparkContext._active_spark_context:
        context.stop()


os.chdir(FOLDER)
# Rows come in one order only where one task runs after the other; a receiver of a stream takes a core for itself.
cores = 3 if any("streaming" in group for group in GROUPS) else 1
os.environ["PYSPARK_SUBMIT_ARGS"] = f"--master local[{cores}] pyspark-shell"
tempfile.tempdir = str(Path("passing").absolute())
for folder in ("passing", "printed"):
    Path(folder).mkdir()
make_resources()
for group in GROUPS:
    for one in sorted((EXAMPLES / group).glob("*.py")):
        if one.stem not in ELSEWHERE:
            run(one)
