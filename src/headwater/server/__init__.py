"""The lineage server: OpenLineage in, answers out."""

from typing import TYPE_CHECKING, Any

from headwater.server.settings import ServerSettings

if TYPE_CHECKING:
    from headwater.server.app import create_app

__all__ = ["ServerSettings", "create_app"]


def __getattr__(name: str) -> Any:
    # The command line reads the settings, also where the packages of the server are not installed.
    if name == "create_app":
        from headwater.server.app import create_app

        return create_app
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
