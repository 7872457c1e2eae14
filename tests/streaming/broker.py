"""A Kafka broker of our own: one node that is controller and broker, started by spark-submit with the jars of Kafka."""

import base64
import os
import signal
import socket
import subprocess
import time
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pyspark

from ..connectors import KAFKA
from ..ports import free_port

_SECONDS = 240.0
_PROPERTIES = """\
process.roles=broker,controller
node.id=1
listeners=PLAINTEXT://127.0.0.1:{port},CONTROLLER://127.0.0.1:{controller}
controller.listener.names=CONTROLLER
controller.quorum.voters=1@127.0.0.1:{controller}
listener.security.protocol.map=CONTROLLER:PLAINTEXT,PLAINTEXT:PLAINTEXT
log.dirs={folder}/data
offsets.topic.replication.factor=1
offsets.topic.num.partitions=1
transaction.state.log.replication.factor=1
transaction.state.log.min.isr=1
group.initial.rebalance.delay.ms=0
num.partitions=1
"""


@contextmanager
def running_broker(folder: Path) -> Iterator[str]:
    """The address of a broker that makes topics as they are used; its files are below ``folder``.

    Raises:
        RuntimeError: it ended, or does not answer in time; the message has the end of its log.
    """
    own = folder / "broker"
    (own / "data").mkdir(parents=True)
    port, controller = free_port(), free_port()
    (own / "server.properties").write_text(_PROPERTIES.format(port=port, controller=controller, folder=own))
    (own / "data" / "meta.properties").write_text(_formatted())
    with (own / "log").open("w") as log:
        started = subprocess.Popen(_command(own), stdout=log, stderr=log, start_new_session=True)
    try:
        _wait(started, port, own / "log")
        yield f"127.0.0.1:{port}"
    finally:
        os.killpg(started.pid, signal.SIGKILL)
        started.wait()


def _command(folder: Path) -> list[str]:
    submit = Path(pyspark.__file__).parent / "bin" / "spark-submit"
    options = ["--packages", KAFKA, "--driver-memory", "512m", "--class", "kafka.Kafka"]
    return [str(submit), *options, "spark-internal", str(folder / "server.properties")]


def _formatted() -> str:
    """The file that ``kafka-storage format`` writes into a folder of logs."""
    ids = [base64.urlsafe_b64encode(uuid.uuid4().bytes).decode().rstrip("=") for _ in range(2)]
    return f"version=1\ncluster.id={ids[0]}\nnode.id=1\ndirectory.id={ids[1]}\n"


def _wait(started: "subprocess.Popen[bytes]", port: int, log: Path) -> None:
    deadline = time.monotonic() + _SECONDS
    while time.monotonic() < deadline and started.poll() is None:
        with socket.socket() as probe:
            probe.settimeout(1)
            if probe.connect_ex(("127.0.0.1", port)) == 0 and "Kafka Server started" in log.read_text():
                return
        time.sleep(0.3)
    raise RuntimeError(f"The Kafka broker did not start in {_SECONDS:.0f} seconds:\n{log.read_text()[-2000:]}")
