"""Catalogs and tables in databases, for a dry run: copies of what is local, known schemas of what is out of reach."""

import re
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from headwater.dryrun.schemas import Schema, Schemas

CATALOG = "spark.sql.catalogImplementation"
_URL, _SERVICE = "javax.jdo.option.ConnectionURL", "hive.metastore.uris"
_OWN_METASTORE = {
    _SERVICE: "",
    "javax.jdo.option.ConnectionDriverName": "org.apache.derby.jdbc.EmbeddedDriver",
    "datanucleus.schema.autoCreateAll": "true",
    "hive.metastore.schema.verification": "false",
}
_DERBY = re.compile(r"jdbc:derby:(?:directory:)?(?:;?databaseName=)?([^;]+)")
IN_MEMORY: Mapping[str, str] = {CATALOG: "in-memory"}


def catalog(java: Any, conf: Any, folder: Path) -> Mapping[str, str]:
    """The settings of the catalog: one in memory, or with Hive's support one in a Derby database of the dry run.

    That is a copy of the one that the job has, where it has such a database. A metastore that is a service or in
    another database is not used, since nothing of it may change.
    """
    java.java.lang.System.setProperty("derby.stream.error.file", str(folder / "derby.log"))
    if conf.get(CATALOG, "") != "hive":
        return IN_MEMORY
    hive = java.org.apache.hadoop.hive.conf.HiveConf()

    def setting(name: str) -> str:
        return str(conf.get(f"spark.hadoop.{name}", conf.get(name, hive.get(name) or "")))

    copy, derby = folder / "metastore", _DERBY.match(setting(_URL))
    home = Path(java.java.lang.System.getProperty("derby.system.home") or ".")
    if not setting(_SERVICE) and derby and (home / derby[1]).is_dir() and not copy.exists():
        shutil.copytree(home / derby[1], copy, ignore=shutil.ignore_patterns("*.lck"))
    scratch = {f"hive.exec.{name}": str(folder / "hive") for name in ("scratchdir", "local.scratchdir")}
    own = {**scratch, **_OWN_METASTORE, _URL: f"jdbc:derby:;databaseName={copy};create=true"}
    return {CATALOG: "hive", **{f"spark.hadoop.{name}": value for name, value in own.items()}}


def known_table(schemas: Schemas, name: str) -> Schema | None:
    """The schema of a table of a database, by its name with or without that of its database schema.

    >>> known_table({"public.orders": Schema({"id": "int"})}, "orders")
    Schema(columns={'id': 'int'}, location='')
    """
    alike = [one for known, one in schemas.items() if known.rpartition(".")[2] == name]
    return schemas.get(name) or (alike[0] if len(alike) == 1 else None)


def jdbc_frame(session: Any, schema: Schema, options: Mapping[str, Any]) -> Any:
    """A DataFrame of a table behind JDBC, without a connection to it; ``options`` are those of Spark's reader."""
    from pyspark.sql import DataFrame

    java, gateway = session._jvm, session.sparkContext._gateway
    texts = {name: str(value) for name, value in options.items() if isinstance(value, str | int)}
    package = java.org.apache.spark.sql.execution.datasources.jdbc
    columns = java.org.apache.spark.sql.types.StructType.fromDDL(schema.lines.replace("\n", ","))
    parts = gateway.new_array(java.org.apache.spark.Partition, 0)
    described = [columns, parts, package.JDBCOptions(java.PythonUtils.toScalaMap(texts))]
    kind = java.java.lang.Class.forName("org.apache.spark.sql.execution.datasources.jdbc.JDBCRelation")
    if kind.getConstructors()[0].getParameterCount() > len(described) + 1:  # of metrics, from Spark 4.1 on
        described.append(java.PythonUtils.toScalaMap({}))
    relation = package.JDBCRelation(*described, session._jsparkSession)
    return DataFrame(session._jsparkSession.baseRelationToDataFrame(relation), session)
