"""Responses in JSON, the refusal of unknown names, and routes whose names may hold slashes."""

import json
from collections.abc import MutableMapping
from typing import Any, NoReturn
from urllib.parse import unquote

import orjson
from starlette.exceptions import HTTPException
from starlette.responses import Response
from starlette.routing import Match

from headwater.openlineage.reading.json_values import text
from headwater.server.routes import GuardedRoute


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


class NamedRoute(GuardedRoute):
    """A route that matches the path as sent, then unquotes its parameters."""

    def matches(self, scope: MutableMapping[str, Any]) -> tuple[Match, dict[str, Any]]:
        """Match the path as it was sent (ASGI, "raw_path")."""
        raw: bytes = scope.get("raw_path") or b""
        if raw:
            scope = {**scope, "path": raw.split(b"?", 1)[0].decode("latin-1")}
        match, child = super().matches(scope)
        if "path_params" in child:
            names = {name: text(unquote(str(value))) for name, value in child["path_params"].items()}
            child = {**child, "path_params": names}
        return match, dict(child)
