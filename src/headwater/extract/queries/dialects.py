"""The SQL of each kind of database, read with sqlglot: a tree of scopes, its identifiers as the database has them."""

from sqlglot import exp, parse_one
from sqlglot.dialects import TSQL, Oracle, Snowflake
from sqlglot.dialects.dialect import Dialect
from sqlglot.optimizer.normalize_identifiers import normalize_identifiers
from sqlglot.optimizer.qualify_tables import qualify_tables
from sqlglot.optimizer.scope import Scope, build_scope

from headwater.errors import PlanError
from headwater.extract.queries.pivots import without_pivots
from headwater.extract.queries.result import Result
from headwater.extract.queries.scopes import Reading
from headwater.model import Dataset
from headwater.openlineage.naming.jdbc_url import engine_of, jdbc_table

# A definition in WITH may read itself without the word RECURSIVE
_RECURSIVE = (Oracle, Snowflake, TSQL)
# By the scheme of the engine's namespaces; others are read as standard SQL.
_DIALECTS = {
    "postgres": "postgres",
    "mysql": "mysql",
    "mssql": "tsql",
    "oracle": "oracle",
    "redshift": "redshift",
    "snowflake": "snowflake",
    "trino": "trino",
    "presto": "presto",
    "clickhouse": "clickhouse",
    "teradata": "teradata",
    "crate": "postgres",
    "sqlite": "sqlite",
    "duckdb": "duckdb",
}
_STRATEGIES = {"lower": "lowercase", "upper": "uppercase", "": "case_sensitive"}


def read(url: str, text: str, masking: frozenset[str]) -> tuple[Result, tuple[Dataset, ...], tuple[str, ...]]:
    """The columns of the query ``text`` in the database at ``url``, its tables, and what stayed unclear.

    Raises:
        PlanError: the text is no query.
        Exception: whatever sqlglot raises over text that it cannot read.
    """
    engine = engine_of(url)
    dialect = Dialect.get_or_raise(
        f"{_DIALECTS.get(engine.scheme, '')}, normalization_strategy={_STRATEGIES[engine.fold]}"
    )
    pseudo_columns = frozenset(getattr(dialect, "PSEUDOCOLUMNS", ()))
    reading = Reading(lambda table: _dataset(url, table), masking, pseudo_columns)
    return _read(parse_one(text, dialect=dialect), dialect, reading)


def read_expression(sql: str, table: Dataset, masking: frozenset[str]) -> Result:
    """The lineage of an expression of Spark SQL over a row of a table; raises like `read`."""
    dialect = Dialect.get_or_raise("spark")
    tree = parse_one(f"SELECT {sql} AS value FROM row", dialect=dialect)
    for column in list(tree.find_all(exp.Column)):
        if column.table:  # there is one table only: what looks like its name is a struct
            column.replace(exp.Dot.build([exp.column(column.parts[0]), *column.parts[1:]]))
    return _read(tree, dialect, Reading(lambda _: table, masking))[0]


def _read(parsed: exp.Expr, dialect: Dialect, reading: Reading) -> tuple[Result, tuple[Dataset, ...], tuple[str, ...]]:
    tree = normalize_identifiers(parsed, dialect=dialect)
    # Names of WITH in the case of their definition, where the database minds no case but the parser does
    names = {cte.alias.lower(): cte.alias for cte in tree.find_all(exp.CTE)}
    for table in tree.find_all(exp.Table):
        if not table.db and isinstance(table.this, exp.Identifier) and table.name.lower() in names:
            table.this.set("this", names[table.name.lower()])
    if isinstance(dialect, _RECURSIVE):
        for clause in tree.find_all(exp.With):
            clause.set("recursive", clause.recursive or any(map(_reads_itself, clause.expressions)))
    reading.problems += without_pivots(tree)
    root = build_scope(qualify_tables(tree, dialect=dialect))
    if root is None:
        raise PlanError(f"A query was expected behind JDBC, but {tree.key.upper()} was met; use dbtable or query.")
    result = reading.result(root)
    return result, _tables(root, reading), tuple(dict.fromkeys(reading.problems))


def _reads_itself(definition: exp.CTE) -> bool:
    """Whether the second part of a union in WITH reads the definition, and the first does not."""
    query = definition.this
    if not isinstance(query, exp.Union):
        return False
    first, second = (
        definition.alias in (table.name for table in part.find_all(exp.Table)) for part in (query.left, query.right)
    )
    return second and not first


def _tables(root: Scope, reading: Reading) -> tuple[Dataset, ...]:
    """Every table that the query reads, also one that no column comes from."""
    found = (source for scope in root.traverse() for _, source in scope.selected_sources.values())
    named = (reading.dataset(source) for source in found if isinstance(source, exp.Table))
    return tuple(dict.fromkeys(dataset for dataset in named if dataset is not None))


def _dataset(url: str, table: exp.Table) -> Dataset | None:
    """The dataset of a table; None for a function that stands in its place."""
    if not isinstance(table.this, exp.Identifier):
        return None
    return jdbc_table(url, [part for part in (table.catalog, table.db, table.name) if part])
