"""Names of tables behind JDBC, by the OpenLineage naming specification ("Dataset Naming")."""

import re
from collections.abc import Sequence

from headwater.model import Dataset
from headwater.openlineage.naming.jdbc_url import Engine, Server, read_server

_PART = re.compile(r'"((?:[^"]|"")*)"|`((?:[^`]|``)*)`|\[((?:[^\]]|\]\])*)\]|([^.]+)')


def jdbc_dataset(url: str, table: str) -> Dataset:
    """The dataset of a table, named as the OpenLineage naming specification says for its database.

    A table without a schema is in the database's default one. ``table`` is a name, perhaps quoted, not a query;
    what is not quoted gets the case in which the database keeps it.

    >>> jdbc_dataset("jdbc:postgresql://db.local/shop?user=me&password=x", "Orders")
    Dataset(namespace='postgres://db.local:5432', name='shop.public.orders')
    """
    return jdbc_table(url, _parts(table, engine_of(url)))


def jdbc_table(url: str, parts: Sequence[str]) -> Dataset:
    """The dataset of a table whose name is known in parts, as the database keeps them.

    >>> jdbc_table("jdbc:mysql://db.local/shop", ["Orders"]).name
    'shop.Orders'
    """
    server = read_server(url)
    return Dataset(server.namespace, ".".join(_qualified(parts, server)))


def engine_of(url: str) -> Engine:
    """The kind of database that a JDBC URL leads to."""
    return read_server(url).engine


def jdbc_source(url: str) -> str:
    """The URL of the database without user, password or parameters, for the dataSource facet.

    >>> jdbc_source("jdbc:mysql://me:secret@db.local/shop?ssl=true")
    'jdbc:mysql://db.local:3306/shop'
    """
    server = read_server(url)
    return f"jdbc:{server.namespace}" + (f"/{server.database}" if server.database else "")


def _parts(table: str, engine: Engine) -> list[str]:
    return [
        engine.folded(match[4]).strip() if match[4] else _unquoted(match) for match in _PART.finditer(table.strip())
    ]


def _unquoted(match: re.Match[str]) -> str:
    quoted = match[1] or match[2] or match[3] or ""
    return quoted.replace('""', '"').replace("``", "`").replace("]]", "]").strip()


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
