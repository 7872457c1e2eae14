"""Plan to lineage, purely: no Spark, no network, no clock."""

from headwater.extract.extractor import assignments, column_lineage, loop_query, origin, statement, stream
from headwater.extract.origins import Origin, OriginKey, Origins, Stream
from headwater.extract.scope import ExtractSettings
from headwater.extract.variables import ASSIGNMENTS, either, loop_variable

__all__ = [
    "ASSIGNMENTS",
    "ExtractSettings",
    "Origin",
    "OriginKey",
    "Origins",
    "Stream",
    "assignments",
    "column_lineage",
    "either",
    "loop_query",
    "loop_variable",
    "origin",
    "statement",
    "stream",
]
