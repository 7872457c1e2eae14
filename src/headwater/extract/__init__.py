"""Plan to lineage, purely: no Spark, no network, no clock."""

from headwater.extract.extractor import column_lineage, origin, statement, stream
from headwater.extract.origins import Origins, Stream
from headwater.extract.scope import ExtractSettings

__all__ = ["ExtractSettings", "Origins", "Stream", "column_lineage", "origin", "statement", "stream"]
