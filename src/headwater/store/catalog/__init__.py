"""Namespaces, sources, datasets, jobs and runs of the store: by name, in pages, without a query per row."""
