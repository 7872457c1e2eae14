"""Lineage of SQL that Spark's plan does not hold: queries behind JDBC, expressions of generated columns."""

from headwater.extract.queries.reading import QueryLineage, is_query, query_lineage, with_generated

__all__ = ["QueryLineage", "is_query", "query_lineage", "with_generated"]
