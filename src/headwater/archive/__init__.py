"""Archives of OpenLineage events, made into tables of lineage by Spark.

>>> from headwater.archive import build
>>> archive = build(spark, "s3a://lake/events", "s3a://lake/lineage")  # doctest: +SKIP
>>> archive.column_edges.where("current").show()                       # doctest: +SKIP
>>> roots(archive, find_fields(archive, "gold/delays.avg_delay")).show()  # doctest: +SKIP
"""

from headwater.archive.builds import Archive, build, read
from headwater.archive.questions.lineage import changes, column_roots, cycles, impact, roots
from headwater.archive.questions.name_lookup import find_fields
from headwater.archive.questions.shortest_path import paths
from headwater.archive.questions.tag_flow import file_flow, tag_flow, tagged_fields
from headwater.archive.store_loader import LoadReport, load
from headwater.archive.updates import update

__all__ = [
    "Archive",
    "LoadReport",
    "build",
    "changes",
    "column_roots",
    "cycles",
    "file_flow",
    "find_fields",
    "impact",
    "load",
    "paths",
    "read",
    "roots",
    "tag_flow",
    "tagged_fields",
    "update",
]
