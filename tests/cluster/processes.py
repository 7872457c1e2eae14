"""A cluster of Spark on this machine: its standalone master and workers, and a store with the interface of S3.

Each is a process of its own that listens on 127.0.0.1 only, and ends with the process that started it, however that
one ends. Where Linux lets it, a worker sees an empty folder in place of the driver's, as on a machine of its own.
"""

import os
import signal
import subprocess
import time
import urllib.request
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import psutil
import pyspark

from tests.connectors import S3A
from tests.ports import free_port

HOST = "127.0.0.1"
MOTO = Path(__file__).resolve().parents[2] / ".venv-moto" / "bin" / "moto_server"
"""The server of S3, which `make test-cluster` installs."""

_SPARK_CLASS = Path(pyspark.__file__).parent / "bin" / "spark-class"
_PATIENCE = 60.0  # seconds until a process listens
_CREDENTIAL = "Credential=a/20260101/us-east-1/s3/aws4_request"  # moto asks for no signature
_END_WITH_PARENT = ["setpriv", "--pdeathsig", "TERM"]
_EXECUTOR = "CoarseGrainedExecutorBackend"


@contextmanager
def running(command: list[str], folder: Path, **environment: str) -> Iterator["subprocess.Popen[bytes]"]:
    """A process with a group of its own, whose output is in ``folder/log``; it is killed with its group at the end."""
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / "log").open("wb") as log:
        process = subprocess.Popen(
            command,
            cwd=folder,
            env={**os.environ, "SPARK_LOCAL_IP": HOST, "SPARK_DAEMON_MEMORY": "256m", **environment},
            stdout=log,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
    try:
        yield process
    finally:
        kill_group(process)


def kill_group(process: "subprocess.Popen[bytes]") -> None:
    """Kill a process and its group (SIGKILL), as the loss of a machine does."""
    if process.poll() is None:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def wait_for(port: int, process: "subprocess.Popen[bytes]", folder: Path) -> None:
    """Wait until a process listens on a port.

    Raises:
        RuntimeError: it has ended, or does not listen after a minute.
    """
    end = time.monotonic() + _PATIENCE
    while time.monotonic() < end and process.poll() is None:
        found = psutil.net_connections("tcp")
        if any(one.status == psutil.CONN_LISTEN and one.laddr.port == port for one in found):
            return
        time.sleep(0.1)
    raise RuntimeError(f"nothing listens on {port}: {(folder / 'log').read_text()[-2000:]}")


@dataclass(frozen=True, slots=True)
class ObjectStore:
    """A server of S3 with the bucket ``lake``, and the settings by which Spark reaches it."""

    endpoint: str

    def put(self, path: str, content: bytes) -> None:
        """Write an object of the bucket, as a client that is no Spark does."""
        self._request("PUT", path, content)

    def delete(self, path: str) -> None:
        """Delete an object of the bucket."""
        self._request("DELETE", path)

    def _request(self, method: str, path: str, content: bytes | None = None) -> None:
        # By default the content would be that of a form.
        headers = {"Content-Type": "application/octet-stream", "Authorization": "AWS4-HMAC-SHA256 " + _CREDENTIAL}
        request = urllib.request.Request(f"{self.endpoint}/lake/{path}", content, headers, method=method)
        urllib.request.urlopen(request, timeout=30).close()

    @property
    def settings(self) -> dict[str, str]:
        """Settings of Spark for ``s3a://lake/``."""
        s3a = {
            "endpoint": self.endpoint,
            "endpoint.region": "us-east-1",
            "path.style.access": "true",
            "access.key": "a",
            "secret.key": "b",
            "aws.credentials.provider": "org.apache.hadoop.fs.s3a.SimpleAWSCredentialsProvider",
        }
        return {**S3A, **{f"spark.hadoop.fs.s3a.{key}": value for key, value in s3a.items()}}


@contextmanager
def object_store(folder: Path) -> Iterator[ObjectStore]:
    """A server of S3 that forgets everything at its end."""
    port = free_port()
    with running([*_END_WITH_PARENT, str(MOTO), "-H", HOST, "-p", str(port)], folder) as process:
        wait_for(port, process, folder)
        store = ObjectStore(f"http://{HOST}:{port}")
        store.put("", b"")  # the bucket
        yield store


@dataclass
class Cluster:
    """A master with workers of one core; ``folder`` is the driver's, of which workers see nothing."""

    master: str
    folder: Path
    stack: ExitStack
    workers: list["subprocess.Popen[bytes]"] = field(default_factory=list)

    def add_worker(self, memory: str = "1g") -> None:
        """Start one more worker, with one core."""
        folder = self.folder.parent / f"worker{len(self.workers)}"
        words = ["--host", HOST, "--cores", "1", "--memory", memory, "--work-dir", str(folder / "work")]
        words += ["--port", "0", "--webui-port", "0", self.master]
        command = [*_END_WITH_PARENT, str(_SPARK_CLASS), "org.apache.spark.deploy.worker.Worker", *words]
        local = {"SPARK_LOCAL_DIRS": str(folder / "local"), "TMPDIR": str(folder)}
        self.workers.append(self.stack.enter_context(running(_without(self.folder, command), folder, **local)))

    def kill_worker(self) -> None:
        """Kill the first worker that lives, with its executors."""
        kill_group(next(one for one in self.workers if one.poll() is None))

    def executors(self) -> list[psutil.Process]:
        """The processes of the executors of all workers."""
        alive = [psutil.Process(one.pid) for one in self.workers if one.poll() is None]
        children = [child for one in alive for child in one.children(recursive=True)]
        running = [one for one in children if one.status() != psutil.STATUS_ZOMBIE]
        return [one for one in running if any(_EXECUTOR in word for word in one.cmdline())]


def _without(folder: Path, command: list[str]) -> list[str]:
    """A command that sees an empty folder in place of one that is there, where Linux lets it."""
    unshare = ["unshare", "--mount", "--map-root-user"]
    if subprocess.run([*unshare, "true"], capture_output=True, check=False).returncode:
        return command
    return [*unshare, "sh", "-c", 'mount -t tmpfs none "$0" && exec "$@"', str(folder), *command]


@contextmanager
def cluster(folder: Path, workers: int = 2) -> Iterator[Cluster]:
    """A master and workers below a folder."""
    port, driver = free_port(), folder / "driver"
    driver.mkdir(parents=True)
    words = ["--host", HOST, "--port", str(port), "--webui-port", "0"]
    command = [*_END_WITH_PARENT, str(_SPARK_CLASS), "org.apache.spark.deploy.master.Master", *words]
    with ExitStack() as stack:
        process = stack.enter_context(running(command, folder / "master"))
        wait_for(port, process, folder / "master")
        found = Cluster(f"spark://{HOST}:{port}", driver, stack)
        for _ in range(workers):
            found.add_worker()
        yield found


def addresses_listened_on() -> set[str]:
    """The addresses on which this process and all below it listen."""
    me = psutil.Process()
    every = [me, *me.children(recursive=True)]
    found: set[str] = set()
    for one in every:
        try:
            found |= {at.laddr.ip for at in one.net_connections("tcp") if at.status == psutil.CONN_LISTEN}
        except psutil.Error:  # it has ended since
            continue
    return found
