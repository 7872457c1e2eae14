"""Plan to lineage, purely: no Spark, no network, no clock."""

from headwater.extract.extractor import column_lineage, statement
from headwater.extract.scope import ExtractSettings

__all__ = ["ExtractSettings", "column_lineage", "statement"]
