"""Steps of a pipeline that are calls of the DataFrame API."""

from collections.abc import Mapping

from tests.oracle.expressions import SCALARS
from tests.oracle.forms import AGGREGATES, FORMS, WINDOWS
from tests.oracle.pipelines import BASES, Builder, Columns, Step, base


def expr(text: str) -> str:
    """A Column of a SQL expression."""
    return f'F.expr("{text}")'


def where(b: Builder) -> None:
    """``where``."""
    b.frame(f".where({expr(b.writer().value('boolean', 2))})", b.columns)


def with_column(b: Builder) -> None:
    """``withColumn``: a new column, or one in the place of another."""
    kind = b.kinds(1, 1)[0]
    value = b.writer().value(kind, 2, b.one_of((FORMS,), (WINDOWS,)))
    name = b.one_of(*b.columns.types, "n")
    unique = tuple(each for each in b.columns.unique if each != name)
    b.frame(f'.withColumn("{name}", {expr(value)})', Columns({**b.columns.types, name: kind}, unique))


def renamed(b: Builder) -> None:
    """``toDF`` with the same names in another order: names are no identity."""
    names = list(b.columns.types)
    new = [*names[1:], names[0]]
    types = dict(zip(new, b.columns.types.values(), strict=True))
    moved = dict(zip(names, new, strict=True))
    b.frame(
        f".toDF({', '.join(repr(name) for name in new)})", Columns(types, tuple(moved[u] for u in b.columns.unique))
    )


def aggregated(b: Builder) -> None:
    """``groupBy``, ``rollup``, ``cube`` with ``agg``."""
    keys = [name for name, kind in b.columns.types.items() if kind in SCALARS][:2]
    how, kind = b.one_of("groupBy", "rollup", "cube"), b.one_of("int", "string", "double")
    b.used.add(how)
    value = b.writer().value(kind, 2, (AGGREGATES,))
    listed = ", ".join(repr(key) for key in keys)
    types = {**{key: b.columns.types[key] for key in keys}, "n": kind}
    b.frame(f'.{how}({listed}).agg({expr(value)}.alias("n"))', Columns(types, tuple(keys) if how == "groupBy" else ()))


def pivoted(b: Builder) -> None:
    """``groupBy().pivot()``."""
    writer = b.writer()
    key, over, value = writer.value("string", 1), writer.value("string", 1), writer.value("int", 1)
    text = (
        f'.select({expr(key)}.alias("k"), {expr(over)}.alias("p"), {expr(value)}.alias("v"))'
        '.groupBy("k").pivot("p", ["DE", "ok"]).agg(F.sum("v"))'
    )
    b.frame(text, Columns({"k": "string", "DE": "int", "ok": "int"}, ("k",)))


def joined(b: Builder) -> None:
    """``join`` by names of columns, which are one column afterwards."""
    kinds = [kind for kind in ("int", "string") if kind in b.columns.types.values()]
    if not kinds:
        return with_column(b)
    kind, table = b.one_of(*kinds), b.one_of(*BASES)
    how = b.one_of("inner", "left", "right", "full", "semi", "anti")
    b.used.add(f"join using {how}")
    name = b.one_of(*(name for name, own in b.columns.types.items() if own == kind))
    theirs = b.one_of(*(other for other, own in BASES[table].items() if own == kind))
    value = b.one_of(*(other for other in BASES[table] if other != theirs))
    right = f'spark.table("{table}").select(F.col("{theirs}").alias("{name}"), F.col("{value}").alias("w"))'
    only_left = how in ("semi", "anti")
    types = dict(b.columns.types) if only_left else {**b.columns.types, "w": BASES[table][value]}
    if "w" in b.columns.types:
        return with_column(b)
    b.frame(f'.join({right}, ["{name}"], "{how}")', Columns(types, b.columns.unique if only_left else ()))
    return None


def united(b: Builder) -> None:
    """Set operations of two DataFrames, by position and by name."""
    how = b.one_of("union", "unionByName", "intersect", "intersectAll", "subtract", "exceptAll")
    b.used.add(how)
    table = b.one_of(*BASES)
    flat = {name: kind for name, kind in b.columns.types.items() if kind != "map"} or {"n": "int"}
    left, right = b.writer(), Builder(b.draw, base(table), "", used=b.used).writer()
    own = [f'{expr(left.value(kind, 0))}.alias("{name}")' for name, kind in flat.items()]
    other = [f'{expr(right.value(kind, 1))}.alias("{name}")' for name, kind in flat.items()]
    if how == "unionByName":
        other.reverse()
    text = f'.select({", ".join(own)}).{how}(spark.table("{table}").select({", ".join(other)}))'
    b.frame(text, Columns(flat))


def deduplicated(b: Builder) -> None:
    """``distinct``, ``dropDuplicates``: only the keys are kept, the rest would depend on the order of rows."""
    keys = [name for name, kind in b.columns.types.items() if kind in SCALARS][:3]
    if not keys:
        return with_column(b)
    listed = ", ".join(repr(key) for key in keys)
    how = b.one_of(f".dropDuplicates([{listed}]).select({listed})", f".select({listed}).distinct()")
    b.frame(how, Columns({key: b.columns.types[key] for key in keys}, tuple(keys)))
    return None


