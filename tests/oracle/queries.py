"""Steps of a pipeline that are written in SQL."""

from collections.abc import Mapping

from tests.oracle.expressions import SCALARS, TYPES
from tests.oracle.forms import AGGREGATES
from tests.oracle.packings import PACKED_AGGREGATES, PACKED_SUBQUERIES, PACKED_WINDOWS, PACKINGS
from tests.oracle.pipelines import BASES, Builder, Columns, Step, base


def items(values: list[str], names: tuple[str, ...]) -> str:
    """A list for SELECT."""
    return ", ".join(f"{value} AS {name}" for value, name in zip(values, names, strict=True))


def select(b: Builder) -> None:
    """``SELECT [DISTINCT] … [WHERE …]``; mostly with the columns that tell rows apart."""
    writer, kinds = b.writer("t"), b.kinds()
    unique = b.columns.unique if b.one_of(True, False) else ()
    values = [b.value(writer, kind) for kind in kinds] + [f"t.{name}" for name in unique]
    names = b.names(len(values))
    where = f" WHERE {b.condition(writer)}" if b.one_of(False, True) else ""
    comparable = "map" not in kinds
    distinct = "DISTINCT " if comparable and b.one_of(False, False, True) else ""
    types = dict(zip(names, [*kinds, *(b.columns.types[name] for name in unique)], strict=True))
    b.sql(f"SELECT {distinct}{items(values, names)} FROM {{prev}} AS t{where}", Columns(types, names[len(kinds) :]))


def limited(b: Builder) -> None:
    """``ORDER BY … LIMIT …``."""
    tail = b.one_of("LIMIT 3", "LIMIT 2 OFFSET 1", "OFFSET 2")
    b.used.add(tail)
    b.sql(f"SELECT * FROM {{prev}} AS t ORDER BY {b.writer('t').total()} {tail}", b.columns)


def grouped(b: Builder) -> None:
    """``GROUP BY`` in all its forms, with HAVING."""
    writer = b.writer("t")
    key_kinds, kinds = b.kinds(0, 2, SCALARS), b.kinds(of=tuple(AGGREGATES))
    keys = [writer.value(kind, 1) for kind in key_kinds]
    keys = [key if key.startswith("t.") else f"coalesce({key}, NULL)" for key in keys]
    values = [writer.value(kind, 2, (AGGREGATES,)) for kind in kinds]
    names = b.names(len(keys) + len(values))
    form = b.one_of("{}", "ROLLUP({})", "CUBE({})", "GROUPING SETS(({}), ())") if keys else ""
    b.used.add(f"GROUP BY {form}")
    group = f" GROUP BY {form.format(', '.join(keys))}" if keys else ""
    having = f" HAVING {writer.value('boolean', 1, (AGGREGATES,))}" if b.one_of(False, False, True) else ""
    where = f" WHERE {b.condition(writer)}" if b.one_of(False, False, True) else ""
    columns = Columns(dict(zip(names, key_kinds + kinds, strict=True)), names[: len(keys)] if form == "{}" else ())
    b.sql(f"SELECT {items(keys + values, names)} FROM {{prev}} AS t{where}{group}{having}", columns)


def joined(b: Builder) -> None:
    """Joins of all kinds, with tables and with the relation itself."""
    table = b.one_of(*BASES, "")
    right = base(table) if table else b.columns
    how = b.one_of("JOIN", "LEFT JOIN", "RIGHT JOIN", "FULL JOIN", "LEFT SEMI JOIN", "LEFT ANTI JOIN", "CROSS JOIN")
    one_side = "SEMI" in how or "ANTI" in how
    writer = b.writer("t") if one_side else b.writer("t", ("r", right))
    on = "" if "CROSS" in how else f" ON {_join_condition(b, right)}"
    b.used.add(how)
    kinds = b.kinds(1, 4)
    values = [writer.value(kind, 1) for kind in kinds]
    names = b.names(len(values))
    source = table or "{prev}"
    where = f" WHERE {b.condition(writer)}" if b.one_of(False, False, True) else ""
    text = f"SELECT {items(values, names)} FROM {{prev}} AS t {how} {source} AS r{on}{where}"
    b.sql(text, Columns(dict(zip(names, kinds, strict=True))))


def _join_condition(b: Builder, right: Columns) -> str:
    ours, theirs = b.columns.by_type("t"), right.by_type("r")
    kinds = [kind for kind in SCALARS if kind in ours and kind in theirs]
    if not kinds:
        return str(b.writer("t", ("r", right)).value("boolean", 1))
    kind = b.one_of(*kinds)
    sign = b.one_of("=", "<=>", "<", ">=")
    b.used.add(f"ON {sign}")
    compared = f"{b.one_of(*ours[kind])} {sign} {b.one_of(*theirs[kind])}"
    more = b.one_of("", " AND ", " OR ")
    return compared + more + (f"({b.writer('t', ('r', right)).value('boolean', 1)})" if more else "")


