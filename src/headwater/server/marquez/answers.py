"""Responses in JSON, and the refusal of unknown names."""

import json
from typing import Any, NoReturn

import orjson
from starlette.exceptions import HTTPException
from starlette.responses import Response


class Json(Response):
    """A value as JSON; events may hold text that is no Unicode, which is escaped."""

    media_type = "application/json"

    def render(self, content: Any) -> bytes:
        """Return the bytes of the body."""
        try:
            return orjson.dumps(content)
        except orjson.JSONEncodeError:
            return json.dumps(content).encode()


def missing(kind: str, name: object) -> NoReturn:
    """Refuse a name that nothing has, in Marquez's words.

    Raises:
        HTTPException: 404.
    """
    raise HTTPException(404, f"{kind} '{str(name)[:200]}' not found.")


def truncation(limits: tuple[str, ...]) -> dict[str, str]:
    """Return the header with the limits that cut a graph: Marquez's documents have no place for them."""
    return {"X-Headwater-Truncated": ", ".join(limits)} if limits else {}
