"""Archives of events of realistic shapes, made into tables by headwater on Spark and by DuckDB."""
