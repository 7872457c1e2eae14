"""Our own interface, ``/api/v2``: questions about columns."""

from headwater.server.columns import catalog, changes, differences, impact, origins, tags, view, walks

__all__ = ["ROUTERS"]

ROUTERS = tuple(module.router for module in (walks, view, origins, impact, differences, catalog, tags, changes))
