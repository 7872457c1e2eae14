"""Forty more leaks of an address, of kinds that one SELECT does not show: jobs in Python, changes of tables, streams.

Each is a function of a session that makes the table ``out_NAME`` of ``people``, whose columns `trials` has.
"""

from collections.abc import Callable, Iterator, Mapping
from typing import Any

import pandas as pd
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as sf
from pyspark.sql.types import StringType, StructType

Leak = Callable[[SparkSession], object]

STATEMENTS: Mapping[str, list[str]] = {
    "merge": [
        "CREATE TABLE out_merge (id INT, contact STRING) USING delta",
        "MERGE INTO out_merge t USING people s ON t.id = s.id WHEN MATCHED THEN UPDATE SET contact = s.email "
        "WHEN NOT MATCHED THEN INSERT (id, contact) VALUES (s.id, 'none')",
    ],
    "merge_star": [
        "CREATE TABLE out_merge_star (id INT, name STRING) USING delta",
        "MERGE INTO out_merge_star t USING (SELECT id, email AS name FROM people) s ON t.id = s.id "
        "WHEN MATCHED THEN UPDATE SET * WHEN NOT MATCHED THEN INSERT *",
    ],
    "update": [
        "CREATE TABLE stage_update USING delta AS SELECT id, email, '' AS note FROM people",
        "UPDATE stage_update SET note = substring(email, 2, 40) WHERE id > 0",
        "CREATE TABLE out_update AS SELECT note FROM stage_update",
    ],
    "replace_where": [
        "CREATE TABLE out_replace_where (id INT, contact STRING) USING delta",
        "INSERT INTO out_replace_where REPLACE WHERE id > 0 SELECT id, email FROM people",
    ],
    "clone": [
        "CREATE TABLE stage_clone USING delta AS SELECT email AS contact FROM people",
        "CREATE TABLE out_clone SHALLOW CLONE stage_clone",
    ],
    "multi_insert": [
        "CREATE TABLE ok_multi_insert (c STRING)",
        "CREATE TABLE out_multi_insert (c STRING)",
        "FROM people INSERT INTO ok_multi_insert SELECT city INSERT INTO out_multi_insert SELECT email",
    ],
    "views": [
        "CREATE VIEW v_1 AS SELECT id, struct(email AS a, city AS b) AS s FROM people",
        "CREATE VIEW v_2 (k, x, y) AS SELECT id, s.b, s.a FROM v_1",
        "CREATE VIEW v_3 AS SELECT concat(x, y) AS z FROM v_2",
        "CREATE TABLE out_views AS SELECT upper(z) AS z FROM v_3",
    ],
    "view_replaced": [
        "CREATE VIEW v_4 AS SELECT city AS c FROM people",
        "CREATE OR REPLACE VIEW v_4 AS SELECT email AS c FROM people",
        "CREATE TABLE out_view_replaced AS SELECT c FROM v_4",
    ],
    "map_values": ["CREATE TABLE out_map_values AS SELECT map_values(map('mail', email))[0] AS c FROM people"],
    "map_keys": ["CREATE TABLE out_map_keys AS SELECT explode(map(email, age)) AS (k, v) FROM people"],
    "inline": ["CREATE TABLE out_inline AS SELECT inline(array(struct(name, email))) AS (a, b) FROM people"],
    "json_round": [
        "CREATE TABLE stage_json AS SELECT to_json(struct(id, email)) AS j FROM people",
        "CREATE TABLE out_json_round AS SELECT from_json(j, 'id INT, email STRING').email AS c FROM stage_json",
    ],
    "csv": ["CREATE TABLE out_csv AS SELECT from_csv(to_csv(struct(email)), 'e STRING').e AS c FROM people"],
    "json_tuple": [
        "CREATE TABLE out_json_tuple AS SELECT json_tuple(to_json(struct(email)), 'email') AS c FROM people",
    ],
    "variant": ["CREATE TABLE out_variant AS SELECT parse_json(to_json(struct(email))):email::string AS c FROM people"],
    "hex": ["CREATE TABLE out_hex AS SELECT decode(unhex(hex(CAST(email AS BINARY))), 'UTF-8') AS c FROM people"],
    "codes": ["CREATE TABLE out_codes AS SELECT transform(split(email, ''), c -> ascii(c)) AS c FROM people"],
    "reduced": [
        "CREATE TABLE out_reduced AS SELECT aggregate(array(email, city), '', (a, x) -> concat(a, x)) AS c FROM people"
    ],
    "joined_text": ["CREATE TABLE out_joined_text AS SELECT concat_ws(';', name, url_encode(email)) AS c FROM people"],
    "listagg": ["CREATE TABLE out_listagg AS SELECT city, listagg(email, ',') AS c FROM people GROUP BY city"],
    "count_window": ["CREATE TABLE out_count_window AS SELECT count(email) OVER (PARTITION BY city) AS n FROM people"],
    "recursive": [
        "CREATE TABLE out_recursive AS WITH RECURSIVE t (n, c) AS (SELECT 1, email FROM people "
        "UNION ALL SELECT n + 1, concat(c, '.') FROM t WHERE n < 3) SELECT c FROM t"
    ],
    "immediate": ["EXECUTE IMMEDIATE 'CREATE TABLE out_immediate AS SELECT email AS c FROM people'"],
    "variable": [
        "DECLARE VARIABLE secret STRING",
        "SET VAR secret = (SELECT max(email) FROM people)",
        "CREATE TABLE out_variable AS SELECT id, secret AS c FROM people",
    ],
    "sql_function": [
        "CREATE FUNCTION shorten(x STRING) RETURNS STRING RETURN concat(left(x, 3), right(x, 9))",
        "CREATE TABLE out_sql_function AS SELECT shorten(email) AS c FROM people",
    ],
    "table_function": [
        "CREATE FUNCTION everybody() RETURNS TABLE (c STRING) RETURN SELECT email FROM people",
        "CREATE TABLE out_table_function AS SELECT c FROM everybody()",
    ],
    "pipes": ["CREATE TABLE out_pipes AS FROM people |> EXTEND email AS c |> SELECT c |> WHERE c LIKE '%@%'"],
}  # fmt: skip
"""Those in SQL."""


