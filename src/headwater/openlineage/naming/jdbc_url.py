"""The server and the database in a JDBC URL, as each driver writes it, and the names of its tables.

Everything is built from the parts that are wanted (host, port, database), never by cutting secrets out of a URL:
credentials and parameters cannot be left over. Default ports are those of OpenLineage's ``JdbcExtractor`` classes.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from headwater.model import Dataset


@dataclass(frozen=True, slots=True)
class Engine:
    """A kind of database, by its name in namespaces.

    ``levels`` is how many parts a table's name has below the namespace, database first. ``fold`` is what it does
    to names that are not quoted: ``lower``, ``upper``, or nothing.
    """

    scheme: str
    port: str = ""
    levels: int = 3
    schema: str = ""
    database: str = ""
    fold: str = ""

    def folded(self, name: str) -> str:
        """A name as the database keeps it that was written without quotes."""
        if self.fold == "lower":
            return name.lower()
        return name.upper() if self.fold == "upper" else name


@dataclass(frozen=True, slots=True)
class Server:
    """Where a database is: ``hosts`` with their ports, or the ``file`` of an embedded one."""

    engine: Engine
    hosts: str = ""
    file: str = ""
    database: str = ""
    schema: str = ""

    @property
    def namespace(self) -> str:
        """The namespace of the datasets it holds (OpenLineage naming specification, "Dataset Naming")."""
        if self.hosts:
            return f"{self.engine.scheme}://{self.hosts}"
        return f"{self.engine.scheme}:{self.file}" if self.file else self.engine.scheme


_ENGINES: Mapping[str, Engine] = {
    "postgresql": Engine("postgres", "5432", schema="public", fold="lower"),
    "postgres": Engine("postgres", "5432", schema="public", fold="lower"),
    "mysql": Engine("mysql", "3306", levels=2),
    # One server, two drivers: either may read what the other wrote.
    "mariadb": Engine("mysql", "3306", levels=2),
    "sqlserver": Engine("mssql", "1433", schema="dbo"),
    "oracle": Engine("oracle", "1521", fold="upper"),
    "redshift": Engine("redshift", "5439", schema="public", fold="lower"),
    "snowflake": Engine("snowflake", schema="PUBLIC", fold="upper"),
    "trino": Engine("trino", "443", fold="lower"),
    "presto": Engine("presto", "8080", fold="lower"),
    "db2": Engine("db2", "6789", fold="upper"),
    "clickhouse": Engine("clickhouse", "8123", levels=2, database="default"),
    "ch": Engine("clickhouse", "8123", levels=2, database="default"),
    "teradata": Engine("teradata", "1025", levels=2),
    "crate": Engine("crate", "5432", schema="doc", fold="lower"),
    "derby": Engine("derby", "1527", levels=2, schema="APP", fold="upper"),
    "h2": Engine("h2", "9092", levels=2, schema="PUBLIC", fold="upper"),
    "hsqldb": Engine("hsqldb", "9001", levels=2, schema="PUBLIC", fold="upper"),
    "sqlite": Engine("sqlite", levels=1),
    "duckdb": Engine("duckdb", levels=2, schema="main"),
}

_PROPERTY = re.compile(r"(?:^|[;?&,:])\s*([A-Za-z_]+)=([^;?&,]*)")
_HOST = re.compile(r"(\[[0-9a-f:.%]+\]|[\w.-]+)(?::(\d*))?")
_KEYED_HOST = re.compile(r"\bhost=([\w.\-\[\]:]+)(?:[\s,()]*port=(\d+))?", re.IGNORECASE)
_TNS_HOST = re.compile(r"\(\s*HOST\s*=\s*([^)\s]+)\s*\)(?:\s*\(\s*PORT\s*=\s*(\d+)\s*\))?", re.IGNORECASE)
_TNS_SERVICE = re.compile(r"\(\s*(?:SERVICE_NAME|SID)\s*=\s*([^)\s]+)\s*\)", re.IGNORECASE)
_ORACLE_SID = re.compile(r"(.+):([^:\]]*[^:\]\d][^:\]]*)")
_REDSHIFT_HOST = re.compile(r"([^.]+)\.[^.]+\.([^.]+)\.redshift(?:-serverless)?\.amazonaws\.com(?:\.cn)?")


def read_server(url: str) -> Server:
    """The server and database of a JDBC URL, with or without the ``jdbc:`` before it. Any text gives some."""
    rest = re.sub(r"^jdbc:", "", url.strip(), flags=re.IGNORECASE)
    scheme, _, rest = rest.partition(":")
    scheme = scheme.lower()
    if scheme == "jtds":
        scheme, _, rest = rest.partition(":")
    engine = _ENGINES.get(scheme, Engine(scheme or "jdbc"))
    read = _READERS.get(engine.scheme, _read_usual)
    return read(engine, rest)


def _read_usual(engine: Engine, rest: str) -> Server:
    """``[sub-protocol:]//[user[:password]@]host[:port][,…][/database][:;?parameters]``"""
    _, slashes, location = rest.partition("//")
    if slashes:
        hosts, path = _hosts_and_path(location, engine.port)
        return Server(engine, hosts=hosts, database=re.split(r"[/:]", path, maxsplit=1)[0] or engine.database)
    if engine.port:
        return Server(engine, hosts=f"localhost:{engine.port}", database=_without_parameters(rest))
    return _read_file(engine, rest)


def _read_file(engine: Engine, rest: str) -> Server:
    """``[file:]path[;parameters]``: an embedded database; its file is the namespace."""
    path = _without_parameters(rest).rpartition("@")[2].removeprefix("file:").replace("\\", "/")
    return Server(engine, file=path or _properties(rest).get("databasename", ""))


