"""Where nothing can be compiled in Spark's JVM: the listener in Python, and plans from ``toJSON``."""

import pytest
from tests.capture.conftest import SPARK, Ended, Jobs, gaps, short_name, statements, states

pytestmark = pytest.mark.spark

JOB = (
    SPARK
    + """
import headwater
spark.conf.set("spark.sql.hive.metastore.uris", "thrift://ms:9083")
items.write.saveAsTable("kept")
items.write.saveAsTable("kept_too")
spark.sql("CREATE TABLE made USING parquet AS SELECT id, price + 1 AS more FROM kept WHERE price > 0")
spark.sql("INSERT INTO made SELECT price, id FROM kept")
spark.sql("CREATE VIEW seen (a, b) AS SELECT id, more FROM made")
try:
    items.select(sf.raise_error(sf.lit("too much")).cast("int").alias("bad")).write.parquet("broken")
except Exception:
    pass
spark.newSession().range(2).write.parquet("other")
items.count()
print(headwater.lineage(spark.table("seen")).roots("b")[0].name)
spark.table("seen").write.parquet("last")
items.rdd.map(str).saveAsTextFile("texts")
try:
    items.rdd.foreach(lambda row: 1 / 0)
except Exception:
    pass
raise SystemExit(2)
"""
)

TWO_JOBS = (
    SPARK
    + """
from headwater.capture.listener.tap import ListenerTap
from headwater.capture.settings import CaptureSettings
from headwater.capture.jvm.tap import SparkTap
from headwater.extract import column_lineage

spark.sql(
    "CREATE TABLE t (k INT, v BIGINT, s STRING, st STRUCT<a: INT, b: STRING>, m MAP<STRING, INT>, l ARRAY<INT>)"
    " USING parquet"
)
spark.sql("CREATE TABLE u (k INT, w BIGINT, d DATE) USING parquet")
spark.sql("CREATE VIEW vw (key, val) AS SELECT k, v + 1 AS w FROM t")
QUERIES = '''
SELECT k, upper(s) AS s, CAST(v AS BIGINT) AS same, CAST(k AS STRING) AS text FROM t
SELECT count(*) OVER (PARTITION BY s ORDER BY v DESC) AS n, lag(v) OVER (ORDER BY k) AS l FROM t
SELECT nullif(k, v) AS a, k BETWEEN v AND 3 AS b, nvl2(s, k, v) AS c, nullif(nullif(k, 1), v) AS e FROM t
SELECT s, sum(v) FILTER (WHERE k > 1) AS total, count(DISTINCT k) AS n FROM t GROUP BY ROLLUP(s) HAVING sum(v) > 3
SELECT t.k, (SELECT max(w) FROM u WHERE u.k = t.k) AS m FROM t
SELECT k FROM t WHERE EXISTS (SELECT 1 FROM u WHERE u.k = t.k AND u.w > 1)
SELECT k IN (SELECT k FROM u) AS isin, k FROM t WHERE v NOT IN (SELECT w FROM u WHERE d IS NOT NULL)
WITH c AS (SELECT k, v FROM t), d AS (SELECT k, sum(v) AS v FROM c GROUP BY k) SELECT d.v, c.k FROM d JOIN c USING (k)
WITH RECURSIVE r(n, k) AS (SELECT 1, k FROM t UNION ALL SELECT n + 1, k FROM r WHERE n < 3) SELECT * FROM r
SELECT st.a, named_struct('x', k, 'y', s).y AS y, m['q'] AS q, l[0] AS first FROM t
SELECT k + 1L AS a, v + 1 AS b, l[CAST('0' AS INT)] AS c, array(k, v)[1] AS d, map('a', k, 'b', v)['b'] AS e FROM t
SELECT map(CAST(1 AS BIGINT), k, 2L, v)[CAST(2 AS BIGINT)] AS f, array(v, k)[CAST('1' AS INT)] AS g FROM t
SELECT transform(l, x -> x + k) AS more, filter(l, x -> x > 1) AS some FROM t
SELECT e, p FROM t LATERAL VIEW posexplode(l) AS p, e WHERE k > 0
SELECT k, x FROM t, LATERAL (SELECT w + t.v AS x FROM u WHERE u.k = t.k)
SELECT * FROM (SELECT k, s, v FROM t) PIVOT (sum(v) FOR s IN ('a', 'b'))
SELECT * FROM (SELECT k, v, CAST(k AS BIGINT) AS w FROM t) UNPIVOT (val FOR name IN (v, w))
SELECT key, max(val) AS val FROM vw GROUP BY key
SELECT k FROM t UNION SELECT k FROM u
SELECT k FROM t INTERSECT SELECT k FROM u ORDER BY k LIMIT 3
SELECT t.*, w FROM t FULL OUTER JOIN u USING (k)
SELECT sha2(s, 256) AS h, hash(k, s) AS i, mask(s) AS j, CASE WHEN k > 1 THEN v ELSE 0 END AS c FROM t
'''.strip().splitlines()
settings = CaptureSettings()
one, two = SparkTap(spark.sparkContext, settings), ListenerTap(spark.sparkContext, settings, "")
plus = sf.udf(lambda x: x, "int")
old = spark.version < "4.1"
frames = [spark.sql(query) for query in QUERIES if not (old and "RECURSIVE" in query)]
frames.append(spark.table("t").select(plus("k").alias("p"), "v").dropDuplicates(["p"]))
for frame in frames:
    left, right = (column_lineage(tap.plan(frame)) for tap in (one, two))
    if left != right:
        print(frame.columns, left, right, sep="\\n   ")
unseen, gaps = column_lineage(two.plan(spark.table("t").unpivot(["k"], ["v"], "n", "x")))
assert {edge.input.name for edge in unseen.fields["x"]} >= {"v"}
assert [gap.kind for gap in gaps] == ["operator"]
"""
)


