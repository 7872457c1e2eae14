"""Dataset names by the OpenLineage naming specification: files, catalog tables, Kafka topics.

Where the specification leaves a choice, the names are those that the OpenLineage Spark integration
gives (``FilesystemDatasetUtils``, ``PathUtils``), so that leaving it for headwater keeps the names.
"""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from urllib.parse import unquote

from headwater.model import Dataset, DatasetDescription, Symlink
from headwater.openlineage.naming.jdbc_url import jdbc_dataset, jdbc_source
from headwater.redaction import is_secret

__all__ = [
    "FILE_SYSTEMS",
    "Catalog",
    "catalog_dataset",
    "holds_paths",
    "jdbc_dataset",
    "jdbc_source",
    "location_dataset",
    "path_dataset",
]

SESSION_CATALOG = "spark_catalog"

# Several Hadoop schemes reach the same store; the specification knows one of each (FilesystemDatasetUtils).
_OBJECT_STORES = {
    "s3": "s3",
    "s3a": "s3",
    "s3n": "s3",
    "gs": "gs",
    "abfs": "abfss",
    "abfss": "abfss",
    "wasb": "wasbs",
    "wasbs": "wasbs",
}
FILE_SYSTEMS = frozenset({"file", *_OBJECT_STORES})
"""The schemes of namespaces in which names are paths, with or without a slash at their beginning."""

_CONTAINER_IN_AUTHORITY = frozenset({"abfss", "wasbs"})
_WITH_QUERY = frozenset({"http", "https"})

_SCHEME = re.compile(r"([A-Za-z][A-Za-z0-9+.-]+):(.*)", re.DOTALL)
_WINDOWS_DRIVE = re.compile(r"/*[A-Za-z]:[/\\]")
# user:password whose password holds an unescaped slash, as the secret keys of S3 often do.
_HALF_A_PASSWORD = re.compile(r"^[^@]*:(?!\d*$)[^@]*$")
_SLASHES = re.compile(r"/{2,}")


@dataclass(frozen=True, slots=True)
class Catalog:
    """Where a catalog keeps its tables: what decides the namespace of their catalog names.

    ``metastore`` is ``hive.metastore.uris`` (empty for an embedded metastore), ``glue`` the ARN of a
    Glue catalog (``arn:aws:glue:region:account``), ``warehouse`` the root of its managed tables,
    ``service`` the URI of a catalog that answers over HTTP.
    """

    metastore: str = ""
    warehouse: str = ""
    glue: str = ""
    service: str = ""

    @property
    def known(self) -> bool:
        """True when a service knows the tables by their names, wherever their files are."""
        return bool(self.metastore or self.glue or self.service)


@dataclass(frozen=True, slots=True)
class _Location:
    scheme: str
    authority: str
    path: str


def path_dataset(path: str) -> Dataset:
    """The dataset at a path as Hadoop's ``Path.toString`` writes it, nothing escaped.

    >>> path_dataset("s3a://bucket/sales/2026/")
    Dataset(namespace='s3://bucket', name='sales/2026')
    >>> path_dataset("file:/data/100%25 sure")
    Dataset(namespace='file', name='/data/100%25 sure')
    """
    return _dataset(_location(path))


def location_dataset(uri: str) -> Dataset:
    """The dataset at a URI as ``URI.toString`` writes it, as in a table's location: escapes are undone.

    >>> location_dataset("file:/data/100%25%20sure")
    Dataset(namespace='file', name='/data/100% sure')
    """
    location = _location(uri)
    return _dataset(_Location(location.scheme, location.authority, unquote(location.path)))


def holds_paths(dataset: Dataset) -> bool:
    """True when the dataset's name is a path, which has directories."""
    return dataset.namespace.partition("://")[0] in FILE_SYSTEMS or dataset.name.startswith("/")


def catalog_dataset(identifier: Sequence[str], location: str, catalog: Catalog) -> DatasetDescription:
    """A catalog table or view, named by its location, with its catalog name as a TABLE symlink.

    ``identifier`` is ``(table)``, ``(database, table)`` or ``(catalog, database, table)``; ``location`` is a URI,
    empty for a view. Without a location the catalog name is the name. The symlink of a table outside the
    warehouse, unless a metastore knows it, has the location as its namespace: the same ``default.t`` of two
    applications would else be one dataset (``PathUtils.fromCatalogTable``). The location is a root and is
    never trimmed.
    """
    name = _catalog_name(identifier, catalog)
    symbolic = Dataset(_catalog_namespace(catalog), name)
    if not location:
        return DatasetDescription(symbolic)
    dataset = location_dataset(location)
    if not (catalog.known or _inside(location, catalog.warehouse)):
        symbolic = Dataset(_folder_namespace(dataset), name)
    return DatasetDescription(dataset, symlinks=(Symlink(symbolic),))


def _catalog_name(identifier: Sequence[str], catalog: Catalog) -> str:
    parts = tuple(identifier)
    if len(parts) > 1 and parts[0] == SESSION_CATALOG:
        parts = parts[1:]
    return "table/" + "/".join(parts) if catalog.glue else ".".join(parts)


