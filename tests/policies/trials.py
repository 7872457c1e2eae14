"""Forty planted leaks of an address, and forty look-alikes without one, as statements of Spark SQL.

``python -m tests.policies.trials`` runs them as one job, and those of `job_trials`: a leak makes the table
``out_NAME``, a look-alike ``ok_NAME``.
"""

from collections.abc import Mapping

from tests.connectors import DELTA, LAKE
from tests.policies import job_trials

CONFIGURATION = {
    "spark.master": "local[1]",
    "spark.ui.enabled": "false",
    "spark.jars.packages": DELTA,
    "spark.sql.extensions": "io.delta.sql.DeltaSparkSessionExtension",
    "spark.sql.catalog.spark_catalog": LAKE["spark.sql.catalog.spark_catalog"],
    "spark.databricks.delta.snapshotPartitions": "1",
    "spark.databricks.delta.stats.collect": "false",
    "spark.databricks.delta.merge.materializeSource": "none",
    "spark.sql.adaptive.enabled": "false",
    "spark.sql.shuffle.partitions": "1",
}

FUNCTIONS = {
    "upper": "upper(email)",
    "substring": "substring(email, 1, 5)",
    "split": "split(email, '@')[1]",
    "regexp": "regexp_replace(email, '[0-9]', '#')",
    "reverse": "reverse(email)",
    "base64": "base64(email)",
    "binary": "CAST(email AS BINARY)",
    "encrypted": "aes_encrypt(email, '0123456789abcdef')",
    "concat": "concat(name, ' <', email, '>')",
    "format": "format_string('%s:%s', city, email)",
    "beside_hash": "concat(sha2(email, 256), email)",
    "coalesced": "coalesce(city, email)",
    "branch": "CASE WHEN city = 'Oslo' THEN email ELSE 'x' END",
    "array": "array(name, email)[1]",
    "map": "map('mail', email)['mail']",
    "json": "to_json(struct(name, email))",
    "parsed": "get_json_object(to_json(struct(email)), '$.email')",
    "transformed": "transform(array(email), x -> concat('<', x, '>'))",
    "udf": "shout(email)",
    "lag": "lag(email) OVER (PARTITION BY city ORDER BY id)",
    "first_value": "first_value(email) OVER (PARTITION BY city ORDER BY id)",
}
"""Expressions over ``people`` that let the address through."""

QUERIES = {
    "renamed": "SELECT email AS contact FROM people",
    "max": "SELECT city, max(email) AS contact FROM people GROUP BY city",
    "any": "SELECT city, any_value(email) AS contact FROM people GROUP BY city",
    "collected": "SELECT city, collect_list(email) AS contact FROM people GROUP BY city",
    "max_by": "SELECT city, max_by(email, age) AS contact FROM people GROUP BY city",
    "scalar": "SELECT o.id, (SELECT max(email) FROM people p WHERE p.id = o.person) AS contact FROM orders o",
    "joined": "SELECT o.id, p.email AS contact FROM orders o LEFT JOIN people p ON p.id = o.person",
    "united": "SELECT city AS contact FROM people UNION ALL SELECT email FROM people",
    "exploded": "SELECT contact FROM people LATERAL VIEW explode(array(name, email)) t AS contact",
    "stacked": "SELECT stack(2, name, email) AS contact FROM people",
    "pivoted": "SELECT * FROM (SELECT city, email FROM people) PIVOT (first(email) FOR city IN ('Oslo' o, 'Rome' r))",
    "unpivoted": "SELECT * FROM (SELECT id, name, email FROM people) UNPIVOT (contact FOR kind IN (name, email))",
    "nested": "WITH a AS (SELECT struct(email) AS s FROM people), b AS (SELECT s.email AS x FROM a) SELECT x FROM b",
    "star": "SELECT * EXCEPT (name) FROM people",
}
"""Queries that let it through."""

CHAINS = {
    "view": [
        "CREATE VIEW v_view AS SELECT id, email AS m FROM people",
        "CREATE TABLE out_view AS SELECT m AS contact FROM v_view",
    ],
    "three_jobs": [
        "CREATE TABLE stage_1 AS SELECT id, struct(email AS m, city) AS who FROM people",
        "CREATE TABLE stage_2 AS SELECT id, shout(who.m) AS note FROM stage_1",
        "CREATE TABLE out_three_jobs AS SELECT concat(note, '!') AS remark FROM stage_2",
    ],
    "by_position": [
        "CREATE TABLE out_by_position (city STRING, id INT)",
        "INSERT INTO out_by_position SELECT email, id FROM people",
    ],
    "emptied_stage": [
        "CREATE TABLE stage_3 AS SELECT id, email FROM people",
        "CREATE TABLE out_emptied_stage AS SELECT email AS contact FROM stage_3",
        "TRUNCATE TABLE stage_3",
    ],
    "temporary_view": [
        "CREATE TEMPORARY VIEW t_view AS SELECT lower(email) AS m FROM people",
        "CREATE TABLE out_temporary_view AS SELECT m AS contact FROM t_view",
    ],
}
"""Several statements; the last table has the address."""

