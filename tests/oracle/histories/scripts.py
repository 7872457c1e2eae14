"""SQL scripts: loops over the rows of a query, assignments, branches that their own variables decide."""

from tests.oracle.expressions import SCALARS
from tests.oracle.forms import AGGREGATES
from tests.oracle.histories.history import Chain, Link
from tests.oracle.histories.sinks import DDL
from tests.oracle.pipelines import Columns

LOOP = """\
BEGIN
  FOR one AS (SELECT {first} AS p, {second} AS q FROM mid AS t{where}) DO
    INSERT INTO {place} SELECT one.p, q;
  END FOR;
END"""
SUMMED = """\
BEGIN
  DECLARE total BIGINT DEFAULT 0;
  DECLARE found {ddl};
  SET found = (SELECT {value} FROM mid AS t{where});
  FOR one AS (SELECT {number} AS p FROM mid AS t) DO
    SET total = total + coalesce(one.p, 0);
  END FOR;
  INSERT INTO {place} SELECT found, total;
END"""
COUNTED = """\
BEGIN
  DECLARE n INT DEFAULT 0;
  WHILE n < 2 DO
    SET n = n + 1;
    IF n = 1 THEN
      INSERT INTO {place} SELECT {first}, n FROM mid AS t{where};
    ELSE
      INSERT INTO {place} SELECT max({first}), n FROM mid AS t;
    END IF;
  END WHILE;
END"""


def script(chain: Chain) -> None:
    """A job that is one script, which writes into a table."""
    form = chain.one_of(LOOP, SUMMED, COUNTED)
    chain.used.add(f"script {('FOR', 'SET', 'WHILE')[(LOOP, SUMMED, COUNTED).index(form)]}")
    builder, kind, place = chain.builder(), chain.one_of(*SCALARS), chain.place()
    writer = builder.writer("t")
    second = chain.one_of(*SCALARS) if form == LOOP else "int"
    text = form.format(
        first=writer.value(kind, 1),
        second=writer.value(second, 1),
        number=writer.value("int", 1),
        value=writer.value(kind, 1, (AGGREGATES,)),
        where=f" WHERE {builder.condition(writer)}" if chain.one_of("", "where") else "",
        ddl=DDL[kind],
        place=place.replace("{tag}", "@tag"),
    )
    create = f'spark.sql(f"CREATE TABLE {place} (a {DDL[kind]}, b {DDL[second]}) USING parquet")'
    run = f'spark.sql("""{text}""".replace("@tag", tag))'
    columns = Columns({"a": kind, "b": second})
    chain.hand_on("\n".join((chain.opening, create, run)), f'spark.table(f"{place}")', columns)


LINKS: dict[str, Link] = {"script": script}
