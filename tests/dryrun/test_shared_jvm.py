"""Several jobs of one ``headwater plan``: they have a JVM in common, and none sees what another did in it."""

import re

import pytest
from tests.capture.conftest import SPARK
from tests.dryrun.conftest import DryJobs, edges

pytestmark = pytest.mark.spark

# On a line of its own: Spark's progress bar, of jobs that take long, ends none.
PID = 'print("\\nJVM", spark._jvm.java.lang.ProcessHandle.current().pid(), flush=True)\n'

LEAVING = f"""
import json, os, sys
{SPARK.replace(".getOrCreate", '.config("spark.sql.warehouse.dir", "elsewhere").getOrCreate')}
orders = spark.read.parquet("lake/orders")
orders.createOrReplaceGlobalTempView("seen")
orders.write.saveAsTable("kept")
orders.select("id").write.mode("overwrite").parquet("lake/orders")
spark.conf.set("spark.sql.ansi.enabled", "false")
spark._jvm.java.lang.System.setProperty("spark.sql.ansi.enabled", "false")
spark._jvm.java.util.TimeZone.setDefault(spark._jvm.java.util.TimeZone.getTimeZone("Asia/Tokyo"))
os.chdir("lake")
json.of_leaving = os.environ["OF_LEAVING"] = "set"
{PID}
"""

OTHER_SETTINGS = f"""
{SPARK.replace(".getOrCreate", '.config("spark.driver.extraJavaOptions", "-Dof.job=yes").getOrCreate')}
assert spark._jvm.java.lang.System.getProperty("of.job") == "yes"
spark.read.parquet("lake/orders").select("amount").write.parquet("lake/amounts")
{PID}
"""

AFTER = f"""
import json, os, sys
assert not hasattr(json, "of_leaving") and "OF_LEAVING" not in os.environ and sys.argv[1:] == ["a b"]
{SPARK}
assert not spark._jsparkSession.catalog().tableExists("global_temp", "seen")
assert spark.conf.get("spark.sql.warehouse.dir").endswith("warehouse")
assert spark._jvm.java.util.TimeZone.getDefault().getID() != "Asia/Tokyo"
assert spark._jvm.java.lang.System.getProperty("spark.sql.ansi.enabled") is None
orders = spark.read.parquet("lake/orders")
orders.groupBy("country").agg(sf.sum("amount").alias("total")).write.parquet("lake/totals")
{PID}
spark.stop()
try:
    spark._jvm.java.lang.Runtime.getRuntime().halt(0)
except Exception as error:
    print(error)
"""

LAST = f"""
{SPARK}
spark.read.parquet("lake/orders").select("qty").write.parquet("lake/last")
{PID}
"""


def test_jobs_share_a_jvm_and_nothing_that_another_did(lake: DryJobs) -> None:
    jobs = {"leaving.py": LEAVING, "other.py": OTHER_SETTINGS, "after.py": AFTER, "last.py": LAST}
    for name, text in jobs.items():
        lake.write(text, name)
    before = lake.state()
    calls = [word for name in jobs for word in ("--job", f"{name} 'a b'" if name == "after.py" else name)]
    plan = lake.planned(*calls)
    assert lake.state() == before
    assert plan["report"]["failure"] is None, plan["err"]
    leaving, other, after, last = re.findall(r"^JVM (\d+)", plan["err"], re.MULTILINE)
    assert leaving == after, plan["err"]
    assert len({other, after, last}) == 3  # other settings of the JVM; and the job before the last has ended it
    assert {name.rpartition("/")[2] for name in edges(plan["events"])} == {
        "kept",
        "orders",
        "amounts",
        "totals",
        "last",
    }
