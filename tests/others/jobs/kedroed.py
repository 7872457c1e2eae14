"""A job of a Kedro user: a catalog of Spark datasets, nodes that are functions, and a pipeline of them."""

import sys
from pathlib import Path

from kedro.io import DataCatalog
from kedro.pipeline import node, pipeline
from kedro.runner import SequentialRunner
from pyspark.sql import DataFrame, SparkSession, Window
from pyspark.sql import functions as F  # noqa: N812

folder = Path(sys.argv[1]).resolve()
spark = (
    SparkSession.builder.master("local[1]").config("spark.sql.warehouse.dir", str(folder / "warehouse")).getOrCreate()
)
(folder / "raw").mkdir()
(folder / "raw" / "shuttles.csv").write_text(
    "id,location,engines,price,company_id\n1,Io,2,$120.5,7\n2,Io,,$99.0,8\n3,Mars,1,$10.0,7\n"
)
(folder / "raw" / "companies.json").write_text(
    '{"id":7,"rating":"90%","name":"Acme"}\n{"id":8,"rating":null,"name":"Bolt"}\n'
)
(folder / "raw" / "reviews.csv").write_text("shuttle_id,score,text\n1,4.5,fine\n1,3.0,slow\n3,5.0,wow\n")


def dataset(path: str, form: str, **more: object) -> dict[str, object]:
    """An entry of a Kedro catalog."""
    return {"type": "spark.SparkDatasetV2", "filepath": str(folder / path), "file_format": form, **more}


CSV = {"load_args": {"header": True, "inferSchema": True}}
CATALOG = DataCatalog.from_config(
    {
        "shuttles": dataset("raw/shuttles.csv", "csv", **CSV),
        "companies": dataset("raw/companies.json", "json"),
        "reviews": dataset("raw/reviews.csv", "csv", **CSV),
        "clean_shuttles": dataset("primary/shuttles", "parquet", save_args={"mode": "overwrite"}),
        "clean_companies": {"type": "MemoryDataset", "copy_mode": "assign"},
        "model_input": dataset("primary/model_input", "parquet", save_args={"partitionBy": ["location"]}),
        "ranking": dataset("reporting/ranking", "orc", save_args={"mode": "append"}),
    }
)


def clean_shuttles(shuttles: DataFrame) -> DataFrame:
    """Prices as numbers, engines that are never missing."""
    price = F.regexp_replace("price", r"[$,]", "").cast("double")
    return shuttles.withColumn("price", price).fillna({"engines": 1})


def clean_companies(companies: DataFrame) -> DataFrame:
    """Ratings as numbers."""
    return companies.withColumn("rating", F.expr("try_cast(replace(rating, '%') AS int) / 100"))


def join(shuttles: DataFrame, companies: DataFrame, reviews: DataFrame) -> DataFrame:
    """One row for each shuttle with a company, with its mean score."""
    scores = reviews.groupBy("shuttle_id").agg(F.avg("score").alias("score"), F.count("*").alias("reviews"))
    rated = shuttles.join(scores, shuttles.id == scores.shuttle_id, "left").drop("shuttle_id")
    renamed = companies.withColumnRenamed("id", "company_id").withColumnRenamed("name", "company")
    return rated.join(renamed, "company_id").where("price < 500")


def rank(model_input: DataFrame, top: int) -> DataFrame:
    """The best shuttles of each company."""
    place = F.row_number().over(Window.partitionBy("company").orderBy(F.desc_nulls_last("score")))
    return model_input.select("id", "company", "location", place.alias("place")).where(F.col("place") <= top)


CATALOG["params:top"] = 2
SequentialRunner().run(
    pipeline(
        [
            node(clean_shuttles, "shuttles", "clean_shuttles"),
            node(clean_companies, "companies", "clean_companies"),
            node(join, ["clean_shuttles", "clean_companies", "reviews"], "model_input"),
            node(rank, ["model_input", "params:top"], "ranking"),
        ]
    ),
    CATALOG,
)
spark.stop()
