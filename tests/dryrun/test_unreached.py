"""Jobs whose sources are out of reach, and jobs that are no Python file, under ``headwater plan``."""

import json
import re

import pytest
from tests.capture.conftest import PYTHON, SPARK
from tests.connectors import ICEBERG
from tests.dryrun.conftest import DryJobs, edges

pytestmark = pytest.mark.spark

UNREACHED = f"""{SPARK}
spark.table("sales.orders").join(spark.read.parquet("s3a://lake/people"), "id").write.parquet("lake/joined")
spark.sql("INSERT INTO sales.kept SELECT id, upper(note) FROM sales.orders WHERE id > 1")
spark.read.json("far/visits").write.partitionBy("day").json("lake/days")
spark.read.json("far/visits").select("n").write.orc("lake/again")
spark.read.json("lake/days").select("day").write.saveAsTable("days")
spark.read.json("lake/days/day=2001-01-01").write.orc("lake/one_day")
shop = dict(url="jdbc:derby:there_is_none", dbtable="stock", driver="org.apache.derby.iapi.jdbc.AutoloadedDriver")
spark.read.format("jdbc").options(**shop).load().write.orc("lake/stock")
spark.read.jdbc(shop["url"], "shop.stock", properties=shop).select("left").write.orc("lake/left")
spark.read.schema("id INT, name STRING").json("far/named").write.orc("lake/named")
spark.read.text("far/log.txt").write.orc("lake/log")
reader = spark.read.format("json").option("multiLine", True)
reader.load("far/visits").select("n").write.orc("lake/again_by_reader")
reader.load("far/others").write.orc("lake/others")
spark.table("sales.orders").write.csv("lake/bare")
spark.read.csv("lake/bare", inferSchema=True).select("_c1").write.orc("lake/notes")
spark.read.format("orc").load("lake/notes").write.mode("append").option("header", True).format("csv").save("lake/end")
stream = spark.readStream.schema("id INT, qty INT").json("lake/quantities").writeStream
stream.option("checkpointLocation", "lake/checkpoint").start("lake/stream").awaitTermination()
"""

SCHEMAS = """\
sales.orders: {id: bigint, note: string}
sales.kept:
  location: s3a://lake/kept
  columns: {id: bigint, note: varchar(9)}
s3a://lake/people: {id: bigint, name: string}
far/visits: {day: date, n: int}
far/others: {k: string}
shop.stock: {item: string, left: int}
"""


def test_sources_out_of_reach_have_the_columns_of_a_file(lake: DryJobs) -> None:
    lake.write(UNREACHED, "unreached.py")
    lake.write(SCHEMAS, "schemas.yml")
    plan = lake.planned("--schemas", "schemas.yml", "unreached.py")
    assert plan["report"]["failure"] is None, plan["err"]
    assert plan["report"]["unexecuted"] == []
    folder, found = str(lake.folder), edges(plan["events"])
    orders = f"{folder}/warehouse/sales.db/orders"
    assert found[f"{folder}/lake/joined"] == {
        ("id", f"{orders}.id", "IDENTITY"),
        ("note", f"{orders}.note", "IDENTITY"),
        ("name", "people.name", "IDENTITY"),
        ("*", f"{orders}.id", "JOIN"),
        ("*", "people.id", "JOIN"),
    }
    assert found["kept"] == {
        ("id", f"{orders}.id", "IDENTITY"),
        ("note", f"{orders}.note", "TRANSFORMATION"),
        ("*", f"{orders}.id", "FILTER"),
    }
    assert found[f"{folder}/lake/days"] == {
        ("day", f"{folder}/far/visits.day", "IDENTITY"),
        ("n", f"{folder}/far/visits.n", "IDENTITY"),
    }
    assert found[f"{folder}/lake/again"] == {("n", f"{folder}/far/visits.n", "IDENTITY")}
    assert found[f"{folder}/lake/one_day"] == {("n", f"{folder}/lake/days.n", "IDENTITY")}
    assert {column for column, source, _ in found[f"{folder}/lake/stock"] if source.startswith("APP.STOCK.")} == {
        "item",
        "left",
    }
    assert {column for column, source, _ in found[f"{folder}/lake/left"] if source.startswith("APP.STOCK.")} == {"left"}
    unreached = ("s3a", "far/", "2001", '"jdbc"', "jdbc(")
    lines = [str(at) for at, line in enumerate(UNREACHED.splitlines(), 1) if any(one in line for one in unreached)]
    assert [one["place"].partition(":")[2] for one in plan["report"]["answers"]] == lines
    assert found[f"{folder}/lake/named"] == {
        ("id", f"{folder}/far/named.id", "IDENTITY"),
        ("name", f"{folder}/far/named.name", "IDENTITY"),
    }
    assert found[f"{folder}/lake/others"] == {("k", f"{folder}/far/others.k", "IDENTITY")}, "not those of visits"
    assert found[f"{folder}/lake/log"] == {("value", f"{folder}/far/log.txt.value", "IDENTITY")}
    assert found[f"{folder}/warehouse/days"] == {("day", f"{folder}/lake/days.day", "IDENTITY")}
    assert found[f"{folder}/lake/notes"] == {("_c1", f"{folder}/lake/bare._c1", "IDENTITY")}
    assert ("qty", f"{folder}/lake/quantities.qty", "IDENTITY") in found[f"{folder}/lake/stream"]
    assert found[f"{folder}/lake/end"] == {("_c1", f"{folder}/lake/notes._c1", "IDENTITY")}