@pytest.fixture(scope="module")
def jobs(tmp_path_factory: pytest.TempPathFactory) -> Jobs:
    return Jobs(tmp_path_factory.mktemp("fallback"))


@pytest.fixture(scope="module")
def ended(jobs: Jobs) -> Ended:
    jobs.write(JOB)
    return jobs.watched("job.py", environment={"HEADWATER_NO_JANINO": "1"})


def test_the_job_is_as_without(ended: Ended) -> None:
    assert (ended.code, ended.out) == (2, "more\n"), ended.err
    assert "Traceback" not in ended.err


def test_every_write_has_one_run(ended: Ended, jobs: Jobs) -> None:
    assert statements(jobs.events()) == {
        "shop.default.kept": ["START", "COMPLETE"],
        "shop.default.kept_too": ["START", "COMPLETE"],
        "shop.default.made": ["START", "COMPLETE"] * 2,
        "shop.default.seen": ["START", "COMPLETE"],
        "shop.broken": ["START", "FAIL"],
        "shop.other": ["START", "COMPLETE"],
        "shop.last": ["START", "COMPLETE"],
        "shop.texts": ["START", "COMPLETE"],
        "shop.foreach": ["START", "FAIL"],
    }
    assert states(jobs.events())[-1] == ("shop", "FAIL")


def test_what_an_rdd_is_made_of_is_a_gap(ended: Ended, jobs: Jobs) -> None:
    by_name = {short_name(event): event for event in jobs.events()}
    saved, failed = by_name["shop.texts"], by_name["shop.foreach"]
    (output,) = saved["outputs"]
    assert output["name"] == str(jobs.folder / "texts")
    assert list(output["facets"]["columnLineage"]["fields"]) == ["value"]
    assert gaps(saved) == [("relation", "LogicalRDD")]
    assert "ZeroDivisionError" in failed["run"]["facets"]["errorMessage"]["message"]


def test_tables_have_the_names_of_their_metastore(ended: Ended, jobs: Jobs) -> None:
    made = next(event for event in jobs.events() if short_name(event) == "shop.default.made")
    (link,) = made["outputs"][0]["facets"]["symlinks"]["identifiers"]
    assert (link["namespace"], link["name"]) == ("hive://ms:9083", "default.made")


def test_the_coverage_says_that_it_is_a_makeshift(ended: Ended, jobs: Jobs) -> None:
    assert gaps(jobs.events()[-1]) == [("error", "tap")]
    assert "headwater: The tap could not be compiled in Spark's JVM (HEADWATER_NO_JANINO is set)" in ended.err


def test_both_readers_of_a_plan_give_the_same_lineage(jobs: Jobs) -> None:
    jobs.write(TWO_JOBS, "two.py")
    ended = jobs.plain("two.py")
    assert (ended.code, ended.out) == (0, ""), ended.err
