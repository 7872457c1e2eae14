"""A machine on which one folder alone can be written and no other machine is there, for what must change nothing."""

import os
import subprocess
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path

_SEAL = """
set -e
ip link set lo up
mount --make-rprivate /
mount --bind "$1" "$1"
awk '{print $2}' /proc/self/mounts | while read -r mounted; do
  case "$mounted" in
    /proc|/proc/*|/sys|/sys/*|/dev|/dev/*|"$1") ;;
    *) mount -o remount,bind,ro "$mounted" ;;
  esac
done
shift
exec "$@"
"""


def sealed(folder: Path, command: Sequence[object]) -> list[str]:
    """The command, in namespaces of its own where it can write to the folder alone and reach its own machine alone."""
    return ["unshare", "--mount", "--net", "sh", "-c", _SEAL, "sh", str(folder), *map(str, command)]


def temporary(folder: Path) -> Mapping[str, str]:
    """Environment variables by which Python's and Java's temporary files are in the folder."""
    return {"TMPDIR": str(folder), "JDK_JAVA_OPTIONS": f"-Djava.io.tmpdir={folder} -XX:-UsePerfData"}


@cache
def can_seal(folder: Path) -> bool:
    """Whether this user may do so here: the folder can be written inside, its parent cannot."""
    tries = f"touch {folder}/inside && ! touch {folder.parent}/outside"
    try:
        done = subprocess.run(sealed(folder, ["sh", "-c", tries]), capture_output=True, check=False, env=os.environ)
    except OSError:
        return False
    return done.returncode == 0