def combined(b: Builder) -> None:
    """Set operations with a table or the relation itself."""
    table = b.one_of(*BASES, "")
    right = base(table) if table else b.columns
    operation = b.one_of("UNION ALL", "UNION", "INTERSECT", "INTERSECT ALL", "EXCEPT", "EXCEPT ALL")
    b.used.add(operation)
    kinds = b.kinds(1, 3, [kind for kind in TYPES if kind != "map"])
    other = Builder(b.draw, right, "", used=b.used).writer("r")
    left = [b.writer("t").value(kind, 1) for kind in kinds]
    names = b.names(len(kinds))
    second = ", ".join(other.value(kind, 1) for kind in kinds)
    text = f"SELECT {items(left, names)} FROM {{prev}} AS t {operation} SELECT {second} FROM {table or '{prev}'} AS r"
    b.sql(text, Columns(dict(zip(names, kinds, strict=True))))


GENERATORS: Mapping[str, tuple[str, ...]] = {
    "explode({strings})": ("string",),
    "explode({map})": ("string", "string"),
    "posexplode({ints})": ("int", "int"),
    "inline(array({struct}, {struct}))": ("string", "int"),
    "stack(2, {int}, {string}, {int}, {string})": ("int", "string"),
    "json_tuple(to_json({struct}), 'code')": ("string",),
    "explode(sequence(1, abs({int}) % 3))": ("int",),
    "explode(array({struct}))": ("struct",),
}


def exploded(b: Builder) -> None:
    """``LATERAL VIEW`` and generators in FROM."""
    form = b.one_of(*GENERATORS)
    call, made = b.writer("t").value("g", 1, ({"g": (form,)},)), GENERATORS[form]
    passed = b.kinds(1, 2)
    names = b.names(len(passed) + len(made))
    values = [b.writer("t").value(kind, 1) for kind in passed] + [f"g.x{place}" for place in range(len(made))]
    new = ", ".join(f"x{place}" for place in range(len(made)))
    outer = b.one_of("", "OUTER ")
    text = f"SELECT {items(values, names)} FROM {{prev}} AS t LATERAL VIEW {outer}{call} g AS {new}"
    b.sql(text, Columns(dict(zip(names, [*passed, *made], strict=True))))


def lateral(b: Builder) -> None:
    """A subquery in FROM that looks at its neighbour."""
    table = b.one_of(*BASES)
    inner = Builder(b.draw, base(table), "", used=b.used).writer("r")
    kind = b.one_of("int", "string", "double")
    value = inner.value(kind, 1, (AGGREGATES,))
    passed = b.kinds(1, 2)
    values = [*(b.writer("t").value(each, 1) for each in passed), "l.m"]
    names = b.names(len(values))
    where = f"{inner.value('int', 0)} = {b.writer('t').value('int', 1)}"
    subquery = f"LATERAL (SELECT {value} AS m FROM {table} r WHERE {where}) l"
    text = f"SELECT {items(values, names)} FROM {{prev}} AS t, {subquery}"
    b.sql(text, Columns(dict(zip(names, [*passed, kind], strict=True))))


def pivoted(b: Builder) -> None:
    """``PIVOT``."""
    writer = b.writer("t")
    key, over = b.one_of("int", "string"), b.one_of("string", "int")
    first, second = ("'DE'", "'ok'") if over == "string" else ("1", "2")
    total = b.one_of("sum(v)", "max(v)", "count(v)")
    b.used.add(f"PIVOT {total}")
    names = b.names(3)
    values = [writer.value(kind, 1) for kind in (key, over, "int")]
    inner = f"SELECT {items(values, ('k', 'p', 'v'))} FROM {{prev}} AS t"
    pivot = f"PIVOT ({total} FOR p IN ({first} AS w1, {second} AS w2))"
    text = f"SELECT {items(['k', 'w1', 'w2'], names)} FROM ({inner}) {pivot}"
    b.sql(text, Columns({names[0]: key, names[1]: "int", names[2]: "int"}, names[:1]))


def unpivoted(b: Builder) -> None:
    """``UNPIVOT``."""
    writer = b.writer("t")
    kind, other = b.one_of("int", "string"), b.one_of("string", "int")
    nulls = b.one_of("", "INCLUDE NULLS ")
    b.used.add(f"UNPIVOT {nulls}")
    names = b.names(3)
    one, two, passed = writer.value(kind, 1), writer.value(kind, 1), writer.value(other, 1)
    inner = f"SELECT {passed} AS k, {one} AS u, {two} AS v FROM {{prev}} AS t"
    text = f"SELECT k AS {names[0]}, n AS {names[1]}, w AS {names[2]} FROM ({inner}) UNPIVOT {nulls}(w FOR n IN (u, v))"
    b.sql(text, Columns({names[0]: other, names[1]: "string", names[2]: kind}))


