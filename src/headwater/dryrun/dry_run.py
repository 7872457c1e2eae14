"""Start a dry run in a process of its own, and read what it left: declarations of jobs, and a report."""

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import Any

from headwater.capture.java import SHORT_LIVED, has_java, java_home
from headwater.capture.jvm import class_files
from headwater.dryrun.report import ANSWERS, REPORT, SCHEMAS, DryRun
from headwater.dryrun.schemas import Schemas, write_schemas
from headwater.dryrun.shared_jvm import SharedJvms
from headwater.dryrun.sources import parts
from headwater.errors import DryRunError

_OWN = ("HEADWATER", "OPENLINEAGE", "SPARK_LOCAL_DIRS", "SPARK_REMOTE")


@dataclass(frozen=True, slots=True)
class Checkout:
    """Files of a repository below ``tree`` instead of its ``root``, and the folder there that a job is run in.

    Paths below the tree are called as they are below the root, so that lineage is the same from anywhere, and what the
    root has the schemas of is known here too. Packages that are installed from the root in place come from the tree.
    """

    tree: Path
    root: Path
    folder: Path

    def named(self, text: str) -> str:
        """Return a text of JSON with paths as they are below the root."""
        return text.replace(str(self.tree), json.dumps(str(self.root))[1:-1])

    def moved(self, schemas: Schemas) -> Schemas:
        """Return schemas with those of paths below the root under their paths in the tree too."""
        below = f"{self.root}{os.sep}"
        own = {self._place(path): one for path, one in schemas.items() if path.startswith(below)}
        return {**schemas, **own}

    def imports(self) -> Iterator[str]:
        """Return the folders of the tree from which Python imports what it would import from the root."""
        below = f"{self.root}{os.sep}"
        return (place for one in sys.path if one.startswith(below) and Path(place := self._place(one)).is_dir())

    def _place(self, path: str) -> str:
        return str(self.tree / Path(path).relative_to(self.root))


@dataclass(frozen=True, slots=True)
class Options:
    """``answers`` are results of actions by their place (``job.py:12``); ``seconds`` end a job that takes longer.

    ``schemas`` are those of tables and paths that the job cannot reach; ``checkout`` is where its files are, None
    where they are in their own place. ``jvms`` are those that it has in common with other dry runs.
    """

    answers: Mapping[str, Any] = field(default_factory=lambda: MappingProxyType({}))
    seconds: float = 600.0
    schemas: Schemas = field(default_factory=lambda: MappingProxyType({}))
    checkout: Checkout | None = None
    jvms: SharedJvms | None = None


def dry_run(job: Path, arguments: Sequence[str] = (), options: Options | None = None) -> DryRun:
    """Run a PySpark job without rows and without traces, and return the lineage that it would have.

    The job is a Python file, a notebook, an SQL file or a folder of those; ``arguments`` are its own. What it prints
    goes to standard error.

    Raises:
        SettingError: there is no such job.
        DryRunError: the process ended without a report: it was killed, or took longer than allowed.
    """
    chosen = options or Options()
    parts(job)
    # A JVM that ends still has files in it
    with tempfile.TemporaryDirectory(prefix="headwater-plan-", ignore_cleanup_errors=True) as name:
        folder = Path(os.path.realpath(name))
        (folder / "tmp").mkdir()
        (folder / ANSWERS).write_text(json.dumps(dict(chosen.answers)), "utf-8")
        checkout = chosen.checkout
        write_schemas(checkout.moved(chosen.schemas) if checkout else chosen.schemas, folder / SCHEMAS)
        if chosen.jvms:
            chosen.jvms.offer(folder)
        with _started([str(folder), str(job), *arguments], folder, chosen) as process:
            from headwater.dryrun.declarations import left_in  # a second of imports, while the JVM starts

            code = _ended(process, chosen)
        if not (folder / REPORT).exists():
            raise DryRunError(f"The job ended the process with exit code {code}, before a report was written.")
        return left_in(folder, checkout.named if checkout else str)


@contextmanager
def _started(words: list[str], folder: Path, options: Options) -> Iterator[subprocess.Popen[bytes]]:
    """The process of a dry run, which does not outlive the block."""
    checkout, jvms = options.checkout, options.jvms
    imports = tuple(checkout.imports()) if checkout else ()
    with subprocess.Popen(
        [sys.executable, "-m", "headwater.dryrun.process", *words],
        cwd=checkout.folder if checkout else None,
        env=_environment(folder, jvms.folder if jvms else folder / "tmp", imports),
        pass_fds=(jvms.stdin,) if jvms else (),
        stdout=sys.stderr,
        stdin=subprocess.DEVNULL,
    ) as process:
        try:
            yield process
        finally:
            process.kill()
    if jvms:
        jvms.take_back(folder)


def _ended(process: subprocess.Popen[bytes], options: Options) -> int:
    try:
        return process.wait(options.seconds)
    except subprocess.TimeoutExpired as late:
        if options.jvms:
            options.jvms.forget()
        raise DryRunError(f"The job did not end within {options.seconds:g} seconds; raise --timeout.") from late


def _environment(folder: Path, jvm_folder: Path, imports: Sequence[str]) -> dict[str, str]:
    """This environment without headwater's settings, with other places of temporary files and of imports."""
    found = {name: value for name, value in os.environ.items() if not name.startswith(_OWN)}
    classes = os.pathsep.join(map(str, (folder / "classes", *class_files.folders())))
    found |= {"TMPDIR": str(folder / "tmp"), "PYTHONDONTWRITEBYTECODE": "1", class_files.FOLDERS: classes}
    of_jvm = f'{SHORT_LIVED} "-Djava.io.tmpdir={jvm_folder}"'
    found["SPARK_SUBMIT_OPTS"] = f"{of_jvm} {found.get('SPARK_SUBMIT_OPTS', '')}".strip()
    if imports:
        found["PYTHONPATH"] = os.pathsep.join(filter(None, (*imports, found.get("PYTHONPATH"))))
    home = None if has_java() else java_home()
    return found | ({"JAVA_HOME": home} if home else {})
