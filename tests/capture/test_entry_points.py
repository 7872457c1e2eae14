"""The other ways in: spark-submit, HEADWATER=1, a notebook, Spark Connect."""

import importlib.util
import os
from pathlib import Path

import pyspark
import pytest
from tests.capture.conftest import PYTHON, SPARK, Jobs, statements, states

from headwater.capture import submit

ROOT = Path(__file__).resolve().parents[2]


def with_pth(jobs: Jobs) -> dict[str, str]:
    """An environment whose interpreters read ``headwater.pth`` as those with the wheel do."""
    jobs.write(f"import site\nsite.addsitedir({str(ROOT / 'src')!r})\n", "site/sitecustomize.py")
    return {"PYTHONPATH": os.pathsep.join([str(jobs.folder / "site"), jobs.environment.get("PYTHONPATH", "")])}


LOADED = """\
import sys
print(sorted(name for name in sys.modules if name.startswith(("headwater", "pyspark"))))
print([type(finder).__module__ for finder in sys.meta_path][:1])
"""


@pytest.mark.parametrize("value", ["", "0", "off"])
def test_the_pth_does_nothing_without_the_variable(jobs: Jobs, value: str) -> None:
    jobs.write(LOADED)
    ended = jobs.plain("job.py", environment={**with_pth(jobs), "HEADWATER": value})
    assert (ended.err, ended.out.splitlines()[0]) == ("", "[]")


def test_the_pth_waits_for_pyspark_with_the_variable(jobs: Jobs) -> None:
    jobs.write(LOADED)
    ended = jobs.plain("job.py", environment={**with_pth(jobs), "HEADWATER": "1"})
    assert (ended.err, ended.out) == (
        "",
        "['headwater', 'headwater.capture', 'headwater.capture.imports', 'headwater.capture.startup']\n"
        "['headwater.capture.imports']\n",
    )


def test_the_pth_is_one_line_that_costs_nothing() -> None:
    (line,) = (ROOT / "src" / "headwater.pth").read_text().splitlines()
    assert line.startswith("import os; os.environ.get(")


@pytest.mark.spark
def test_spark_submit_runs_the_job_through_submit_py(jobs: Jobs) -> None:
    import pyspark

    jobs.write(
        SPARK + "import os, sys\nitems.write.parquet(sys.argv[1])\n"
        "print(sys.argv, __name__, __file__, spark.conf.get('spark.shop'))\nsys.exit(5)\n"
    )
    ended = jobs.run(
        [
            *(Path(pyspark.__file__).parent / "bin" / "spark-submit", "--master", "local[1]", "--conf", "spark.shop=x"),
            *(submit.__file__, "job.py", "out", "--conf", "mine"),
        ],
        environment={"PYSPARK_DRIVER_PYTHON": PYTHON},
    )
    # spark-submit sends standard error of Python to standard output.
    assert ended.out.splitlines() == [
        f"['job.py', 'out', '--conf', 'mine'] __main__ {jobs.folder / 'job.py'} x",
        "headwater: captured the lineage of 2 columns in 1 dataset, sent to events.ndjson",
    ]
    assert ended.code == 5
    assert list(statements(jobs.events())) == ["shop.out"]


NOTEBOOK = """\
from IPython.core.interactiveshell import InteractiveShell

shell = InteractiveShell.instance()

def cell(text):
    result = shell.run_cell(text)
    result.raise_error()
    return result.result

cell({spark!r})
cell("%load_ext headwater")
cell("items.write.parquet('seen')")
cell("import headwater")
cell("copy = spark.read.parquet('seen').filter('id > 1').selectExpr('price + id AS total', 'id', '1 AS one')")
cell("found = headwater.lineage(copy)")
html = cell("found")._repr_html_()
assert html.count("<tr>") == 6 and "every column" in html and "seen.price" in html, html
assert cell("[root.name for root in found.inputs('total')]") == ["id", "price"]
assert cell("found.roots('total') == found.inputs('total')")  # events go to a file: there is no store to follow
assert cell("found.roots('one')") == ()
assert cell("[root.name for root in found.roots('one', indirect=True)]") == ["id"]
assert cell("found.columns") == ("total", "id", "one")
assert cell("str(found)").splitlines()[0] == "total"
assert cell("found.mermaid()").startswith("flowchart LR")
assert cell("__import__('json').loads(found.json())['columns']['id'][0]['subtype']") == "IDENTITY"
from headwater.errors import UnknownName
try:
    cell("found.roots('totl')")
except UnknownName as error:
    print(error)
cell("items.write.parquet('second')")
cell("%unload_ext headwater")
cell("items.write.parquet('unseen')")
"""


@pytest.mark.spark
def test_a_notebook_loads_it_as_an_extension(jobs: Jobs) -> None:
    jobs.write(NOTEBOOK.format(spark=SPARK))
    ended = jobs.plain("job.py")
    assert ended.code == 0, ended.out + ended.err
    assert "The DataFrame has no column 'totl'; it has total, id, one." in ended.out
    assert [name.rsplit(".", 1)[1] for name in statements(jobs.events())] == ["seen", "second"]
    assert states(jobs.events())[-1] == ("shop", "COMPLETE")


CONNECT = """\
from pyspark.sql import SparkSession

spark = SparkSession.builder.remote("local[1]").appName("shop").config("spark.ui.enabled", "false").getOrCreate()
frame = spark.range(3).selectExpr("id", "id * 2 AS price")
frame.write.parquet("out")
spark.sql("SELECT id AS number FROM parquet.`out`").write.parquet("copy")
import headwater
print(headwater.lineage(spark.read.parquet("out").selectExpr("price + 1 AS dear")).roots("dear")[0].name)
spark.stop()
"""
REMOTE = """\
import os
from pyspark.sql.connect.session import SparkSession
import headwater
session = SparkSession("sc://127.0.0.1:1")
headwater.attach(session)
print("attached", flush=True)
os._exit(0)  # at its end the client would look for its server for minutes
"""

needs_connect = pytest.mark.skipif(importlib.util.find_spec("grpc") is None, reason="needs pyspark[connect]")


@pytest.mark.spark
@needs_connect
@pytest.mark.skipif(pyspark.__version__ < "4", reason="the server comes with PySpark from 4.0 on")
def test_a_local_connect_session_is_seen_by_the_environment_alone(jobs: Jobs) -> None:
    jobs.write(CONNECT)
    ended = jobs.plain("job.py", environment={**with_pth(jobs), "HEADWATER": "1"})
    assert ended.code == 0, ended.err
    assert ended.out == "price\n"
    assert [name.rsplit(".", 1)[1] for name in statements(jobs.events())] == ["out", "copy"]


@needs_connect
def test_a_server_that_is_not_there_is_the_jobs_own_trouble(jobs: Jobs) -> None:
    jobs.write(REMOTE)
    ended = jobs.plain("job.py")
    assert (ended.code, ended.out) == (0, "attached\n")
