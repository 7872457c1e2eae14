"""Hand-overs by files and tables, in several formats."""

from tests.oracle.expressions import SCALARS
from tests.oracle.histories.history import Chain, Link
from tests.oracle.pipelines import Columns

DDL = {
    "int": "BIGINT",
    "double": "DOUBLE",
    "string": "STRING",
    "boolean": "BOOLEAN",
    "date": "DATE",
    "timestamp": "TIMESTAMP",
    "strings": "ARRAY<STRING>",
    "ints": "ARRAY<INT>",
    "map": "MAP<STRING, STRING>",
    "struct": "STRUCT<code: STRING, tier: INT>",
}

FILES = {
    "parquet": ('df.write.parquet(f"{path}")', 'spark.read.parquet(f"{path}")'),
    "orc": ('df.write.orc(f"{path}")', 'spark.read.format("orc").load(f"{path}")'),
    "json": ('df.write.json(f"{path}")', 'spark.read.schema("{ddl}").json(f"{path}")'),
    "delta": ('df.write.format("delta").save(f"{path}")', 'spark.read.format("delta").load(f"{path}")'),
    "two folders": (
        'df.write.parquet(f"{path}/kind=a")\ndf.write.parquet(f"{path}/kind=b")',
        'spark.read.parquet(f"{path}").drop("kind")',
    ),
}

TABLES = {
    "saveAsTable": ('df.write.saveAsTable(f"{name}")',),
    "saveAsTable delta": ('df.write.format("delta").saveAsTable(f"{name}")',),
    "CTAS": ('df.createOrReplaceTempView("made")', 'spark.sql(f"CREATE TABLE {name} USING orc AS SELECT * FROM made")'),
    "insertInto": ('df.limit(0).write.saveAsTable(f"{name}")', 'df.write.insertInto(f"{name}")'),
    "append": ('df.write.saveAsTable(f"{name}")', 'df.write.mode("append").saveAsTable(f"{name}")'),
    "overwrite": (
        'spark.range(1).write.saveAsTable(f"{name}")',
        'df.write.mode("overwrite").saveAsTable(f"{name}")',
    ),
    "stage": (
        'df.write.saveAsTable(f"{name}_s")',
        'spark.table(f"{name}_s").write.saveAsTable(f"{name}")',
        'spark.sql(f"TRUNCATE TABLE {name}_s")',
    ),
    "itself": (
        'df.write.format("delta").saveAsTable(f"{name}")',
        'spark.table(f"{name}").write.format("delta").mode("overwrite").saveAsTable(f"{name}")',
    ),
    "view": ('df.write.saveAsTable(f"{name}_t")', 'spark.sql(f"CREATE VIEW {name} AS SELECT * FROM {name}_t")'),
}


def by_files(chain: Chain) -> None:
    """A folder of files."""
    code, columns = chain.pipeline()
    kind = chain.one_of(*FILES)
    chain.used.add(f"hand-over {kind}")
    ddl = ", ".join(f"{name} {DDL[own]}" for name, own in columns.types.items())
    write, read = (text.replace("{path}", f"{{folder}}/{chain.place()}").replace("{ddl}", ddl) for text in FILES[kind])
    chain.hand_on(f"{code}\n{write}", read, columns)


def by_table(chain: Chain) -> None:
    """A table or a view of the catalog."""
    code, columns = chain.pipeline()
    kind, place = chain.one_of(*TABLES), chain.place()
    chain.used.add(f"hand-over {kind}")
    lines = (line.replace("{name}", place) for line in TABLES[kind])
    chain.hand_on("\n".join((code, *lines)), f'spark.table(f"{place}")', columns)


def by_csv(chain: Chain) -> None:
    """CSV, of scalars, with a header and without."""
    code, columns = chain.pipeline()
    scalars = {name: kind for name, kind in columns.types.items() if kind in SCALARS}
    if not scalars:
        return by_table(chain)
    path, header = f"{{folder}}/{chain.place()}", chain.one_of("True", "False")
    chain.used.add(f"hand-over csv {header}")
    ddl = ", ".join(f"{name} {DDL[kind]}" for name, kind in scalars.items())
    listed = ", ".join(repr(name) for name in scalars)
    write = f'df.select({listed}).write.csv(f"{path}", header={header})'
    read = f'spark.read.schema("{ddl}").csv(f"{path}", header={header})'
    chain.hand_on(f"{code}\n{write}", read, Columns(scalars))
    return None


LINKS: dict[str, Link] = {"files": by_files, "table": by_table, "csv": by_csv}
