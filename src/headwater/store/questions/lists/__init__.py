"""Lists in pages, searches, and what is missing in lineage."""
