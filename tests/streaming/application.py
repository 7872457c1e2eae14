"""A Spark application that runs streaming cases one after the other; the tests start it under ``headwater run``.

Usage: ``application.py PLAN``, a JSON file with ``conf``, ``folder``, ``cases``, the ``scope`` of cases and ``jars``.
Into ``folder/ran.json`` goes, for each case, when it began and ended and what it raised. One query is left running.
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
    "orders": "VALUES (10, 1, 5.0D, TIMESTAMP '2026-01-01 00:00:00'), (11, 2, 7.5D, TIMESTAMP '2026-01-01 00:05:00')"
    " AS t(id, customer, amount, at)",
    "clicks": "VALUES (10, 'shop', TIMESTAMP '2026-01-01 00:00:00') AS t(order_id, page, seen)",
}


def start(conf):
    builder = SparkSession.builder.master("local[2]").appName("streams")
    for key, value in conf.items():
        builder = builder.config(key, value)
    return builder.getOrCreate()


def finished(writer, checkpoint):
    """The query after it has read all there is."""
    query = writer.option("checkpointLocation", str(checkpoint)).trigger(availableNow=True).start()
    query.awaitTermination()
    return query


def run(spark, case, folder, number, scope):
    db, data = f"case_{number}", folder / f"data_{number}"
    body = case["body"].replace("{data}", str(data)).replace("{db}", db)
    count = iter(range(1000))

    def done(writer, checkpoint=None):
        return finished(writer, data / (checkpoint or f"checkpoint_{next(count)}"))

    spark.sql(f"CREATE DATABASE {db}")
    spark.sql(f"USE {db}")
    began, error = time.time(), ""
    names = {"spark": spark, "sql": spark.sql, "F": F, "data": str(data), "db": db, "done": done, **scope}
    try:
        exec(compile(body, case["title"], "exec"), {"__name__": "__main__", **names})
    except Exception:
        error = traceback.format_exc()
    spark.sql("USE default")
    return {"began": began, "ended": time.time(), "error": error}


def main():
    plan = json.loads(Path(sys.argv[1]).read_text())
    folder = Path(plan["folder"])
    spark = start(plan["conf"])
    spark.sparkContext.setLogLevel("OFF")
    for jar in plan["jars"]:
        spark.sql(f"ADD JAR ivy://{jar}?transitive=false")
    spark.sql("CREATE DATABASE shared")
    for name, values in INPUTS.items():
        spark.sql(f"CREATE TABLE shared.{name} USING parquet AS SELECT * FROM {values}")
    ran = []
    for number, case in enumerate(plan["cases"]):
        time.sleep(0.01)  # event times are in milliseconds, and tell which case an event belongs to
        ran.append(run(spark, case, folder, number, plan["scope"]))
        spark.sparkContext._jsc.sc().listenerBus().waitUntilEmpty(10000)
        ran[-1]["ended"] = time.time()
    (folder / "ran.json").write_text(json.dumps(ran))
    spark.stop()


main()