_OUTPUTS = StructType().add("domain", StringType()).add("person", StringType())
_parts = sf.udf(lambda text: text.split("@")[::-1], _OUTPUTS)


@sf.pandas_udf(StringType())  # type: ignore[call-overload,untyped-decorator]
def _first_half(texts: pd.Series) -> pd.Series:
    return texts.str[:8]


@sf.udtf(returnType=StructType().add("part", StringType()))
class _Letters:
    def eval(self, text: str) -> Iterator[tuple[str]]:
        yield from ((letter,) for letter in text)


def two_outputs(spark: SparkSession) -> None:
    """Save the second output of a UDF that has two."""
    both = spark.table("people").select(_parts("email").alias("p"))
    both.select("p.person").write.saveAsTable("out_two_outputs")


def pandas_function(spark: SparkSession) -> None:
    """Save the column that a pandas UDF makes."""
    spark.table("people").select(_first_half("email").alias("c")).write.saveAsTable("out_pandas_function")


def in_pandas(spark: SparkSession) -> None:
    """Save the frames that pandas makes of groups."""

    def largest(frame: pd.DataFrame) -> pd.DataFrame:
        return frame[["city", "email"]].rename(columns={"email": "x"}).head(1)

    found = spark.table("people").groupBy("city").applyInPandas(largest, "city STRING, x STRING")
    found.write.saveAsTable("out_in_pandas")


