"""Plan to lineage, purely: no Spark, no network, no clock."""

from headwater.extract.extractor import column_lineage, origin, statement
from headwater.extract.origins import Origins
from headwater.extract.scope import ExtractSettings

__all__ = ["ExtractSettings", "Origins", "column_lineage", "origin", "statement"]
