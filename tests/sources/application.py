"""A Spark application that runs cases one after the other; the tests start it under ``headwater run``.

Usage: ``application.py PLAN``, a JSON file with ``conf``, ``folder``, ``cases`` and the ``scope`` of cases in Python.
Into ``folder/ran.json`` goes, for each case, when it began and ended and what it raised.
"""

import json
import sys
import time
import traceback
from pathlib import Path

from pyspark.sql import SparkSession
from pyspark.sql import functions as F  # noqa: N812

INPUTS = {
    "customers": "VALUES (1, 'Ann', 'DE'), (2, 'Bob', 'FR') AS t(id, name, country)",
    "orders": "VALUES (10, 1, 5.0D, DATE '2026-01-01'), (11, 2, 7.5D, DATE '2026-01-02')"
    " AS t(id, customer, amount, day)",
}


def start(conf):
    builder = SparkSession.builder.master("local[1]").appName("sources")
    for key, value in conf.items():
        builder = builder.config(key, value)
    return builder.getOrCreate()


def make_inputs(spark):
    spark.sql("CREATE DATABASE shared")
    for name, values in INPUTS.items():
        spark.sql(f"CREATE TABLE shared.{name} USING parquet AS SELECT * FROM {values}")


def run(spark, case, folder, number, scope):
    db, data = f"case_{number}", str(folder / f"data_{number}")
    body = case["body"].replace("{data}", data).replace("{db}", db).replace("{warehouse}", str(folder / "warehouse"))
    spark.sql(f"CREATE DATABASE {db}")
    spark.sql(f"USE {db}")
    began, error = time.time(), ""
    try:
        if case["language"] == "python":
            exec(
                body, {"spark": spark, "sql": spark.sql, "F": F, "data": data, "db": db, "folder": str(folder), **scope}
            )
        else:
            for statement in body.split(";\n"):
                spark.sql(statement.rstrip(";"))
    except Exception:
        error = traceback.format_exc()
    spark.sql("USE default")
    return {"began": began, "ended": time.time(), "error": error}


def main():
    plan = json.loads(Path(sys.argv[1]).read_text())
    folder = Path(plan["folder"])
    spark = start(plan["conf"])
    spark.sparkContext.setLogLevel("ERROR")
    make_inputs(spark)
    ran = []
    for number, case in enumerate(plan["cases"]):
        time.sleep(0.01)  # event times are in milliseconds, and tell which case an event belongs to
        ran.append(run(spark, case, folder, number, plan["scope"]))
    spark.stop()
    (folder / "ran.json").write_text(json.dumps(ran))


main()
