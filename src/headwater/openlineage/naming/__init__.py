"""Names of datasets by the OpenLineage naming specification, and what trims or replaces them.

Its modules are imported by themselves: the store and the archive use rules for paths and nothing of the client.
"""
