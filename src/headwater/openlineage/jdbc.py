"""Names of tables behind JDBC, by the OpenLineage naming specification ("Dataset Naming")."""

import re
from collections.abc import Sequence

from headwater.model import Dataset
from headwater.openlineage.jdbc_url import Server, read_server

_PART = re.compile(r'"((?:[^"]|"")*)"|`((?:[^`]|``)*)`|\[((?:[^\]]|\]\])*)\]|([^.]+)')


def jdbc_dataset(url: str, table: str) -> Dataset:
    """The dataset of a table, named as the OpenLineage naming specification says for its database.

    A table without a schema is in the database's default one. ``table`` is a name, perhaps quoted, not a query.

    >>> jdbc_dataset("jdbc:postgresql://db.local/shop?user=me&password=x", "orders")
    Dataset(namespace='postgres://db.local:5432', name='shop.public.orders')
    """
    server = read_server(url)
    return Dataset(server.namespace, ".".join(_qualified(_parts(table), server)))


def jdbc_source(url: str) -> str:
    """The URL of the database without user, password or parameters, for the dataSource facet.

    >>> jdbc_source("jdbc:mysql://me:secret@db.local/shop?ssl=true")
    'jdbc:mysql://db.local:3306/shop'
    """
    server = read_server(url)
    return f"jdbc:{server.namespace}" + (f"/{server.database}" if server.database else "")


def _parts(table: str) -> list[str]:
    return [
        (match[1] or match[2] or match[3] or match[4] or "").replace('""', '"').replace("``", "`").strip()
        for match in _PART.finditer(table.strip())
    ]


def _qualified(parts: Sequence[str], server: Server) -> list[str]:
    """The parts with the server's database and schema before them, as far as the table's name lacks them."""
    engine = server.engine
    missing = engine.levels - len(parts)
    if missing <= 0:
        return list(parts)
    schema = server.schema or engine.schema
    # Two levels are database and table, or schema and table where the database is in the namespace.
    above = [server.database, schema] if engine.levels > 2 else [schema or server.database]
    return [name for name in above[:missing] if name] + list(parts)
