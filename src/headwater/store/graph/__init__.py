"""Lineage as a graph of ids: edges over time, and the current ones in memory."""
