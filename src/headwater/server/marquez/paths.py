"""Routes whose names may hold slashes: ``/namespaces/s3:%2F%2Flake/datasets/gold%2Fkm``.

ASGI gives paths unquoted, where a slash of a name is one of the path; so these routes match the path as it was sent.
"""

from collections.abc import MutableMapping
from typing import Any
from urllib.parse import unquote

from starlette.routing import Match

from headwater.openlineage.reading.json_values import text
from headwater.server.routes import GuardedRoute


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
