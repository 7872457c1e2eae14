"""The three small tables that every case reads, and Spark sessions for cases."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from types import MappingProxyType
from typing import Any

SETTINGS: Mapping[str, str] = {
    "spark.ui.enabled": "false",
    "spark.driver.memory": "3g",
    "spark.ui.showConsoleProgress": "false",
    "spark.sql.shuffle.partitions": "1",
    "spark.sql.ansi.enabled": "false",
    "spark.sql.codegen.wholeStage": "false",
    "spark.sql.pyspark.jvmStacktrace.enabled": "false",
}

TABLES: Mapping[str, str] = {
    "customers": """
        SELECT * FROM VALUES
          (1, 'Ann', 'ann@x.io', 'DE', 30, named_struct('code', 'a', 'tier', 1), array('x', 'y'), map('k', 'v')),
          (2, 'Bob', 'bob@x.io', 'FR', 40, named_struct('code', 'b', 'tier', 2), array('y'), map('k', 'w'))
        AS t(id, name, email, country, age, segment, tags, props)""",
    "orders": """
        SELECT * FROM VALUES
          (10, 1, 100, 5.0D, 2, 'ok', TIMESTAMP '2026-01-01 00:00:00', 'n1'),
          (11, 2, 101, 7.5D, 1, 'bad', TIMESTAMP '2026-01-02 00:00:00', 'n2')
        AS t(order_id, customer_id, product_id, amount, qty, status, ts, note)""",
    "products": """
        SELECT * FROM VALUES (100, 'Pen', 2.5D, 'office'), (101, 'Cup', 7.5D, 'kitchen')
        AS t(product_id, title, price, category)""",
}


@contextmanager
def spark_for_cases(folder: Path, more: Mapping[str, str] = MappingProxyType({})) -> Iterator[Any]:
    """A running Spark whose warehouse below ``folder`` has the three tables; ``more`` settings; stopped at the end."""
    from pyspark.sql import SparkSession

    builder = SparkSession.builder.master("local[1]").appName("cases")
    builder = builder.config("spark.sql.warehouse.dir", str(folder / "warehouse"))
    for key, value in {**SETTINGS, **more}.items():
        builder = builder.config(key, value)
    spark = builder.getOrCreate()
    try:
        spark.sparkContext.setLogLevel("OFF")
        for name, query in TABLES.items():
            spark.sql(f"CREATE TABLE {name} USING parquet AS {query}")
        yield spark
    finally:
        spark.stop()


@contextmanager
def jvm_of_its_own() -> Iterator[None]:
    """A Spark that starts inside gets a new JVM, the only way to packages that the JVM already running is without."""
    from pyspark import SparkContext
    from pyspark.sql import SparkSession

    before = SparkContext._gateway, SparkContext._jvm
    running = SparkContext._active_spark_context, SparkSession._instantiatedSession
    SparkContext._gateway = SparkContext._jvm = None
    SparkContext._active_spark_context = SparkSession._instantiatedSession = None
    try:
        yield
    finally:
        gateway = SparkContext._gateway
        SparkContext._gateway, SparkContext._jvm = before
        SparkContext._active_spark_context, SparkSession._instantiatedSession = running
        if gateway is not None:
            gateway.shutdown()
            gateway.proc.communicate(timeout=60)  # it ends with its standard input


@contextmanager
def session_of_its_own(spark: Any) -> Iterator[Any]:
    """A session with its own views, functions, variables and settings; what it left in the catalog is dropped."""
    session = spark.newSession()
    try:
        with active(session):
            yield session
    finally:
        _drop_all_but_the_tables(spark)


@contextmanager
def active(session: Any) -> Iterator[None]:
    """PySpark's functions use the active session: let it be this one; at the end nothing is cached.

    The pandas API takes that on which ``createDataFrame`` was called last, ended or not.
    """
    from pyspark.sql import SparkSession

    jvm = session._jvm.org.apache.spark.sql.SparkSession
    before, last = SparkSession._instantiatedSession, SparkSession._activeSession
    SparkSession._instantiatedSession = SparkSession._activeSession = session
    jvm.setActiveSession(session._jsparkSession)
    try:
        yield
    finally:
        SparkSession._instantiatedSession, SparkSession._activeSession = before, last
        if before is not None:
            jvm.setActiveSession(before._jsparkSession)
        session.catalog.clearCache()


def _drop_all_but_the_tables(spark: Any) -> None:
    for database in spark.catalog.listDatabases():
        if database.name != "default":
            spark.sql(f"DROP DATABASE `{database.name}` CASCADE")
    for table in spark.catalog.listTables("default"):
        if table.name not in TABLES:
            kind = "VIEW" if table.tableType == "VIEW" else "TABLE"
            spark.sql(f"DROP {kind} IF EXISTS default.`{table.name}`")
    for view in spark.sql("SHOW VIEWS IN global_temp").collect():
        spark.catalog.dropGlobalTempView(view.viewName)
    for function in spark.sql("SHOW USER FUNCTIONS").collect():
        if "." in function.function:  # what an extension brings has no database
            spark.sql(f"DROP FUNCTION IF EXISTS {function.function}")
