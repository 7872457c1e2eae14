"""Catalogs and tables in databases, for a dry run: copies of what is local, known schemas of what is out of reach."""

import re
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from headwater.dryrun.schemas import Schema, Schemas

CATALOG = "spark.sql.catalogImplementation"
_URL = "javax.jdo.option.ConnectionURL"
_DERBY = re.compile(r"jdbc:derby:(?:directory:)?(?:;?databaseName=)?([^;]+)")
IN_MEMORY: Mapping[str, str] = {CATALOG: "in-memory"}


def catalog(java: Any, conf: Any, folder: Path) -> Mapping[str, str]:
    """The settings of the catalog: a copy of the Derby database that a job has Hive's in, else one in memory.

    A metastore that is a service or in another database is not used, since nothing of it may change.
    """
    java.java.lang.System.setProperty("derby.stream.error.file", str(folder / "derby.log"))
    if conf.get(CATALOG, "") != "hive":
        return IN_MEMORY
    hive = java.org.apache.hadoop.hive.conf.HiveConf()
    uris = conf.get("spark.hadoop.hive.metastore.uris", hive.get("hive.metastore.uris") or "")
    derby = _DERBY.match(conf.get(f"spark.hadoop.{_URL}", hive.get(_URL) or ""))
    home = Path(java.java.lang.System.getProperty("derby.system.home") or ".")
    if uris or derby is None or not (home / derby[1]).is_dir():
        return IN_MEMORY
    copy = folder / "metastore"
    if not copy.exists():
        shutil.copytree(home / derby[1], copy, ignore=shutil.ignore_patterns("*.lck"))
    scratch = {f"spark.hadoop.hive.exec.{name}": str(folder / "hive") for name in ("scratchdir", "local.scratchdir")}
    return {**scratch, CATALOG: "hive", f"spark.hadoop.{_URL}": f"jdbc:derby:;databaseName={copy}"}


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
