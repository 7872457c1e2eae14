"""How questions are answered: hidden from whom it must be, with an ETag, in the form that was asked for."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from hashlib import blake2b
from typing import Annotated, Any, TypeVar

import orjson
from fastapi import APIRouter, Depends, Request, Response

from headwater.answers.drawings import Arrow, dot, mermaid
from headwater.answers.graphml import graphml
from headwater.answers.redaction import Redaction
from headwater.answers.spreadsheets import Sheet, csv_lines
from headwater.errors import AmbiguousName, QuestionError, UnknownName
from headwater.model import Job
from headwater.server.access import Caller
from headwater.server.columns.asking import Bounded, Drawn
from headwater.server.routes import GuardedRoute
from headwater.server.server import Reader, Server, TheServer
from headwater.server.settings import ServerSettings
from headwater.store import Store
from headwater.store.catalog.sight import Sees
from headwater.store.questions import Bounds, Column, KnownDataset, state_of

JSON = "application/json"
MEDIA = {"csv": "text/csv; charset=utf-8", "mermaid": "text/vnd.mermaid", "dot": "text/vnd.graphviz"}
MEDIA |= {"graphml": "application/graphml+xml"}
TRUNCATED = "Headwater-Truncated"
TABULAR: dict[int | str, dict[str, Any]] = {200: {"content": {MEDIA["csv"]: {"schema": {"type": "string"}}}}}
"""The response of a question whose answer comes as CSV too; for the OpenAPI document."""

DRAWN: dict[int | str, dict[str, Any]] = {
    200: {"content": {media: {"schema": {"type": "string"}} for media in MEDIA.values()}}
}
"""The response of a question whose answer comes as CSV and as drawings too."""

_DRAWN = {"mermaid": mermaid, "dot": dot, "graphml": graphml}
Answer = TypeVar("Answer")


@dataclass(frozen=True, slots=True)
class Reply:
    """An answer as it goes out; ``truncated`` are the limits that cut it."""

    content: bytes
    media: str = JSON
    truncated: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Question:
    """One request and who sent it."""

    request: Request
    server: Server
    caller: Caller

    @property
    def store(self) -> Store:
        """The store as the caller may see it."""
        return self.server.store.seen_by(self.sees)

    @property
    def settings(self) -> ServerSettings:
        """What bounds an answer."""
        return self.server.settings

    @property
    def sees(self) -> Sees:
        """Which namespaces the caller may see; None for all."""
        return self.caller.sight

    @property
    def redaction(self) -> Redaction:
        """The redaction of answers to the caller."""
        return Redaction(self.sees, self.caller.secret)

    def bounds(self, wanted: Bounded) -> Bounds:
        """The bounds of a walk, in which nothing can be asked for that the caller may not see."""
        return replace(wanted.bounds(self.store, self.settings), sees=self.sees)

    def shown(self, answer: Answer, *starts: Column | KnownDataset | Job) -> Answer:
        """The answer as the caller may see it.

        Raises:
            UnknownName: it is about something that may not be seen.
        """
        if self.caller.sees_all:
            return answer
        if any(map(self.redaction.hides, starts)):
            raise UnknownName("Nothing that you may see has that name.")
        return self.redaction.answer(answer)

    def answered(self, make: Callable[[], Reply]) -> Response:
        """The reply, or 304 when the caller has it already; of errors nothing that may not be seen."""
        if not self.caller.sees_all:
            # A tag of the whole store would say whenever anybody writes.
            reply = self._made(make)
            return self._sent(f'W/"{_digest(reply.content, reply.media, reply.truncated)}"', lambda: reply)
        return self._sent(self._tag(), lambda: self._made(make))

    def _sent(self, tag: str, made: Callable[[], Reply]) -> Response:
        headers = {"ETag": tag, "Cache-Control": "private, no-cache"}
        if tag in (one.strip() for one in self.request.headers.get("if-none-match", "").split(",")):
            return Response(status_code=304, headers=headers)
        reply = made()
        if "time" in reply.truncated:
            # Asked again, it may come further.
            del headers["ETag"]
        if reply.truncated:
            headers[TRUNCATED] = ", ".join(reply.truncated)
        return Response(reply.content, media_type=reply.media, headers=headers)

    def _made(self, make: Callable[[], Reply]) -> Reply:
        try:
            return make()
        except UnknownName:
            if self.caller.sees_all:
                raise
            raise UnknownName("Nothing that you may see has that name.") from None
        except AmbiguousName:
            if self.caller.sees_all:
                raise
            raise AmbiguousName("Several names end so. Type more of the one you mean.") from None

    def _tag(self) -> str:
        with self.store.read() as connection:
            state = _digest(state_of(connection))
        query = sorted(self.request.query_params.multi_items())
        return f'W/"{state}-{_digest(self.request.app.version, self.request.url.path, query)}"'


def _question(request: Request, server: TheServer, caller: Reader) -> Question:
    return Question(request, server, caller)


Asked = Annotated[Question, Depends(_question)]


def question_router() -> APIRouter:
    """Return a router for questions, with the statuses that all of their answers may have."""
    return APIRouter(
        prefix="/api/v2",
        tags=["columns"],
        route_class=GuardedRoute,
        responses={
            304: {"description": "The answer is still the one that If-None-Match names."},
            **{status: {} for status in (400, 404, 409)},
        },
        generate_unique_id_function=lambda route: route.path.rpartition("/")[2],
    )


def told(document: dict[str, Any]) -> Reply:
    """A document as JSON."""
    return Reply(orjson.dumps(document), truncated=tuple(document.get("truncated", ())))


def tabled(sheet: Sheet, truncated: tuple[str, ...] = ()) -> Reply:
    """A sheet as CSV."""
    return _lines(csv_lines(*sheet), "csv", truncated)


def drawn(arrows: list[Arrow], format_: Drawn, truncated: tuple[str, ...]) -> Reply:
    """Arrows as Mermaid, DOT or GraphML."""
    return _lines(_DRAWN[format_](arrows), format_, truncated)


def whole(limit: int | None, cursor: str | None) -> None:
    """Refuses pages where an answer has none.

    Raises:
        QuestionError: a page was asked for.
    """
    if limit is not None or cursor is not None:
        raise QuestionError("Only JSON comes in pages: leave limit and cursor out, or ask for format=json.")


def _lines(lines: Iterable[str], format_: str, truncated: tuple[str, ...]) -> Reply:
    return Reply("".join(f"{line}\n" for line in lines).encode(), MEDIA[format_], truncated)


def _digest(*parts: Any) -> str:
    return blake2b(repr(parts).encode(), digest_size=8).hexdigest()
