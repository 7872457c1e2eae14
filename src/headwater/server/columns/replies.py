"""Answers to questions: redacted for the caller, with an ETag, in the format that the request names."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from functools import wraps
from hashlib import blake2b
from typing import Annotated, Any, ParamSpec, TypeVar

import orjson
from fastapi import APIRouter, Depends, Request, Response

from headwater.answers.drawings import DRAWINGS, Drawable, arrows_of
from headwater.answers.redaction import Redaction
from headwater.answers.spreadsheets import Sheet, csv_lines
from headwater.errors import AmbiguousName, QuestionError, UnknownName
from headwater.model import Job
from headwater.server.auth.access import Caller
from headwater.server.columns.query_params import BoundsParams, Drawn
from headwater.server.routes import GuardedRoute
from headwater.server.server import Reader, Server, TheServer
from headwater.server.settings import ServerSettings
from headwater.store import Store
from headwater.store.questions import Bounds, Column, KnownDataset, state_of
from headwater.store.read_model.visibility import Sees

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

Answer = TypeVar("Answer")
P = ParamSpec("P")


@dataclass(frozen=True, slots=True)
class Reply:
    """The content of a response; ``truncated`` are the limits that cut the answer."""

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
        """The settings of the server, whose limits bound an answer."""
        return self.server.settings

    @property
    def sees(self) -> Sees:
        """The namespaces that the caller may see; None for all."""
        return self.caller.sight

    @property
    def redaction(self) -> Redaction:
        """The redaction of answers to the caller."""
        return Redaction(self.sees, self.caller.secret)

    def bounds(self, query: BoundsParams) -> Bounds:
        """Return the bounds of a walk within the namespaces that the caller may see."""
        return replace(query.bounds(self.store, self.settings), sees=self.sees)

    def redacted(self, answer: Answer, *starts: Column | KnownDataset | Job) -> Answer:
        """Return the answer as the caller may see it.

        Raises:
            UnknownName: the answer is about something that the caller may not see.
        """
        if self.caller.sees_all:
            return answer
        if any(map(self.redaction.hides, starts)):
            raise UnknownName("Nothing that you may see has that name.")
        return self.redaction.answer(answer)

    def respond(self, make: Callable[[], Reply], *, of_events: bool = True) -> Response:
        """Return the reply, or 304 when the caller has it already; errors name nothing that the caller may not see.

        Args:
            make: makes the reply.
            of_events: whether the reply changes with events alone; one that people change has an ETag of its content.
        """
        if not (of_events and self.caller.sees_all):
            # A tag of the whole store would change whenever anybody writes.
            reply = self._made(make)
            return self._sent(f'W/"{_digest(reply.content, reply.media, reply.truncated)}"', lambda: reply)
        return self._sent(self._tag(), lambda: self._made(make))

    def _sent(self, tag: str, made: Callable[[], Reply]) -> Response:
        headers = {"ETag": tag, "Cache-Control": "private, no-cache"}
        if tag in (one.strip() for one in self.request.headers.get("if-none-match", "").split(",")):
            return Response(status_code=304, headers=headers)
        reply = made()
        if "time" in reply.truncated:
            # LineageQuestion again, it may come further.
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


def answered(*, of_events: bool = True) -> Callable[[Callable[P, Reply]], Callable[P, Response]]:
    """Return a decorator that makes a route of a function with a reply to a ``question``; see `Question.respond`."""

    def of(make: Callable[P, Reply]) -> Callable[P, Response]:
        @wraps(make)
        def route(*args: P.args, **parameters: P.kwargs) -> Response:
            question = parameters["question"]
            assert isinstance(question, Question)
            return question.respond(lambda: make(*args, **parameters), of_events=of_events)

        return route

    return of


def _question(request: Request, server: TheServer, caller: Reader) -> Question:
    return Question(request, server, caller)


LineageQuestion = Annotated[Question, Depends(_question)]


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


def json_reply(document: dict[str, Any]) -> Reply:
    """Return a document as JSON."""
    return Reply(orjson.dumps(document), truncated=tuple(document.get("truncated", ())))


def csv_reply(sheet: Sheet, truncated: tuple[str, ...] = ()) -> Reply:
    """Return a sheet as CSV."""
    return _lines(csv_lines(*sheet), "csv", truncated)


def drawn_reply(answer: Drawable, sheet: Callable[..., Sheet], format_: Drawn, *, guess: bool) -> Reply:
    """Return an answer as CSV, or as Mermaid, DOT or GraphML."""
    if format_ == "csv":
        return csv_reply(sheet(answer, guess=guess), answer.truncated)
    return _lines(DRAWINGS[format_](arrows_of(answer)), format_, answer.truncated)


def require_whole(limit: int | None, cursor: str | None) -> None:
    """Refuse pages of an answer that has none.

    Raises:
        QuestionError: the request is for a page.
    """
    if limit is not None or cursor is not None:
        raise QuestionError("Only JSON comes in pages: leave limit and cursor out, or ask for format=json.")


def _lines(lines: Iterable[str], format_: str, truncated: tuple[str, ...]) -> Reply:
    return Reply("".join(f"{line}\n" for line in lines).encode(), MEDIA[format_], truncated)


def _digest(*parts: Any) -> str:
    return blake2b(repr(parts).encode(), digest_size=8).hexdigest()
