"""A running Spark application to OpenLineage events; only this package speaks to the JVM."""