def sorted_(b: Builder) -> None:
    """``orderBy`` and ``limit``."""
    order = ", ".join(repr(part) for part in b.writer().total().split(", ") if part in b.columns.types)
    if not order:
        return with_column(b)
    b.frame(f".orderBy({order}).limit(3)", b.columns)
    return None


def cleaned(b: Builder) -> None:
    """``fillna``, ``dropna``, ``replace``, and hints that change nothing."""
    known = [name for name, kind in b.columns.types.items() if kind == "string"]
    subset = f"subset={known!r}" if known else "subset=[]"
    how = b.one_of(
        f'.fillna("none", {subset})', f".dropna({subset})", f'.replace("DE", "AT", {subset})', '.hint("broadcast")',
        ".coalesce(1)", '.alias("q")',
    )  # fmt: skip
    b.used.add(how.split("(")[0])
    b.frame(how, b.columns)


def melted(b: Builder) -> None:
    """``unpivot``."""
    writer = b.writer()
    one, two, flat = (writer.value(kind, 1) for kind in ("int", "int", "string"))
    text = (
        f'.select({expr(flat)}.alias("k"), {expr(one)}.alias("u"), {expr(two)}.alias("v"))'
        '.unpivot(["k"], ["u", "v"], "a", "b")'
    )
    b.frame(text, Columns({"k": "string", "a": "string", "b": "int"}))


def structured(b: Builder) -> None:
    """``withField`` and ``dropFields``, and the leaves taken out again."""
    writer = b.writer()
    packed, value = writer.value("struct", 1), writer.value("string", 1)
    new = f'{expr(packed)}.withField("code", {expr(value)}).withField("more", F.lit(1)).dropFields("more")'
    types = {**b.columns.types, "s": "struct", "t": "int"}
    b.frame(f'.withColumn("s", {new}).withColumn("t", F.col("s.tier"))', Columns(types, b.columns.unique))


def python_function(b: Builder) -> None:
    """A Python UDF."""
    b.prelude.add("joined")
    b.used.add("udf")
    writer = b.writer()
    value = f"joined({expr(writer.value('string', 1))}, {expr(writer.value('int', 1))})"
    b.frame(f'.withColumn("u", {value})', Columns({**b.columns.types, "u": "string"}, b.columns.unique))


def pandas_function(b: Builder) -> None:
    """A pandas UDF, by row, or over groups."""
    b.prelude.add("pandas")
    writer = b.writer()
    how = b.one_of("doubled", "largest")
    b.used.add(f"pandas_udf {how}")
    if how == "doubled":
        value = f"doubled({expr(writer.value('int', 1))})"
        return b.frame(f'.withColumn("u", {value})', Columns({**b.columns.types, "u": "int"}, b.columns.unique))
    key, value = expr(writer.value("string", 1)), f"largest({expr(writer.value('int', 1))})"
    return b.frame(f'.groupBy({key}.alias("k")).agg({value}.alias("u"))', Columns({"k": "string", "u": "int"}, ("k",)))


def opaque(b: Builder) -> None:
    """``mapInPandas`` and ``applyInPandas``: functions over whole rows."""
    b.prelude.add("frames")
    writer = b.writer()
    chosen = (
        f'.select({expr(writer.value("string", 1))}.alias("k"), {expr(writer.value("int", 1))}.cast("int").alias("v"))'
    )
    how = b.one_of('.mapInPandas(picked, "k string, v int")', '.groupBy("k").applyInPandas(summed, "k string, v int")')
    b.used.add(how.split("(")[0])
    b.frame(chosen + how, Columns({"k": "string", "v": "int"}))


def python(b: Builder) -> None:
    """Something that runs in a Python worker; seldom, as such a run takes ten times as long."""
    b.one_of(with_column, renamed, where, python_function, pandas_function, opaque)(b)


STEPS: Mapping[str, Step] = {
    "where": where,
    "withColumn": with_column,
    "toDF": renamed,
    "agg": aggregated,
    "pivot": pivoted,
    "join": joined,
    "union": united,
    "dropDuplicates": deduplicated,
    "orderBy limit": sorted_,
    "na": cleaned,
    "unpivot": melted,
    "withField": structured,
    "Python": python,
}

PRELUDES: Mapping[str, str] = {
    "joined": 'joined = F.udf(lambda text, number: f"{text}{number or 0}"[:3], "string")',
    "pandas": """import pandas as pd

@F.pandas_udf("long")
def doubled(values: pd.Series) -> pd.Series:
    return values.fillna(0).astype("int64") * 2

@F.pandas_udf("long")
def largest(values: pd.Series) -> int:
    return int(values.fillna(0).max())
""",
    "frames": """import pandas as pd

def picked(parts):
    for part in parts:
        yield part[part["v"].notna()]

def summed(group: pd.DataFrame) -> pd.DataFrame:
    return pd.DataFrame({"k": group["k"].head(1), "v": [int(group["v"].fillna(0).sum())]})
""",
}
