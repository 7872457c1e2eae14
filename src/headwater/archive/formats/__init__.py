"""Places for tables: folders of Parquet files or Delta tables, and namespaces of Iceberg catalogs."""
