"""Names of datasets and fields: which dataset or field each means at which moment."""
