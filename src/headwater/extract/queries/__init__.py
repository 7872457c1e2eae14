"""Lineage of a query that another database runs: the SQL that JDBC hands over instead of a table's name."""

from headwater.extract.queries.reading import QueryLineage, is_query, query_lineage

__all__ = ["QueryLineage", "is_query", "query_lineage"]
