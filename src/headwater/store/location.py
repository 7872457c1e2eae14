"""Where the store is: a setting, an environment variable, or the nearest `.headwater` folder."""

import os
from pathlib import Path

VARIABLE = "HEADWATER_STORE"
FILE = Path(".headwater") / "lineage.db"
_SQLITE = "sqlite:///"


def store_url(setting: str | None = None) -> str:
    """The URL of the store to use.

    The first of: ``setting``, the variable HEADWATER_STORE, the nearest ``.headwater/lineage.db``
    from the current folder upward, ``./.headwater/lineage.db``.
    A text without ``://`` is the path of an SQLite file.
    """
    chosen = setting or os.environ.get(VARIABLE)
    if chosen and "://" in chosen:
        return chosen
    return _SQLITE + str(Path(chosen).expanduser().absolute() if chosen else _nearest_file(Path.cwd()))


def sqlite_path(url: str) -> Path | None:
    """The file behind an SQLite URL, None for other databases.

    The rest of the URL is the path as it stands, so that ``?``, ``%`` and ``#`` in a folder's name do no harm.

    >>> sqlite_path("sqlite:////data/100%?/lineage.db")
    PosixPath('/data/100%?/lineage.db')
    >>> sqlite_path("postgresql://host/db") is None
    True
    """
    return Path(url.removeprefix(_SQLITE)) if url.startswith(_SQLITE) else None


def _nearest_file(start: Path) -> Path:
    found = (folder / FILE for folder in (start, *start.parents) if (folder / FILE).is_file())
    return next(found, start / FILE)