def test_a_store_knows_the_columns_of_what_its_jobs_have_written(lake: DryJobs) -> None:
    made = (
        'orders = spark.read.parquet("lake/orders")\norders.write.saveAsTable("made")\norders.write.parquet("gone")\n'
    )
    lake.write(f"{SPARK}\n{made}", "made.py")
    assert lake.plan("--store", "known.db", "made.py").code == 0
    used = (
        'spark.table("made").select("amount").unionAll(spark.read.parquet("gone").select("amount")).write.csv("used")'
    )
    lake.write(f"{SPARK}\n{used}\n", "used.py")
    found = edges(lake.planned("--store", "known.db", "used.py")["events"])[f"{lake.folder}/used"]
    assert {source for _, source, _ in found} == {f"{lake.folder}/warehouse/made.amount", f"{lake.folder}/gone.amount"}


CELLS = [
    "%pip install something",
    "%%sql\nCREATE TABLE staged USING parquet AS\nSELECT id, upper(note) AS note FROM sales.orders",
    "rows = spark.table('staged')\nif rows.count():\n    rows.write.csv('lake/never')\nrows.write.csv('lake/cells')",
]


def test_sql_files_and_notebooks_are_jobs(lake: DryJobs) -> None:
    lake.write(SCHEMAS, "schemas.yml")
    lake.write("USE default;\nCREATE TABLE staged AS\nSELECT id, note FROM sales.orders;", "sql/1.sql")
    script = "BEGIN\n  DECLARE most INT = 3;\n  FOR one AS SELECT id FROM sales.orders DO SELECT 1;\n  END FOR;\nEND"
    lake.write(script, "sql/3.sql")
    lake.write(
        "DECLARE VARIABLE low INT DEFAULT 1;\nINSERT INTO staged SELECT id, note FROM sales.orders WHERE id > low",
        "sql/4.sql",
    )
    lake.write("INSERT INTO sales.kept\n-- all\nSELECT * FROM staged", "sql/2.sql")
    cells = [{"cell_type": "code", "source": text} for text in CELLS]
    lake.write(json.dumps({"cells": cells}), "cells.ipynb")
    warehouse = "--conf spark.sql.warehouse.dir=warehouse pyspark-shell"
    lake.environment["PYSPARK_SUBMIT_ARGS"] = f"--conf spark.sql.legacy.createHiveTableByDefault=false {warehouse}"
    folder = lake.planned("--schemas", "schemas.yml", "sql")
    notebook = lake.planned("--schemas", "schemas.yml", "cells.ipynb")
    del lake.environment["PYSPARK_SUBMIT_ARGS"]
    assert folder["report"]["failure"] is None, folder["err"]
    assert [(one["place"], one["action"]) for one in folder["report"]["answers"]] == [("sql/3.sql:1", "SQL script")]
    assert folder["report"]["refusals"] == []
    assert {one for edge in edges(folder["events"])["kept"] for one in edge[:1]} == {"id", "note"}
    assert edges(notebook["events"])[f"{lake.folder}/lake/cells"] == {
        ("_c0", f"{lake.folder}/warehouse/staged.id", "IDENTITY"),
        ("_c1", f"{lake.folder}/warehouse/staged.note", "IDENTITY"),
    }
    report = notebook["report"]
    assert [(one["place"], one["call"]) for one in report["refusals"]] == [
        ("cells.ipynb#1:1", "%pip install something")
    ]
    assert [one["place"] for one in report["answers"]] == ["cells.ipynb#3:2"]
    assert [(one["file"], one["first"]) for one in report["unexecuted"]] == [("cells.ipynb#3", 3)]


