"""A job of a Sedona user: shapes from text, spatial joins, measures, aggregates, GeoParquet and GeoJSON."""

import sys
from pathlib import Path

from pyspark.sql import functions as F  # noqa: N812
from sedona.spark import SedonaContext
from sedona.spark.sql import st_constructors, st_functions, st_predicates

folder = Path(sys.argv[1]).resolve()
spark = (
    SedonaContext.builder()
    .master("local[1]")
    .config("spark.sql.warehouse.dir", str(folder / "warehouse"))
    .config(
        "spark.jars.packages",
        "org.apache.sedona:sedona-spark-shaded-4.0_2.13:1.8.0,org.datasyslab:geotools-wrapper:1.8.0-33.1",
    )
    .getOrCreate()
)
sedona = SedonaContext.create(spark)


def table(name: str, rows: list, schema: str):
    """A Parquet file of rows, read again."""
    sedona.createDataFrame(rows, schema).write.parquet(str(folder / name))
    return sedona.read.parquet(str(folder / name))


stops = [(1, "quay", 3.71, 51.05), (2, "gate", 3.73, 51.06), (3, "mill", 3.75, 51.03), (4, "moor", 4.40, 51.20)]
table("stops", stops, "stop int, name string, lon double, lat double").createOrReplaceTempView("stops")
zones = [
    ("centre", 2.5, "POLYGON ((3.70 51.04, 3.74 51.04, 3.74 51.07, 3.70 51.07, 3.70 51.04))"),
    ("south", 1.5, "POLYGON ((3.70 51.00, 3.80 51.00, 3.80 51.04, 3.70 51.04, 3.70 51.00))"),
]
table("zones", zones, "zone string, fare double, outline string").createOrReplaceTempView("zones")

points = sedona.sql("SELECT stop, name, ST_Point(lon, lat) AS place FROM stops")
areas = sedona.sql("SELECT zone, fare, ST_GeomFromWKT(outline) AS area FROM zones")
points.createOrReplaceTempView("points")
areas.createOrReplaceTempView("areas")
points.withColumn("metres", F.expr("ST_Transform(place, 'EPSG:4326', 'EPSG:31370')")).write.format("geoparquet").save(
    str(folder / "points")
)
areas.write.format("geoparquet").save(str(folder / "areas"))

# A spatial join, and what is measured of its shapes.
sedona.sql("""
    SELECT p.stop, a.zone, a.fare * 2 AS there_and_back, ST_AsText(p.place) AS place,
           ST_Distance(p.place, ST_Centroid(a.area)) AS from_centre
    FROM points p JOIN areas a ON ST_Contains(a.area, p.place)
""").write.parquet(str(folder / "stops_in_zones"))

# Read back from GeoParquet, by the functions of Python, and a join by distance.
places = sedona.read.format("geoparquet").load(str(folder / "points"))
outlines = sedona.read.format("geoparquet").load(str(folder / "areas"))
near = places.join(outlines, st_predicates.ST_DWithin("place", "area", 0.05), "left")
near.select(
    "name", "zone", st_functions.ST_X("place").alias("x"), st_functions.ST_Area("area").alias("size")
).write.parquet(str(folder / "near"))

# Aggregates of shapes, and shapes that become rows.
places.groupBy(F.substring("name", 1, 1).alias("letter")).agg(
    F.expr("ST_AsText(ST_Envelope_Aggr(place))").alias("box"), F.count("*").alias("stops")
).write.parquet(str(folder / "boxes"))
outlines.select("zone", F.explode(F.expr("ST_DumpPoints(area)")).alias("corner")).select(
    "zone", st_functions.ST_AsText("corner").alias("corner")
).write.parquet(str(folder / "corners"))
outlines.agg(F.expr("ST_Union_Aggr(area)").alias("all")).select(
    st_functions.ST_NPoints("all").alias("corners")
).write.parquet(str(folder / "whole"))

# The nearest zone of each stop.
sedona.sql("""
    SELECT p.stop, a.zone FROM points p JOIN areas a ON ST_KNN(p.place, a.area, 1, FALSE)
""").write.parquet(str(folder / "nearest"))

# GeoJSON, as text for others, and shapes made of it.
places.select("name", st_functions.ST_AsGeoJSON("place").alias("shape")).write.json(str(folder / "geojson"))
sedona.read.schema("name string, shape string").json(str(folder / "geojson")).select(
    "name", st_constructors.ST_GeomFromGeoJSON("shape").alias("place")
).where("ST_Y(place) > 51.04").write.format("geoparquet").save(str(folder / "northern"))
spark.stop()