def table_of_letters(spark: SparkSession) -> None:
    """Save the rows of a table function in Python."""
    spark.udtf.register("letters", _Letters)  # type: ignore[arg-type]
    spark.sql("CREATE TABLE out_table_of_letters AS SELECT l.part FROM people, LATERAL letters(email) l")


def collected_rows(spark: SparkSession) -> None:
    """Save rows that went through the program."""
    rows = [(row.email,) for row in spark.table("people").collect()]
    spark.createDataFrame(rows, "c STRING").write.saveAsTable("out_collected_rows")


def rows_of_rdd(spark: SparkSession) -> None:
    """Save rows that went through an RDD."""
    rows = spark.table("people").rdd.map(lambda row: (row["email"].upper(),))
    rows.toDF("c STRING").write.saveAsTable("out_rows_of_rdd")


def replaced_view(spark: SparkSession) -> None:
    """Save what a temporary view has after it was replaced."""
    people = spark.table("people")
    people.select(sf.col("city").alias("c")).createOrReplaceTempView("t_replaced")
    people.select(sf.col("email").alias("c")).createOrReplaceTempView("t_replaced")
    spark.table("t_replaced").cache().write.saveAsTable("out_replaced_view")


def pivoted_values(spark: SparkSession) -> None:
    """Save a pivot whose columns the rows name."""
    spark.table("people").groupBy("age").pivot("city").agg(sf.first("email")).write.saveAsTable("out_pivoted_values")


def transposed(spark: SparkSession) -> None:
    """Save rows as columns."""
    frame: Any = spark.table("people").select("name", "email")
    frame.transpose().write.saveAsTable("out_transposed")


def text_files(spark: SparkSession) -> None:
    """Save lines of files that were written as text."""
    spark.table("people").select("email").write.text("lines")
    spark.read.text("lines").selectExpr("value AS c").write.saveAsTable("out_text_files")


def database(spark: SparkSession) -> None:
    """Save a table of a database that was written before."""
    options = {"url": "jdbc:derby:memory:shop;create=true", "driver": "org.apache.derby.iapi.jdbc.AutoloadedDriver"}
    spark.table("people").selectExpr("id", "email AS mail").write.format("jdbc").options(
        **options, dbtable="contacts"
    ).save()
    read = spark.read.format("jdbc").options(**options, query='SELECT "mail" AS m FROM contacts').load()
    read.write.saveAsTable("out_database")


def streamed(spark: SparkSession) -> None:
    """Append to a table as a stream, with a join of a table at rest."""
    rows = spark.readStream.table("orders").join(spark.table("people"), sf.expr("person = people.id"))
    query = rows.selectExpr("email AS c").writeStream.trigger(availableNow=True).option("checkpointLocation", "ck1")
    query.toTable("out_streamed").awaitTermination()


def in_batches(spark: SparkSession) -> None:
    """Save each batch of a stream by a function."""

    def save(batch: DataFrame, _: int) -> None:
        batch.selectExpr("lower(email) AS c").write.mode("append").saveAsTable("out_in_batches")

    stream = spark.readStream.table("people").writeStream.foreachBatch(save)
    stream.trigger(availableNow=True).option("checkpointLocation", "ck2").start().awaitTermination()


JOBS: tuple[Leak, ...] = (
    two_outputs, pandas_function, in_pandas, table_of_letters, rows_of_rdd, replaced_view,
    pivoted_values, transposed, text_files, database, streamed, in_batches,
)  # fmt: skip
"""Those in Python."""

UNSEEN: tuple[Leak, ...] = (collected_rows,)
"""One that lineage cannot follow: the rule of coverage finds it, by the gap that its lineage names."""


def names() -> list[str]:
    """Return the names of those whose path is found."""
    return [*STATEMENTS, *(one.__name__ for one in JOBS)]


def plant(spark: SparkSession) -> None:
    """Make every table."""
    for statements in STATEMENTS.values():
        for one in statements:
            spark.sql(one)
    for leak in (*JOBS, *UNSEEN):
        leak(spark)
