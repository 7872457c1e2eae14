"""The lineage server: OpenLineage in, answers out."""

from headwater.server.app import create_app
from headwater.server.settings import ServerSettings

__all__ = ["ServerSettings", "create_app"]
