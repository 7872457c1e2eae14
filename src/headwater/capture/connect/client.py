"""The client of a Spark Connect server, hooked: each of its requests passes by the tap."""

import functools
import os
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, nullcontext
from typing import TYPE_CHECKING, Any

from headwater.capture.guard import guarded
from headwater.capture.settings import CaptureSettings

if TYPE_CHECKING:
    from headwater.capture.connect.tap import ConnectTap

_SECONDS = 5.0
_hooked: dict[str, Any] = {}


class RemoteApplication:
    """The application behind a client, in the words of a SparkContext as far as headwater asks, and its tap."""

    def __init__(self, client: Any, settings: CaptureSettings) -> None:
        # The reader of SQL is imported by who has a client: it is a sixth of the imports of all others.
        from headwater.capture.connect.server import Server
        from headwater.capture.connect.tap import ConnectTap

        self.tap = ConnectTap(client, settings)
        self._server = Server(client, _SECONDS)
        self._begin: threading.Thread | None = None

    @property
    def appName(self) -> str:  # noqa: N802 - a SparkContext calls it so
        """The name that the session was given."""
        return self._server.conf("spark.app.name")[0] or "Spark Connect"

    @property
    def version(self) -> str:
        """The version of the server's Spark."""
        return self._server.version()

    def getConf(self) -> "RemoteApplication":  # noqa: N802 - a SparkContext calls it so
        """The configuration: the environment of the client is all that counts here."""
        return self

    def getAll(self) -> list[tuple[str, str]]:  # noqa: N802 - a SparkConf calls it so
        """No pairs: the configuration of the server is for its own."""
        return []

    def begin(self, work: Callable[["RemoteApplication"], None]) -> None:
        """Do ``work``, which asks the server, on a thread of its own: the job's request does not wait for it."""

        def quietly() -> None:
            with guarded("attaching to Spark Connect"):
                work(self)

        self._begin = threading.Thread(target=quietly, name="headwater-connect", daemon=True)
        self._begin.start()

    def begun(self) -> None:
        """Wait until begin() is over, though not for long."""
        if self._begin is not None:
            self._begin.join(3 * _SECONDS)


class Applications:
    """The clients that are watched, each from its first request on."""

    def __init__(self, begin: Callable[[RemoteApplication], None], settings: Callable[[], CaptureSettings]) -> None:
        self._begin = begin
        self._settings = settings
        self._applications: dict[int, RemoteApplication | None] = {}
        self._lock = threading.Lock()

    def tap(self, client: Any) -> "ConnectTap | None":
        """The tap of a client; None for one whose server is in this process, which its SparkContext watches."""
        if "SPARK_LOCAL_REMOTE" in os.environ:
            return None
        with self._lock:
            if id(client) not in self._applications:
                application = self._applications[id(client)] = RemoteApplication(client, self._settings())
                application.begin(self._begin)
            found = self._applications[id(client)]
            return found.tap if found is not None else None

    def application(self, client: Any) -> RemoteApplication | None:
        """The application of a client that is watched now."""
        return self._applications.get(id(client))

    def watches(self, client: Any) -> bool:
        """Whether a client is watched now."""
        return self.application(client) is not None

    def pop(self, client: Any) -> RemoteApplication | None:
        """The application of a client that goes; what the client still asks of its server is its own business."""
        with self._lock:
            found = self._applications.get(id(client))
            self._applications[id(client)] = None
        if found is not None:
            found.begun()
        return found

    def begun(self) -> None:
        """Wait for those that are just beginning."""
        for application in list(self._applications.values()):
            if application is not None:
                application.begun()


def is_connect(session: Any) -> bool:
    """Whether a session is one of Spark Connect.

    Its class says so: a session of Spark 4.0 that has no ``client`` raises no AttributeError when it is asked for one.
    """
    return any(kind.__module__.startswith("pyspark.sql.connect.") for kind in type(session).__mro__)


def hook_client(kind: Any, watched: Applications, end: Callable[[RemoteApplication], None]) -> None:
    """Let the requests of every client of this class pass by its tap; ``end`` its application before it closes."""
    if "kind" in _hooked:
        return
    iterate, execute = kind._execute_and_fetch_as_iterator, kind._execute

    @functools.wraps(iterate)
    def watched_iterate(self: Any, req: Any, *args: Any, **kwargs: Any) -> Iterator[Any]:
        with _watching(watched, self, req) as answered:
            for answer in iterate(self, req, *args, **kwargs):
                answered(answer)
                yield answer

    @functools.wraps(execute)
    def watched_execute(self: Any, req: Any, *args: Any, **kwargs: Any) -> Any:
        with _watching(watched, self, req):
            return execute(self, req, *args, **kwargs)

    def ended(client: Any) -> None:
        with guarded("ending the capture"):
            if (application := watched.pop(client)) is not None:
                end(application)

    wrappers: dict[str, Callable[..., Any]] = {
        "_execute_and_fetch_as_iterator": watched_iterate,
        "_execute": watched_execute,
    }
    for name in ("release_session", "close"):  # a session releases itself at the server first
        if hasattr(kind, name):
            wrappers[name] = _ending_first(getattr(kind, name), watched, ended)
    _hooked["kind"] = kind
    for name, wrapper in wrappers.items():
        _hooked[name] = getattr(kind, name)
        setattr(kind, name, wrapper)


def _ending_first(
    original: Callable[..., Any], watched: Applications, ended: Callable[[Any], None]
) -> Callable[..., Any]:
    """Wrap the end of a client: all events are delivered before."""

    @functools.wraps(original)
    def close(self: Any, *args: Any, **kwargs: Any) -> Any:
        if sys.is_finalizing() or not watched.watches(self):  # no thread starts any more, or all is delivered
            return original(self, *args, **kwargs)
        if sys._getframe(1).f_code.co_name == "__del__":
            # This may be gRPC's own thread, in the middle of a garbage collection: it must not wait for an answer.
            threading.Thread(target=deliver_and_close, args=(self,), name="headwater-close", daemon=True).start()
            return None
        return deliver_and_close(self, *args, **kwargs)

    def deliver_and_close(client: Any, *args: Any, **kwargs: Any) -> Any:
        ended(client)
        return original(client, *args, **kwargs)

    return close


def unhook_client() -> None:
    """Put the client back as it was."""
    kind = _hooked.pop("kind", None)
    for name, original in _hooked.items():
        setattr(kind, name, original)
    _hooked.clear()


def _watching(watched: Applications, client: Any, request: Any) -> AbstractContextManager[Callable[[Any], None]]:
    with guarded("watching a request"):
        if (tap := watched.tap(client)) is not None:
            return tap.watching(request.plan)
    return nullcontext(lambda answer: None)
