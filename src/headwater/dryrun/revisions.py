"""Jobs as two revisions of a git repository have them, each run dry in a worktree that is gone afterwards."""

import os
import re
import subprocess
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path
from tempfile import TemporaryDirectory

from headwater.dryrun import documents
from headwater.dryrun.dry_run import Checkout, Options
from headwater.dryrun.planner import planner
from headwater.dryrun.sources import job_words
from headwater.errors import SettingError

_RANGE = re.compile(r"(?P<before>[^\s.-](?:\S*?[^\s/.])?)(?P<dots>\.{2,3})(?P<after>(?:[^\s/.-]\S*)?)")


@dataclass(frozen=True, slots=True)
class Revision:
    """A commit of a repository, under the name that somebody typed."""

    root: Path
    name: str
    commit: str


@dataclass(frozen=True, slots=True)
class JobCall:
    """A job by its path below the repository, its arguments, and the folder that it is run in, below it too."""

    path: Path
    arguments: tuple[str, ...]
    folder: Path


def is_range(text: str) -> bool:
    """Return whether a text is two revisions as git writes them, not a path.

    >>> [is_range(one) for one in ("main..HEAD", "origin/main...", "../lineage.db", "a/../b.db", "before.db")]
    [True, True, False, False, False]
    """
    return _RANGE.fullmatch(text) is not None


def revisions(text: str, folder: Path) -> tuple[Revision, Revision]:
    """Return the two sides of ``main..HEAD``; with three dots the first is where the two parted.

    Raises:
        SettingError: the text is no range, the folder is in no repository, or a revision is not in it.
    """
    parts = _RANGE.fullmatch(text)
    if parts is None:
        raise SettingError(f"{text!r} is no range of revisions: expected two with dots between, as main..HEAD.")
    root = Path(_git(folder, f"{folder} is in no git repository", "rev-parse", "--show-toplevel"))
    before, after = parts["before"], parts["after"] or "HEAD"
    first, second = _commit(root, before), _commit(root, after)
    if len(parts["dots"]) > 2:
        first = _git(root, f"{before} and {after} have no commit in common", "merge-base", first, second)
    return Revision(root, before, first), Revision(root, after, second)


def _commit(root: Path, name: str) -> str:
    fault = f"There is no commit {name!r} in {root}; correct it, or fetch it with git fetch"
    return _git(root, fault, "rev-parse", "--verify", "--quiet", "--end-of-options", f"{name}^{{commit}}")


def uncommitted(root: Path) -> int:
    """Return the number of files of a repository that differ from HEAD."""
    return len(_git(root, f"The state of {root} cannot be read", "status", "--porcelain").splitlines())


def job_calls(words: Sequence[str], sides: Sequence[Revision], folder: Path) -> tuple[JobCall, ...]:
    """Return jobs with their arguments, each written as on a command line in a folder of the repository.

    Raises:
        SettingError: none of the revisions has such a file, or quotes are not closed.
    """
    return tuple(_job_call(text, sides, Path(os.path.realpath(folder))) for text in words)


def _job_call(text: str, sides: Sequence[Revision], folder: Path) -> JobCall:
    name, *arguments = job_words(text)
    root = sides[0].root
    path = Path(os.path.relpath(folder / name, root))
    if path.parts[:1] == ("..",):
        raise SettingError(f"The job {name} is not below {root}, so that no revision has it.")
    if not any(_has(side, path) for side in sides):
        files = _git(root, f"The files of {root} cannot be listed", "ls-tree", "-r", "--name-only", sides[-1].commit)
        near = get_close_matches(str(path), files.splitlines(), n=1)
        hint = f" Did you mean {near[0]!r}?" if near else ""
        raise SettingError(f"There is no job {str(path)!r} in {' and not in '.join(one.name for one in sides)}.{hint}")
    return JobCall(path, tuple(arguments), Path(os.path.relpath(folder, root)))


def _has(side: Revision, path: Path) -> bool:
    command = ["git", "-C", str(side.root), "cat-file", "-e", f"{side.commit}:{path.as_posix()}"]
    return subprocess.run(command, capture_output=True, check=False).returncode == 0


@contextmanager
def worktree(side: Revision) -> Iterator[Path]:
    """Have the files of a revision in a temporary folder. No hook of the repository runs.

    Raises:
        SettingError: git cannot make it.
    """
    with TemporaryDirectory(prefix="headwater-diff-") as name:
        tree = Path(os.path.realpath(name)) / "tree"
        own = ("-c", "core.hooksPath=/dev/null", "worktree")
        _git(
            side.root,
            f"The files of {side.name} cannot be checked out",
            *own,
            "add",
            "-q",
            "--detach",
            str(tree),
            side.commit,
        )
        try:
            yield tree
        finally:
            _git(side.root, f"The worktree {tree} cannot be removed", *own, "remove", "--force", str(tree))


@dataclass(frozen=True, slots=True)
class PlannedSide:
    """The findings of the dry runs of a revision (see `documents.findings`), and whether a job failed."""

    findings: tuple[tuple[str, str, str], ...]
    failed: bool


def plan_side(
    side: Revision, jobs: Sequence[JobCall], store: Path, options: Options, begin: Callable[[str], None]
) -> PlannedSide:
    """Run jobs of a revision dry, one after the other, and store the lineage that each would have.

    Args:
        side: the revision.
        jobs: those that it lacks are a finding.
        store: a file, made where it is not there; a job reads what others before it would have written.
        options: of each dry run.
        begin: is called with a line before each.

    Raises:
        SettingError: git cannot make a worktree.
        DryRunError: the process of a job ended without a report.
    """
    found: list[tuple[str, str, str]] = []
    failed = False
    with worktree(side) as tree, planner(str(store), options) as planning:
        for job in jobs:
            begin(f"{side.name}: {job.path}")
            if not (tree / job.path).exists():
                found.append((str(job.path), "is not there", ""))
                continue
            folder = tree / job.folder
            folder.mkdir(parents=True, exist_ok=True)
            report = planning.plan(tree / job.path, job.arguments, Checkout(tree, side.root, folder)).report
            found += documents.findings(report)
            failed |= report.failure is not None
    return PlannedSide(tuple(found), failed)


def _git(folder: Path, fault: str, *words: str) -> str:
    """Return what git prints.

    Raises:
        SettingError: it cannot be started, or fails; the message begins with ``fault``.
    """
    try:
        done = subprocess.run(["git", "-C", str(folder), *words], capture_output=True, text=True, check=False)
    except OSError as error:
        raise SettingError(f"Revisions need git, which cannot be started: {error}.") from error
    if done.returncode:
        reason = next(iter(done.stderr.strip().splitlines()), "")
        raise SettingError(f"{fault}{f' ({reason})' if reason else ''}.")
    return done.stdout.rstrip("\n")
