"""One JVM for the dry runs of several jobs, each of which has a Python process and a SparkContext of its own.

A JVM keeps the environment, the folder and the settings that it was started with: jobs have one in common where these
are alike. The first of them starts it; it ends with a pipe that the caller holds.
"""

import hashlib
import json
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from headwater.capture.jvm.class_files import FOLDERS

_OFFER, _LEFT = "jvms.json", "jvm.json"
_PORT, _SECRET = "PYSPARK_GATEWAY_PORT", "PYSPARK_GATEWAY_SECRET"

_OF_CONTEXT = (
    "spark.app.name",
    "spark.default.parallelism",
    "spark.dynamicAllocation.",
    "spark.eventLog.",
    "spark.executor.",
    "spark.master",
    "spark.serializer",
    "spark.shuffle.",
    "spark.sql.",
    "spark.ui.",
)
"""Settings that a SparkContext or its sessions read from their conf alone; static ones of Spark SQL are so too."""

_OF_JOB = ("TMPDIR", FOLDERS, _PORT, _SECRET)
"""Variables of the environment that differ between dry runs."""


@dataclass(slots=True)
class SharedJvms:
    """The JVMs of several dry runs by what they were started with; their temporary files are in ``folder``."""

    folder: Path
    stdin: int
    _known: dict[str, Mapping[str, Any] | None] = field(default_factory=dict)

    def offer(self, folder: Path) -> None:
        """Write for a dry run which JVMs there are, and the pipe whose end is to be that of one which it starts."""
        offer = {"folder": str(self.folder), "stdin": self.stdin, "known": self._known}
        (folder / _OFFER).write_text(json.dumps(offer), "utf-8")

    def take_back(self, folder: Path) -> None:
        """Note the JVM that a dry run has left to others, or has made unfit for them."""
        with suppress(FileNotFoundError):
            self._known |= json.loads((folder / _LEFT).read_text("utf-8"))

    def forget(self) -> None:
        """Use none of them any more, since a job that was ended may be busy in one."""
        self._known.clear()


@contextmanager
def shared_jvms(folder: Path) -> Iterator[SharedJvms]:
    """Have JVMs for dry runs in common until the end of the block."""
    read, write = os.pipe()
    try:
        yield SharedJvms(folder, read)
    finally:
        os.close(write)
        os.close(read)


class JvmOffer:
    """The JVMs that a dry run may use, as its process finds them in its folder; without any it has its own."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        file = folder / _OFFER
        self._offer = json.loads(file.read_text("utf-8")) if file.exists() else None
        self._key = ""
        self._started: Mapping[str, Any] | None = None
        self._properties: Any = None

    def gateway(self, conf: Any) -> Any:
        """Return a gateway to a JVM for a Spark conf, which may be None; None where PySpark is to start its own."""
        if self._offer is None or _PORT in os.environ:
            return None
        settings = {} if conf is None else dict(conf.getAll())
        kept = {name: value for name, value in settings.items() if not name.startswith(_OF_CONTEXT)}
        environment = {name: value for name, value in os.environ.items() if name not in _OF_JOB}
        self._key = hashlib.sha256(json.dumps([kept, environment, os.getcwd()]).encode()).hexdigest()
        if known := self._offer["known"].get(self._key):
            with suppress(Exception):  # it has ended, or a job has shut its gateway
                return _connected(known)
        return self._start(kept, self._offer)

    def leave(self, jvm: Any, *, reusable: bool) -> None:
        """Leave the JVM to others, once it has the classes of dry runs; not where it has state that stays."""
        if not self._key:
            return
        if self._started:
            jvm.headwater.dryrun.JvmState.save(self._properties)
        if self._started or not reusable:
            (self._folder / _LEFT).write_text(json.dumps({self._key: self._started if reusable else None}), "utf-8")

    def _start(self, settings: Mapping[str, str], offer: Mapping[str, Any]) -> Any:
        from pyspark import SparkConf, java_gateway

        popen = java_gateway.Popen

        def start(command: list[str], **options: Any) -> Any:
            environment = {**options["env"], "TMPDIR": offer["folder"]}
            return popen(command, **{**options, "stdin": offer["stdin"], "env": environment})

        java_gateway.Popen = start
        try:
            gateway = java_gateway.launch_gateway(SparkConf(loadDefaults=False).setAll(list(settings.items())))
        finally:
            java_gateway.Popen = popen
        parameters = gateway.gateway_parameters
        self._started = {"port": parameters.port, "secret": parameters.auth_token}
        self._properties = gateway.jvm.java.lang.System.getProperties().clone()
        return gateway


def _connected(address: Mapping[str, Any]) -> Any:
    """A gateway to a JVM that is there, which is put back to what it was before its first job."""
    from pyspark.java_gateway import launch_gateway

    os.environ.update({_PORT: str(address["port"]), _SECRET: address["secret"]})
    try:
        gateway = launch_gateway()
    finally:
        del os.environ[_PORT], os.environ[_SECRET]
    gateway.jvm.headwater.dryrun.JvmState.reset()
    return gateway