HARMLESS_FUNCTIONS = {
    "sha2": "sha2(email, 256)",
    "sha1": "sha1(email)",
    "md5": "md5(lower(email))",
    "hash": "hash(email, city)",
    "xxhash64": "xxhash64(email)",
    "crc32": "crc32(email)",
    "mask": "mask(email)",
    "short_hash": "substring(sha2(email, 256), 1, 8)",
    "hash_with_name": "concat(sha2(email, 256), city)",
    "other_leaf": "struct(email, city).city",
    "row_number": "row_number() OVER (PARTITION BY email ORDER BY id)",
    "sum_by": "sum(age) OVER (PARTITION BY email)",
    "rank": "rank() OVER (ORDER BY email)",
    "flag": "CASE WHEN email LIKE '%@%' THEN 'ok' ELSE 'bad' END",
    "tested": "IF(email IS NULL, 0, 1)",
    "nvl2": "nvl2(email, 'yes', 'no')",
    "other_column": "upper(city)",
    "user": "current_user()",
}
"""Expressions over ``people`` that let nothing of the address through."""

HARMLESS_QUERIES = {
    "named_email": "SELECT city AS email FROM people",
    "filtered": "SELECT id, city FROM people WHERE email LIKE '%example%'",
    "grouped": "SELECT count(*) AS n FROM people GROUP BY email",
    "sorted": "SELECT city FROM people ORDER BY email LIMIT 3",
    "join_on": "SELECT a.city FROM people a JOIN people b ON a.email = b.email",
    "semi": "SELECT id, amount FROM orders WHERE note IN (SELECT email FROM people)",
    "anti": "SELECT id FROM orders o WHERE NOT EXISTS (SELECT 1 FROM people p WHERE p.email = o.note)",
    "having": "SELECT city FROM people GROUP BY city HAVING max(email) > 'm'",
    "pivot_on": "SELECT * FROM (SELECT city, age, email FROM people) PIVOT (sum(age) FOR email IN ('a' a, 'b' b))",
    "united": "SELECT city FROM people WHERE email = 'a' UNION ALL SELECT name FROM people",
    "distinct_city": "SELECT DISTINCT city FROM people",
    "scalar": "SELECT id, (SELECT count(*) FROM people p WHERE p.email = o.note) AS n FROM orders o",
    "except_email": "SELECT * EXCEPT (email) FROM people",
    "nested": "WITH a AS (SELECT struct(email, city) AS s FROM people) SELECT s.city AS c FROM a",
    "counted": "SELECT city, count(email) AS n FROM people GROUP BY city",
    "counted_distinct": "SELECT count(DISTINCT email) AS n FROM people",
    "max_of_hash": "SELECT city, max(h) AS h FROM (SELECT city, sha2(email, 256) AS h FROM people) GROUP BY city",
    "hash_of_max": "SELECT city, sha2(max(email), 256) AS h FROM people GROUP BY city",
}
"""Queries that let nothing through."""

HARMLESS_CHAINS = {
    "hashed_stage": [
        "CREATE TABLE stage_4 AS SELECT id, sha2(email, 256) AS email FROM people",
        "CREATE TABLE ok_hashed_stage AS SELECT upper(email) AS email FROM stage_4",
    ],
    "overwritten": [
        "CREATE TABLE ok_overwritten AS SELECT email AS c FROM people",
        "INSERT OVERWRITE TABLE ok_overwritten SELECT city FROM people",
    ],
    "by_position": [
        "CREATE TABLE ok_by_position (email STRING, id INT)",
        "INSERT INTO ok_by_position SELECT city, id FROM people",
    ],
    "length": ["CREATE TABLE ok_length AS SELECT length(email) AS n FROM people"],
}
"""Several statements; the last table has nothing of it."""

FALSE_ALARMS = {
    "counted": "a count is no mask unless a breaker of the function is declared",
    "counted_distinct": "the same",
    "max_of_hash": "the expression of an edge is the outermost: of the hash in the query inside it says nothing",
    "length": "a function like any other: part of the value is in the result",
}
"""The look-alikes that are found all the same, and why."""


def leaks() -> Mapping[str, list[str]]:
    """The statements of each leak; the table is ``out_NAME``."""
    return _statements("out", FUNCTIONS, QUERIES) | CHAINS


def lookalikes() -> Mapping[str, list[str]]:
    """The statements of each look-alike; the table is ``ok_NAME``."""
    return _statements("ok", HARMLESS_FUNCTIONS, HARMLESS_QUERIES) | HARMLESS_CHAINS


def _statements(prefix: str, functions: Mapping[str, str], queries: Mapping[str, str]) -> dict[str, list[str]]:
    every = {name: f"SELECT id, {text} AS c FROM people" for name, text in functions.items()} | dict(queries)
    return {name: [f"CREATE TABLE {prefix}_{name} AS {query}"] for name, query in every.items()}


def main() -> None:
    """Run every statement in one session, in the folder where it is started."""
    from pyspark.sql import SparkSession

    builder = SparkSession.builder.appName("trials")
    spark = builder.config(map=CONFIGURATION).getOrCreate()
    spark.udf.register("shout", lambda text: text and text.upper())
    spark.sql("CREATE TABLE people (id INT, name STRING, email STRING, city STRING, age INT) USING parquet")
    spark.sql("CREATE TABLE orders (id INT, person INT, amount DOUBLE, note STRING) USING parquet")
    spark.sql(
        "INSERT INTO people VALUES (1, 'Ann', 'ann@example.org', 'Oslo', 41), (2, 'Bo', 'bo@example.org', 'Rome', 33)"
    )
    for statements in (*leaks().values(), *lookalikes().values()):
        for one in statements:
            spark.sql(one)
    job_trials.plant(spark)
    spark.stop()


if __name__ == "__main__":
    main()
