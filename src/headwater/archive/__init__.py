"""Archives of OpenLineage events, made into tables of lineage by Spark.

>>> from headwater.archive import build
>>> archive = build(spark, "s3a://lake/events", "s3a://lake/lineage")  # doctest: +SKIP
>>> archive.column_edges.where("current").show()                       # doctest: +SKIP
>>> roots(archive, find_fields(archive, "gold/delays.avg_delay")).show()  # doctest: +SKIP
"""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
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

_HOMES = {
    "Archive": "builds",
    "LoadReport": "store_loader",
    "build": "builds",
    "changes": "questions.lineage",
    "column_roots": "questions.lineage",
    "cycles": "questions.lineage",
    "file_flow": "questions.tag_flow",
    "find_fields": "questions.name_lookup",
    "impact": "questions.lineage",
    "load": "store_loader",
    "paths": "questions.shortest_path",
    "read": "builds",
    "roots": "questions.lineage",
    "tag_flow": "questions.tag_flow",
    "tagged_fields": "questions.tag_flow",
    "update": "updates",
}


def __getattr__(name: str) -> Any:
    """The public names, loaded when they are used: Spark's Python workers need what reads events and nothing else."""
    if name not in _HOMES:
        raise AttributeError(f"module 'headwater.archive' has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(f"headwater.archive.{_HOMES[name]}"), name)
