"""Where the store is: a setting, an environment variable, or the nearest `.headwater` folder."""

import os
import re
from collections.abc import Mapping
from pathlib import Path

from headwater.errors import SettingError, StoreUnavailable
from headwater.redaction import redact

VARIABLE = "HEADWATER_STORE"
FILE = Path(".headwater") / "lineage.db"
_SQLITE = "sqlite:///"
# With one slash or none it would be taken for the path of a file, and made.
_URL = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://|(?:https?|jdbc|sqlite|postgres|postgresql|mysql|file|s3a?)(?:\+\w+)?:")
_SERVER = re.compile(r"postgres(?:ql)?(?:\+psycopg)?://")


def store_url(setting: str | None = None, environment: Mapping[str, str] | None = None) -> str:
    """The URL of the store to use.

    The first of: ``setting``, the variable HEADWATER_STORE, the nearest ``.headwater/lineage.db``
    from the current folder upward, ``./.headwater/lineage.db``.
    A text without ``://`` is the path of an SQLite file.
    """
    chosen = setting or (os.environ if environment is None else environment).get(VARIABLE)
    if chosen:
        require_store_url(chosen)
    if chosen and "://" in chosen:
        return chosen
    return _SQLITE + str(Path(chosen).expanduser().absolute() if chosen else _nearest_file(Path.cwd()))


def require_store_url(text: str) -> None:
    """Make sure that the text is the path of a file or a URL of a known database.

    Raises:
        SettingError: it is neither.
    """
    scheme = _URL.match(text)
    is_file = scheme is None or text.startswith(_SQLITE)
    if is_file and "\0" not in text:
        return
    if is_file or not _SERVER.match(text) or not _can_be_read(text):
        raise SettingError(
            f"Store {redact(text)!r} cannot be used: expected a file path, sqlite:///PATH or "
            "postgresql://USER@HOST/DATABASE. Correct --store or HEADWATER_STORE."
        )


def _can_be_read(url: str) -> bool:
    from sqlalchemy import make_url  # a file needs none of it
    from sqlalchemy.exc import ArgumentError

    try:
        make_url(url)
    except (ArgumentError, ValueError):
        return False
    return True


def store_file(url: str) -> Path | None:
    """The file behind an SQLite URL, None for other databases.

    The rest of the URL is the path as it stands, so that ``?``, ``%`` and ``#`` in a folder's name do no harm.

    >>> store_file("sqlite:////data/100%?/lineage.db")
    PosixPath('/data/100%?/lineage.db')
    >>> store_file("postgresql://host/db") is None
    True
    """
    return Path(url.removeprefix(_SQLITE)) if url.startswith(_SQLITE) else None


def require_file(path: Path, *, create: bool) -> None:
    """Makes sure that the store's SQLite file can be opened, and makes its folder when it may be created.

    Raises:
        StoreUnavailable: its folders cannot be read or made, it is no file, or is missing and not to be made.
    """
    try:
        if not path.exists() and create:
            path.parent.mkdir(parents=True, exist_ok=True)
        missing, file = not path.exists(), path.is_file()
    except OSError as fault:
        raise StoreUnavailable(
            f"Store {path} cannot be reached ({fault.strerror}). Check the rights of its folders, or name "
            "another with --store or HEADWATER_STORE."
        ) from fault
    if not missing and not file:
        raise StoreUnavailable(f"Store {path} is no file: expected an SQLite file. Name another with --store.")
    if missing and not create:
        raise StoreUnavailable(
            f"No store at {path}: expected a file that `headwater run` or `headwater ingest` made. "
            "Change to the folder of the job, or name the file with --store or HEADWATER_STORE."
        )


def _nearest_file(start: Path) -> Path:
    found = (folder / FILE for folder in (start, *start.parents) if (folder / FILE).is_file())
    return next(found, start / FILE)
