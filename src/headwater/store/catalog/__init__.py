"""What the store knows of each namespace, source, dataset, job and run: by name, in pages, without a query per row."""
