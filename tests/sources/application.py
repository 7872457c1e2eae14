"""A Spark application that runs cases one after the other; the tests start it under ``headwater run``.

Usage: ``application.py PLAN``, a JSON file with ``conf``, ``jars``, ``folder``, ``inputs``, ``cases`` and the ``scope``
of cases in Python. Into ``folder/ran.json`` goes, for each case, when it began and ended and what it raised. A
streaming query that a case leaves running is stopped by the end of the application.
"""

import json
import sys
import time
import traceback
from pathlib import Path

from pyspark.sql import SparkSession
from pyspark.sql import functions as F  # noqa: N812


def start(plan):
    builder = SparkSession.builder
    for key, value in plan["conf"].items():
        builder = builder.config(key, value)
    spark = builder.getOrCreate()
    spark.sparkContext.setLogLevel("OFF")
    for jar in plan["jars"]:
        spark.sql(f"ADD JAR ivy://{jar}?transitive=false")
    spark.sql("CREATE DATABASE shared")
    for name, values in plan["inputs"].items():
        spark.sql(f"CREATE TABLE shared.{name} USING {plan['provider']} AS SELECT * FROM {values}")
    return spark


def scope_of(spark, data):
    """The names that every case in Python finds; ``done`` returns a query after it has read all there is."""
    count = iter(range(1000))

    def done(writer, checkpoint=None):
        place = f"{data}/{checkpoint or f'checkpoint_{next(count)}'}"
        query = writer.option("checkpointLocation", place).trigger(availableNow=True).start()
        query.awaitTermination()
        return query

    return {"__name__": "__main__", "spark": spark, "sql": spark.sql, "F": F, "data": data, "done": done}


def run(spark, case, number, plan):
    folder, db = plan["folder"], f"case_{number}"
    data = f"{folder}/data_{number}"
    body = case["body"].replace("{data}", data).replace("{db}", db).replace("{warehouse}", f"{folder}/warehouse")
    spark.sql(f"CREATE DATABASE {db}")
    spark.sql(f"USE {db}")
    began, error = time.time(), ""
    try:
        if case["language"] == "python":
            names = {**scope_of(spark, data), "db": db, "folder": folder, **plan["scope"]}
            exec(compile(body, case["title"], "exec"), names)
        else:
            for statement in body.split(";\n"):
                spark.sql(statement.rstrip(";"))
    except Exception:
        error = traceback.format_exc()
    spark.sql("USE shared")
    spark.sparkContext._jsc.sc().listenerBus().waitUntilEmpty(10000)
    return {"began": began, "ended": time.time(), "error": error}


def main():
    plan = json.loads(Path(sys.argv[1]).read_text())
    spark = start(plan)
    ran = []
    for number, case in enumerate(plan["cases"]):
        time.sleep(0.01)  # event times are in milliseconds, and tell which case an event belongs to
        ran.append(run(spark, case, number, plan))
    Path(plan["folder"], "ran.json").write_text(json.dumps(ran))
    spark.stop()


main()