def _catalog_namespace(catalog: Catalog) -> str:
    if catalog.glue:
        return catalog.glue
    if catalog.metastore:
        return f"hive://{_authority_of_first(catalog.metastore)}"
    if catalog.service:
        return _service(catalog.service)
    if catalog.warehouse:
        return _folder_namespace(location_dataset(catalog.warehouse))
    return "inmemory://"


def _authority_of_first(metastores: str) -> str:
    first = re.split(r"[,?#]", metastores, maxsplit=1)[0].strip()
    return first.rpartition("//")[2].rpartition("@")[2].strip("/")


def _service(uri: str) -> str:
    """The URI of a catalog without user, password and parameters."""
    text = re.split(r"[?#]", uri, maxsplit=1)[0].rstrip("/")
    if "://" not in text:
        return text
    place = _location(text)
    return f"{place.scheme}://{_public_authority(place.scheme, place.authority)}{place.path}"


def _folder_namespace(folder: Dataset) -> str:
    path = "" if folder.name == "/" else folder.name.lstrip("/")
    if folder.namespace == "file":
        return f"file:/{path}" if path else "file"
    return f"{folder.namespace}/{path}".rstrip("/")


def _inside(location: str, warehouse: str) -> bool:
    if not warehouse:
        return False
    inner, outer = location_dataset(location), location_dataset(warehouse)
    return inner.namespace == outer.namespace and inner.name.startswith(outer.name.rstrip("/") + "/")


def _location(uri: str) -> _Location:
    if _WINDOWS_DRIVE.match(uri):
        return _Location("file", "", uri)
    match = _SCHEME.fullmatch(uri)
    if not match or uri.startswith("/"):
        return _Location("file", "", uri)
    scheme, rest = match[1].lower(), match[2]
    if not rest.startswith("//"):
        return _Location(scheme, "", rest)
    authority, slash, path = rest[2:].partition("/")
    if _HALF_A_PASSWORD.search(authority) and "@" in path:
        authority, slash, path = path.rpartition("@")[2].partition("/")
    return _Location(scheme, authority, slash + path)


def _dataset(location: _Location) -> Dataset:
    scheme = _OBJECT_STORES.get(location.scheme, location.scheme)
    authority = _public_authority(scheme, location.authority)
    namespace = f"{scheme}://{authority}" if authority else scheme
    path = _path(location)
    if location.scheme in _OBJECT_STORES:
        path = path.lstrip("/")
    return Dataset(namespace, path or "/")


def _public_authority(scheme: str, authority: str) -> str:
    """The authority without user and password; the part before ``@`` is the container in Azure's schemes."""
    if scheme == "file" and authority.lower() == "localhost":
        return ""
    user, _, host = authority.rpartition("@")
    if user and scheme in _CONTAINER_IN_AUTHORITY:
        return f"{user.partition(':')[0]}@{host}"
    return host


def _has_secret_parameter(path: str) -> bool:
    """Whether a path has a signature or a token, as with a URL: ``?`` alone is a letter of a name."""
    parameters = re.split(r"[?&]", path)[1:]
    return any("=" in one and is_secret(one.partition("=")[0]) for one in parameters)


def _path(location: _Location) -> str:
    path = location.path
    if location.scheme in _WITH_QUERY or _has_secret_parameter(path):
        path = re.split(r"[?#]", path, maxsplit=1)[0]
    if location.scheme == "file" and _WINDOWS_DRIVE.match(path):
        path = "/" + path.replace("\\", "/")
    return _SLASHES.sub("/", path).rstrip("/")


_DEFAULT_PORT = "9092"


def kafka_namespace(servers: str) -> str:
    """``kafka://host:port`` of the first server in ``kafka.bootstrap.servers``, as the Spark integration has it.

    >>> kafka_namespace("SASL_SSL://b1:9093,SASL_SSL://b2:9093")
    'kafka://b1:9093'
    """
    first = servers.split(",", maxsplit=1)[0].strip().rpartition("://")[2].rpartition("@")[2].strip("/")
    host, colon, port = first.rpartition(":")
    if not colon or not port.isdigit():
        host, port = first, _DEFAULT_PORT
    return f"kafka://{host}:{port}"


def kafka_topics(options: Mapping[str, str | None]) -> tuple[Dataset, ...]:
    """The topics that the options of a reader (``subscribe``, ``assign``) or writer (``topic``) name; empty for none.

    Args:
        options: those of Spark's Kafka source, in lower case.

    >>> kafka_topics({"kafka.bootstrap.servers": "b:9092", "subscribe": "orders, returns"})[1]
    Dataset(namespace='kafka://b:9092', name='returns')
    """
    namespace = kafka_namespace(options.get("kafka.bootstrap.servers") or "")
    names = [
        options.get("topic") or "",
        *(options.get("subscribe") or "").split(","),
        *_assigned(options.get("assign")),
    ]
    return tuple(Dataset(namespace, name.strip()) for name in dict.fromkeys(names) if name.strip())


def _assigned(text: str | None) -> tuple[str, ...]:
    """The topics of ``assign``, which is JSON: ``{"orders":[0,1]}``."""
    try:
        found = json.loads(text) if text else {}
    except ValueError:
        return ()
    return tuple(found) if isinstance(found, dict) else ()
