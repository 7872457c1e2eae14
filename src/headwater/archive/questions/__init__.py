"""Questions over the tables of an archive, answered by Spark as tables again."""
