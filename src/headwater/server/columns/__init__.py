"""Our own interface, ``/api/v2``: questions about columns."""

from headwater.server.columns import catalog, changes, differences, impact, origins, walks
from headwater.server.columns.described import illustrate

__all__ = ["ROUTERS", "illustrate"]

ROUTERS = tuple(module.router for module in (walks, origins, impact, differences, catalog, changes))
