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
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyspark
from pyarrow import orc, parquet
from pyspark import SparkContext
from pyspark.sql import SparkSession
from pyspark.streaming import StreamingContext

sys.path.append(str(Path(__file__).parents[3]))  # the broker is that of our tests

from tests.connectors import KAFKA_JARS
from tests.streaming.broker import running_broker

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
    "hdfs_wordcount": ("arriving",),
    "structured_kafka_wordcount": ("{broker}", "subscribe", "lines"),
}

NEW = {"the happy cat saw the sad dog": "happy", "the dog had fun": "fun"}
"""The lines that a stream brings, each with a word that an example prints when it has processed it."""

SILENT = {"network_wordjoinsentiments": "0 total"}
"""It splits its list of words at blanks, where that has tabs, and so finds none of them."""

SESSIONS = ("structured_sessionization", "structured_network_wordcount_session_window")
"""They get one line: how long a session is depends on when the next came."""

PATIENCE = 300  # seconds until a line is processed, on a busy machine too

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
def streamed(example: str, arguments: tuple[str, ...]) -> Iterator[tuple[str, ...]]:
    """The arguments of an example that reads a stream, which gets the lines meanwhile and is ended after the last."""
    lines = [(line, SILENT.get(example, word)) for line, word in NEW.items()][: 1 if example in SESSIONS else None]
    with contextlib.ExitStack() as stack:
        if "{port}" in arguments:
            server = stack.enter_context(socket.create_server(("localhost", 0)))
            server.settimeout(PATIENCE)
            send, values = by_socket(server), {"port": server.getsockname()[1]}
        elif "{broker}" in arguments:
            values = {"broker": stack.enter_context(running_broker(Path("passing").absolute()))}
            send = by_topic(**values, topic=arguments[-1])
        else:
            send, values = by_files(Path(*arguments)), {}
        over = threading.Event()
        feeder = threading.Thread(target=feed, args=(send, lines, over))
        feeder.start()
        yield tuple(argument.format(**values) for argument in arguments)
        over.set()
        feeder.join()


def by_socket(server: socket.socket) -> Callable[[str], None]:
    """Send lines to whoever connects."""
    connections: list[socket.socket] = []

    def send(line: str) -> None:
        if not connections:
            connections.append(server.accept()[0])
        connections[0].sendall(f"{line}\n".encode())

    return send


def by_files(folder: Path) -> Callable[[str], None]:
    """Move a file for each line into a folder, which is made now."""
    folder.mkdir()

    def send(line: str) -> None:
        file = Path("passing", f"{len(line)}.txt")
        file.write_text(f"{line}\n")
        file.rename(folder / file.name)

    return send


def by_topic(broker: str, topic: str) -> Callable[[str], None]:
    """Send lines by the client of Kafka in Spark's own JVM; that before the stream begins makes the topic."""
    SparkContext._ensure_initialized()
    kafka = SparkContext._jvm.org.apache.kafka

    def send(line: str) -> None:
        strings = "org.apache.kafka.common.serialization.StringSerializer"
        settings = {"bootstrap.servers": broker, "key.serializer": strings, "value.serializer": strings}
        producer = kafka.clients.producer.KafkaProducer(settings)
        producer.send(kafka.clients.producer.ProducerRecord(topic, line))
        producer.close()

    send("")
    return send


def feed(send: Callable[[str], None], lines: list[tuple[str, str]], over: threading.Event) -> None:
    """Send each line when the one before it is in what the example prints, and end the stream after the last."""
    before = OUTPUT.stat().st_size

    def printed(word: str) -> bool:
        return word in OUTPUT.read_bytes()[before:].decode()

    wait(lambda: StreamingContext.getActive() is not None or printed("Batch: 0"), over)
    for line, word in lines:
        if not over.is_set():
            send(line)
        wait(partial(printed, word), over)
    time.sleep(1)  # the rest of what it prints about the last
    if older := StreamingContext.getActive():  # gracefully, or the example ends in the error of the batch that runs
        older.stop(stopSparkContext=False, stopGraceFully=True)
    session = SparkSession._instantiatedSession
    for query in [] if older or session is None else session.streams.active:
        query.stop()


def wait(condition: Callable[[], bool], over: threading.Event) -> None:
    """Return when a condition holds, or when the example or patience is at its end."""
    deadline = time.monotonic() + PATIENCE
    while not over.wait(0.2) and time.monotonic() < deadline and not condition():
        pass


def run(example: Path) -> None:
    """Run one as ``python example.py`` would, and write down what it printed and how it ended."""
    printed = Path("printed", f"{example.parent.name}-{example.stem}.txt")
    before = OUTPUT.stat().st_size
    with contextlib.ExitStack() as stack:
        arguments = ARGUMENTS.get(example.stem, ())
        if arguments:
            arguments = stack.enter_context(streamed(example.stem, arguments))
        random.seed(0)  # `randomSplit` without a seed takes one from here
        np.random.seed(0)
        sys.argv = [str(example), *arguments]
        started = time.monotonic()
        try:
            runpy.run_path(str(example), run_name="__main__")
            end = "ended"
        except (Exception, SystemExit) as fault:
            end = f"ended by {type(fault).__name__}"
    print(end, flush=True)
    printed.write_bytes(OUTPUT.read_bytes()[before:])
    print(f"{example.stem}: {end}, {time.monotonic() - started:.0f} s", file=sys.stderr, flush=True)
    if context := SparkContext._active_spark_context:
        context.stop()


os.chdir(FOLDER)
# Rows come in one order only where one task runs after the other; a receiver of a stream takes a core for itself.
streams = any("streaming" in group for group in GROUPS)
packages = f"--packages {','.join(KAFKA_JARS)}" if streams else ""
os.environ["PYSPARK_SUBMIT_ARGS"] = f"--master local[{3 if streams else 1}] {packages} pyspark-shell"
tempfile.tempdir = str(Path("passing").absolute())
for folder in ("passing", "printed"):
    Path(folder).mkdir()
# A stream's console is the standard output of Spark's JVM.
OUTPUT = Path("passing/output")
os.dup2(os.open(OUTPUT, os.O_CREAT | os.O_WRONLY | os.O_APPEND), sys.stdout.fileno())
sys.stdout.reconfigure(line_buffering=True)
make_resources()
for group in GROUPS:
    for one in sorted((EXAMPLES / group).glob("*.py")):
        if one.stem != "__init__":
            run(one)