def _read_embedded(engine: Engine, rest: str) -> Server:
    """A database that is a file, but can also be served: ``//host/path``, ``tcp://host/path``."""
    if not re.match(r"(?:\w+:)?//", rest):
        return _read_file(engine, rest)
    hosts, path = _hosts_and_path(rest.partition("//")[2], engine.port)
    return Server(replace(engine, levels=3), hosts=hosts, database=path)


def _read_sqlserver(engine: Engine, rest: str) -> Server:
    r"""``//[host[\instance]][:port][/database][;property=value…]``; an instance finds its own port."""
    properties = _properties(rest)
    authority, _, path = _without_parameters(rest.partition("//")[2]).partition("/")
    host, _, instance = authority.partition("\\")
    host, instance = host or properties.get("servername", ""), instance or properties.get("instancename", "")
    instance, _, port = instance.partition(":")
    default = "" if instance else properties.get("portnumber", engine.port)
    hosts = _hosts(f"{host}:{port}", default)
    database = path or properties.get("databasename") or properties.get("database", "")
    return Server(engine, hosts=f"{hosts}/{instance.lower()}" if instance else hosts, database=database)


def _read_oracle(engine: Engine, rest: str) -> Server:
    """``thin:[user/password]@[//]host[:port][:sid|/service]``, or a TNS descriptor in parentheses."""
    if described := _TNS_HOST.findall(rest):
        named = _TNS_SERVICE.search(rest)
        hosts = ",".join(_with_port(f"{host}:{port}", engine.port) for host, port in described)
        return Server(engine, hosts=hosts, database=named[1] if named else "")
    location = re.sub(r"^(?:\w+:)?//", "", _without_parameters(rest.rpartition("@")[2]))
    authority, _, service = location.partition("/")
    if not service and (with_sid := _ORACLE_SID.fullmatch(authority)):
        authority, service = with_sid[1], with_sid[2]
    return Server(engine, hosts=_hosts(authority, engine.port), database=service.partition(":")[0])


def _read_snowflake(engine: Engine, rest: str) -> Server:
    properties = _properties(rest)
    host = _without_parameters(rest.partition("//")[2]).partition("/")[0].rpartition("@")[2].partition(":")[0]
    account = re.sub(r"\.snowflakecomputing\.(?:com|cn)$", "", host.lower())
    return Server(engine, hosts=account, database=properties.get("db", ""), schema=properties.get("schema", ""))


def _read_redshift(engine: Engine, rest: str) -> Server:
    """The namespace has the cluster and region of the host, as the specification says."""
    server = _read_usual(engine, rest)
    host, _, port = server.hosts.rpartition(":")
    found = _REDSHIFT_HOST.fullmatch(host)
    return replace(server, hosts=f"{found[1]}.{found[2]}:{port}") if found else server


def _read_trino(engine: Engine, rest: str) -> Server:
    """``//host:port[/catalog[/schema]]``"""
    server = _read_usual(engine, rest)
    parts = _without_parameters(rest.partition("//")[2]).split("/")
    return replace(server, schema=parts[2] if len(parts) > 2 else "")


def _read_teradata(engine: Engine, rest: str) -> Server:
    """``//host/DATABASE=x,DBS_PORT=1025,…``"""
    properties = _properties(rest.replace("/", ",").upper())
    host = rest.partition("//")[2].partition("/")[0]
    database = re.search(r"[/,]DATABASE=([^,]*)", rest, re.IGNORECASE)
    port = properties.get("dbs_port", engine.port)
    return Server(engine, hosts=_hosts(host, port), database=database[1] if database else "")


_READERS: Mapping[str, Callable[[Engine, str], Server]] = {
    "mssql": _read_sqlserver,
    "oracle": _read_oracle,
    "snowflake": _read_snowflake,
    "redshift": _read_redshift,
    "trino": _read_trino,
    "presto": _read_trino,
    "teradata": _read_teradata,
    "derby": _read_embedded,
    "h2": _read_embedded,
    "hsqldb": _read_embedded,
    "sqlite": _read_file,
    "duckdb": _read_file,
}


def _without_parameters(text: str) -> str:
    return re.split(r"[;?]", text, maxsplit=1)[0].rstrip("/")


def _properties(text: str) -> Mapping[str, str]:
    """Connection properties by lower-case name; only those read by name ever leave this module."""
    return {match[1].lower(): match[2] for match in _PROPERTY.finditer(text)}


def _hosts_and_path(location: str, default_port: str) -> tuple[str, str]:
    """Text between ``//`` and the parameters; a password may hold a slash that nobody escaped."""
    if keyed := _KEYED_HOST.findall(location):
        hosts = ",".join(_with_port(f"{host}:{port}", default_port) for host, port in keyed)
        return hosts, _without_parameters(location.rpartition(")")[2]).strip("/")
    authority, _, path = _without_parameters(location).partition("/")
    if "@" in path and "@" not in authority:
        authority, _, path = path.rpartition("@")[2].partition("/")
    return _hosts(authority, default_port), path


def _hosts(authority: str, default_port: str) -> str:
    """Hosts in lower case, each with its port, without user and password."""
    hosts = (host.rpartition("@")[2].strip() for host in authority.split(","))
    return ",".join(_with_port(host, default_port) for host in hosts)


def _with_port(host: str, default_port: str) -> str:
    """Only what has the form of a host and a port: anything else could be part of a password."""
    found = _HOST.match(host.lower())
    if not found:
        return ""
    port = found[2] or default_port
    return f"{found[1]}:{port}" if port else found[1]


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
