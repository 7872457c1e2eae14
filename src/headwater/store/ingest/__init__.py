"""Events taken in: names become ids, rows are written, and the current lineage follows."""