FOREIGN = f"""{SPARK}
url, drivers = "jdbc:derby:memory:shop;create=true", spark._jvm.java.sql.DriverManager
database = drivers.getConnection(url)
database.createStatement().execute("CREATE TABLE old (n INT)")
spark.conf.set("spark.sql.catalog.shop", "org.apache.spark.sql.execution.datasources.v2.jdbc.JDBCTableCatalog")
spark.conf.set("spark.sql.catalog.shop.url", url)
spark.conf.set("spark.sql.catalog.shop.driver", "org.apache.derby.jdbc.EmbeddedDriver")
n = items.selectExpr("int(price) AS m")
n.createOrReplaceTempView("n")
spark.sql("CREATE TABLE shop.APP.MADE AS SELECT m FROM n")
n.writeTo("shop.APP.CREATED").create()
n.writeTo("shop.APP.OLD").createOrReplace()
spark.sql("CREATE OR REPLACE TABLE shop.APP.OLD AS SELECT m FROM n")
columns = database.getMetaData().getColumns(None, "APP", None, None)
while columns.next():
    print("there is", columns.getString("TABLE_NAME"), columns.getString("COLUMN_NAME"))
"""


def test_tables_of_a_foreign_catalog_are_neither_made_nor_replaced(lake: DryJobs) -> None:
    """Spark makes a table before it fills it, by commands that have no children once they are analyzed."""
    lake.write(FOREIGN, "foreign.py")
    plan = lake.planned("foreign.py")
    assert plan["report"]["failure"] is None, plan["err"]
    assert re.findall("there is .*", plan["err"]) == ["there is OLD N"]
    commands = [one["reason"].split()[-2] for one in plan["report"]["refusals"]]
    assert commands == [*["CreateTableAsSelect"] * 2, *["ReplaceTableAsSelect"] * 2]
    assert {one["outputs"][0]["name"].rpartition(".")[2] for one in plan["events"]} == {
        "MADE",
        "CREATED",
        "OLD",
    }


ICEBERG_SERVICE = """from pyspark.sql import SparkSession
spark = (
    SparkSession.builder.master("local[1]").config("spark.jars.packages", PACKAGES)
    .config("spark.sql.extensions", "org.apache.iceberg.spark.extensions.IcebergSparkSessionExtensions")
    .config("spark.sql.catalog.shop", "org.apache.iceberg.spark.SparkCatalog")
    .config("spark.sql.catalog.shop.catalog-impl", "org.apache.iceberg.inmemory.InMemoryCatalog")
    .config("spark.sql.catalog.shop.cache-enabled", "false")
    .getOrCreate()
)
java = spark._jvm.org.apache.iceberg
catalog = java.spark.Spark3Util.loadIcebergCatalog(spark._jsparkSession, "shop")
names = spark._sc._gateway.new_array(spark._jvm.String, 1)
names[0] = "db"
db = java.catalog.Namespace.of(names)
catalog.createNamespace(db)
column = java.types.Types.NestedField.optional(1, "n", java.types.Types.IntegerType.get())
columns = spark._sc._gateway.new_array(java.types.Types.NestedField, 1)
columns[0] = column
name = java.catalog.TableIdentifier.of(db, "old")
catalog.createTable(name, java.Schema(columns))
def state():
    return catalog.loadTable(name).operations().current().metadataFileLocation()

before = state()
for command in (
    "INSERT INTO shop.db.old SELECT 2",
    "INSERT OVERWRITE shop.db.old SELECT 3",
    "DELETE FROM shop.db.old",
    "DELETE FROM shop.db.old WHERE n = 1",
    "UPDATE shop.db.old SET n = 2",
    "ALTER TABLE shop.db.old WRITE ORDERED BY n",
    "ALTER TABLE shop.db.old CREATE BRANCH b",
):
    spark.sql(command)
    if state() != before:
        print("it changed by", command)
        before = state()
spark.range(1).selectExpr("int(id) AS n").writeTo("shop.db.old").append()
print("it stayed" if state() == before else "it changed by append")
"""


@pytest.mark.skipif(not ICEBERG, reason="there is no build of Iceberg for this Spark")
def test_tables_of_an_iceberg_catalog_that_is_a_service_stay(lake: DryJobs) -> None:
    """A commit there would be seen by all, and its metadata would be in files of the dry run alone."""
    lake.write(ICEBERG_SERVICE.replace("PACKAGES", repr(ICEBERG)), "service.py")
    # Not sealed: Ivy writes a file even where it has all jars.
    ended = lake.run([PYTHON, "-m", "headwater", "plan", "--format", "json", "service.py"])
    plan = {**json.loads(ended.out), "err": ended.err[-3000:]}
    assert plan["report"]["failure"] is None, plan["err"]
    assert re.findall("it (?:changed by|stayed).*", plan["err"]) == ["it stayed"]
    assert len(plan["report"]["refusals"]) == 8
