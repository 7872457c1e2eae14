"""Archives of OpenLineage events, made into tables of lineage by Spark.

>>> from headwater.archive import build
>>> archive = build(spark, "s3a://lake/events", "s3a://lake/lineage")  # doctest: +SKIP
>>> archive.column_edges.where("current").show()                       # doctest: +SKIP
"""

from headwater.archive.building import Archive, build, read

__all__ = ["Archive", "build", "read"]
