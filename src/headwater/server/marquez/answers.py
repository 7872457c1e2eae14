"""Answers in JSON, and the refusals that all resources share."""

import json
from typing import Any, NoReturn

import orjson
from starlette.exceptions import HTTPException
from starlette.responses import Response


class Json(Response):
    """A value as JSON; events may hold text that is no Unicode, which is escaped."""

    media_type = "application/json"

    def render(self, content: Any) -> bytes:
        """The bytes of the body."""
        try:
            return orjson.dumps(content)
        except orjson.JSONEncodeError:
            return json.dumps(content).encode()


def missing(kind: str, name: object) -> NoReturn:
    """Refuses a name that nothing has, in Marquez's words.

    Raises:
        HTTPException: 404.
    """
    raise HTTPException(404, f"{kind} '{str(name)[:200]}' not found.")


def truncation(limits: tuple[str, ...]) -> dict[str, str]:
    """The header that says which limits cut a graph, because Marquez's documents have no place for it."""
    return {"X-Headwater-Truncated": ", ".join(limits)} if limits else {}
