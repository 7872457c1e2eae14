"""MERGE into a Delta table, whose schema grows or does not."""

from tests.oracle.forms import AGGREGATES
from tests.oracle.histories.history import Chain, Link
from tests.oracle.pipelines import BASES, Builder, Columns, base

MATCHED = (
    "WHEN MATCHED THEN UPDATE SET *",
    "WHEN MATCHED AND s.k > 1 THEN UPDATE SET *",
    "WHEN MATCHED AND s.a = t.a THEN DELETE WHEN MATCHED THEN UPDATE SET *",
    "WHEN MATCHED THEN UPDATE SET t.a = s.a",
)
NOT_MATCHED = ("WHEN NOT MATCHED THEN INSERT *", "WHEN NOT MATCHED AND s.k < 20 THEN INSERT *", "")
BY_SOURCE = (
    "",
    "WHEN NOT MATCHED BY SOURCE THEN DELETE",
    "WHEN NOT MATCHED BY SOURCE AND t.k > 2 THEN UPDATE SET a = NULL",
)
KINDS = ("string", "int", "double")


def merged(chain: Chain) -> None:
    """Merge a query over one of the tables into what was handed on."""
    table, place, kind, new = chain.one_of(*BASES), chain.place(), chain.one_of(*KINDS), chain.one_of(*KINDS)
    own = chain.builder().writer()
    other = Builder(chain.draw, base(table), table, used=chain.used).writer("r")
    target = f'spark.sql("""SELECT {own.value("int", 1)} AS k, {own.value(kind, 1)} AS a FROM mid""")'
    source = (
        f"SELECT {other.column('int')} AS k, {other.value(kind, 1, (AGGREGATES,))} AS a,"
        f" {other.value(new, 1, (AGGREGATES,))} AS b FROM {table} AS r GROUP BY 1"
    )
    clauses = " ".join((chain.one_of(*MATCHED), chain.one_of(*NOT_MATCHED), chain.one_of(*BY_SOURCE)))
    grows = chain.one_of("WITH SCHEMA EVOLUTION ", "")
    chain.used.update((f"MERGE {grows}", *filter(None, clauses.split(" WHEN"))))
    text = f"MERGE {grows}INTO @place t USING ({source}) s ON t.k = s.k {clauses}"
    write = f'{target}.write.format("delta").saveAsTable(f"{place}")'
    chain.hand_on("\n".join((chain.opening, write)), f'spark.table(f"{place}")', Columns({"k": "int", "a": kind}))
    run = f'spark.sql("""{text}""".replace("@place", f"{place}"))'
    types = {"k": "int", "a": kind, **({"b": new} if grows and "*" in clauses else {})}
    chain.hand_on(run, f'spark.table(f"{place}")', Columns(types))


LINKS: dict[str, Link] = {"merge": merged}
