"""The wire format: dataset names, facets and events as OpenLineage writes them, and their delivery.

The only package where camelCase is at home. It imports nothing of Spark.
"""
