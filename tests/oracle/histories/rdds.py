"""Files of RDDs: rows saved as text, and lines that are read into a frame again."""

from tests.oracle.expressions import SCALARS
from tests.oracle.histories.history import Chain, Link
from tests.oracle.pipelines import Columns

SAVED = {
    "saveAsTextFile": 'df.rdd.map(lambda row: ";".join(str(value) for value in row)).saveAsTextFile(f"{path}")',
    "toJSON": 'df.toJSON().map(lambda line: line + ";").saveAsTextFile(f"{path}")',
    "csv": 'df.coalesce(1).write.csv(f"{path}", sep=";")',
}
READ = {
    "textFile": "spark.sparkContext.textFile(f\"{path}\").map(lambda line: (line + ';').split(';')[:2])"
    '.toDF("a string, b string")',
    "text": 'spark.read.text(f"{path}").selectExpr("split_part(value, \';\', 1) AS a", "value AS b")',
}


def by_text(chain: Chain) -> None:
    """Lines of text, written or read by an RDD."""
    code, columns = chain.pipeline(1)
    scalars = [name for name, kind in columns.types.items() if kind in SCALARS]
    saved, read = chain.one_of(*SAVED), chain.one_of(*READ)
    chain.used.update((f"RDD {saved}", f"RDD {read}"))
    path = f"{{folder}}/{chain.place()}"
    chosen = ", ".join(f"'CAST({name} AS STRING) AS c{place}'" for place, name in enumerate(scalars[:3]))
    narrow = f"df = df.selectExpr({chosen or repr('1 AS c')})"
    write = SAVED[saved].replace("{path}", path)
    reader = READ[read].replace("{path}", path)
    chain.hand_on(f"{code}\n{narrow}\n{write}", reader, Columns({"a": "string", "b": "string"}))


LINKS: dict[str, Link] = {"lines": by_text}
