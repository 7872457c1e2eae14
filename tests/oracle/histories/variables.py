"""Session variables that a query fills, and that a later query of the same job names."""

from tests.oracle.forms import AGGREGATES
from tests.oracle.histories.history import Chain, Link
from tests.oracle.histories.sinks import DDL
from tests.oracle.pipelines import Columns

FILLED = (
    "SET VAR {name} = ({query})",
    "EXECUTE IMMEDIATE '{quoted}' INTO {name}",
    "SET VAR ({name}) = ({query})",
)
TYPES = ("int", "string", "double")
SIGNS = ("=", "<=>", ">", "<=")


def filled(chain: Chain) -> None:
    """A variable in a column, in a condition, or in another variable."""
    builder = chain.builder()
    kind = chain.one_of(*TYPES)
    value = builder.writer("t").value(kind, 1, (AGGREGATES,))
    where = f" WHERE {builder.condition(builder.writer('t'))}" if chain.one_of("", "where") else ""
    query = f"SELECT {value} FROM mid AS t{where}"
    form = chain.one_of(*FILLED)
    chain.used.add(f"variable {form}")
    fill = form.format(name="v", query=query, quoted=query.replace("'", "\\'"))
    fills = ["DECLARE OR REPLACE VARIABLE v " + DDL[kind], fill]
    if chain.one_of("", "again"):
        fills.append("DECLARE OR REPLACE VARIABLE w STRING DEFAULT CAST(session.v AS STRING)")
        fills.append("SET VAR w = concat(coalesce(session.v, ''), '!')")
    used = "w" if len(fills) > 2 else "v"
    column = builder.writer("t").column("string" if used == "w" else kind)
    condition = f" WHERE {column} {chain.one_of(*SIGNS)} session.{used}" if chain.one_of("", "where") else ""
    other, own = chain.one_of(*TYPES), builder.writer("t")
    select = f"SELECT {own.value(other, 1)} AS a, session.{used} AS b FROM mid AS t{condition}"
    place = chain.place()
    lines = (f'spark.sql(r"""{line}""")' for line in fills)
    write = f'spark.sql(r"""{select}""").write.saveAsTable(f"{place}")'
    columns = Columns({"a": other, "b": "string" if used == "w" else kind})
    chain.hand_on("\n".join((chain.opening, *lines, write)), f'spark.table(f"{place}")', columns)


LINKS: dict[str, Link] = {"variable": filled}