def recursive(b: Builder) -> None:
    """``WITH RECURSIVE``."""
    writer = b.writer("t")
    kind = b.one_of("int", "string")
    start, value, names = writer.value("int", 1), writer.value(kind, 1), b.names(2)
    again = {"int": "v + n", "string": "concat(v, n)"}[kind]
    anchor = f"SELECT {start} % 3 AS n, {value} AS v FROM {{prev}} AS t"
    text = f"WITH RECURSIVE w(n, v) AS ({anchor} UNION ALL SELECT n + 1, {again} FROM w WHERE n < 3)"
    b.sql(f"{text} SELECT n AS {names[0]}, v AS {names[1]} FROM w", Columns({names[0]: "int", names[1]: kind}))


def piped(b: Builder) -> None:
    """``FROM … |> …``."""
    writer, kinds = b.writer(), b.kinds(1, 2)
    values, names = [writer.value(kind, 1) for kind in kinds], b.names(len(kinds))
    text = f"FROM {{prev}} |> WHERE {writer.value('boolean', 1)} |> SELECT {items(values, names)}"
    b.sql(text, Columns(dict(zip(names, kinds, strict=True))))


def function(b: Builder) -> None:
    """A SQL function that reads a table."""
    b.prelude.add("reads")
    writer, kinds = b.writer("t"), b.kinds(1, 2)
    values = [f"reads({writer.value('int', 1)}, {writer.value('string', 1)})", *(writer.value(k, 1) for k in kinds)]
    names = b.names(len(values))
    b.sql(f"SELECT {items(values, names)} FROM {{prev}} AS t", Columns(dict(zip(names, ["int", *kinds], strict=True))))


PACKED_GENERATORS: Mapping[str, tuple[str, ...]] = {
    "inline(array({struct}, {struct}))": ("string", "int"),
    "explode(filter(array({struct}, {struct}), s -> s.tier > {int}))": ("struct",),
    "explode(map('a', {struct}, 'b', {struct}))": ("string", "struct"),
    "inline(arrays_zip({strings}, array({int}, {int})))": ("string", "int"),
}


def packed(b: Builder) -> None:
    """Values packed, handed on by row, window, subquery or generator, and taken out of it leaf by leaf."""
    writer, kinds = b.writer("t"), b.kinds(1, 3, ("string", "int", "struct"))
    tables = b.one_of((PACKINGS,), (PACKINGS,), (PACKED_WINDOWS, PACKINGS), (PACKED_SUBQUERIES, PACKINGS))
    form = b.one_of("", *PACKED_GENERATORS)
    made = PACKED_GENERATORS.get(form, ())
    passed = b.columns.unique
    values = [writer.value(kind, 3, tables) for kind in kinds]
    names = b.names(len(values) + len(made) + len(passed))
    new = ", ".join(f"x{place}" for place in range(len(made)))
    view = f" LATERAL VIEW {writer.value('g', 2, ({'g': (form,)},))} g AS {new}" if form else ""
    values += [f"g.x{place}" for place in range(len(made))] + [f"t.{name}" for name in passed]
    types = [*kinds, *made, *(b.columns.types[name] for name in passed)]
    unique = names[len(kinds) + len(made) :] if not form else ()
    b.sql(
        f"SELECT {items(values, names)} FROM {{prev}} AS t{view}",
        Columns(dict(zip(names, types, strict=True)), unique),
    )


def packed_groups(b: Builder) -> None:
    """Aggregates that return a packed value of one row, or all of them."""
    writer, key = b.writer("t"), b.writer("t").scalar()
    kinds = b.kinds(1, 2, tuple(PACKED_AGGREGATES))
    kinds = [kind for kind in kinds if kind in PACKED_AGGREGATES] or ["int"]
    values = [writer.value(kind, 2, (PACKED_AGGREGATES,)) for kind in kinds]
    names = b.names(len(values))
    text = f"SELECT {items(values, names)} FROM {{prev}} AS t GROUP BY {key}"
    b.sql(text, Columns(dict(zip(names, kinds, strict=True))))


STEPS: Mapping[str, Step] = {
    "packed": packed,
    "packed groups": packed_groups,
    "SELECT": select,
    "GROUP BY": grouped,
    "JOIN": joined,
    "set operation": combined,
    "LATERAL VIEW": exploded,
    "LATERAL": lateral,
    "ORDER BY LIMIT": limited,
    "PIVOT": pivoted,
    "UNPIVOT": unpivoted,
    "WITH RECURSIVE": recursive,
    "pipe": piped,
    "SQL function": function,
}

PRELUDES: Mapping[str, str] = {
    "reads": 'spark.sql("CREATE OR REPLACE TEMPORARY FUNCTION reads(x INT, y STRING) RETURNS INT RETURN '
    'length(y) + (SELECT count(*) FROM orders o WHERE o.customer_id = x)")',
}
