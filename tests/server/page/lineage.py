"""A small estate with all that the page shows: expressions, marks, tags, owners, gaps, nested and hostile names."""

from typing import Any

from tests.store.conftest import run_event

from headwater.model.nested_fields import nested_name

Json = dict[str, Any]
SQL = "SELECT customer, sum(amount) AS revenue FROM silver.orders GROUP BY customer"
SCRIPT = "<img src=x onerror=document.title='owned'>"
TURNED = "\u202egpj.exe"
LONG = "n" * 10_000
LOOKALIKE = "\u0430mount"  # with a Cyrillic a


def step(dataset: str, field: str, subtype: str = "IDENTITY", **how: Any) -> Json:
    kind = "DIRECT" if subtype in ("IDENTITY", "TRANSFORMATION", "AGGREGATION") else "INDIRECT"
    transformation = {"type": kind, "subtype": subtype, "masking": False, "opaque": False, "description": "", **how}
    namespace, _, name = dataset.rpartition("|")
    return {"namespace": namespace or "lake", "name": name, "field": field, "transformations": [transformation]}


def output(
    name: str, fields: dict[str, tuple[str, list[Json]]], whole: list[Json] | None = None, **facets: Any
) -> Json:
    schema = [{"name": field, "type": type_} for field, (type_, _) in fields.items()]
    lineage = {field: {"inputFields": inputs} for field, (_, inputs) in fields.items()}
    own = {"columnLineage": {"fields": lineage, "dataset": whole or []}, "schema": {"fields": schema}, **facets}
    return {"namespace": "lake", "name": name, "facets": own}


def reading(name: str, event: Json) -> Json:
    return event | {"inputs": [{"namespace": "lake", "name": name}]}


ITEMS = "array<struct<sku:string,price:decimal(10,2),tax:struct<rate:double,code:string>>>"
SILVER = output(
    "silver/orders",
    {
        "customer": ("string", [step("raw/orders", "customer")]),
        "email": (
            "string",
            [step("raw/orders", "email", "TRANSFORMATION", masking=True, description="sha2(email, 256)")],
        ),
        "amount": (
            "decimal(10,2)",
            [step("raw/orders", "amount", "TRANSFORMATION", description="CAST(amount AS DECIMAL(10,2))")],
        ),
        "items": (ITEMS, [step("raw/orders", "items")]),
        "score": ("double", [step("raw/orders", "amount", "TRANSFORMATION", opaque=True)]),
    },
    whole=[step("raw/orders", "cancelled", "FILTER", description="NOT cancelled")],
    headwater_nestedLineage={
        "fields": {
            f"items.{leaf}": {"inputFields": [step("raw/orders", f"items.{leaf}", description=f"items.{leaf}")]}
            for leaf in ("sku", "price", "tax.rate", "tax.code")
        }
    },
    ownership={"owners": [{"name": "team:sales", "type": "MAINTAINER"}]},
    tags={"tags": [{"key": "pii", "value": "true", "source": "test", "field": "email"}]},
)
GOLD = output(
    "gold/revenue",
    {
        "customer": ("string", [step("silver/orders", "customer")]),
        "revenue": (
            "decimal(20,2)",
            [step("silver/orders", "amount", "AGGREGATION", description="sum(amount)")],
        ),
        "since": ("date", []),
    },
    whole=[step("silver/orders", "customer", "GROUP_BY")],
)
REPORT = output(
    "reports/top",
    {"revenue": ("decimal(20,2)", [step("gold/revenue", "revenue")])},
    whole=[step("gold/revenue", "revenue", "SORT")],
)
HOSTILE = output(
    SCRIPT,
    {
        SCRIPT: ("string", [step("silver/orders", "customer", "TRANSFORMATION", description=SCRIPT)]),
        TURNED: ("string", [step("silver/orders", "customer")]),
        LONG: ("string", [step("silver/orders", "customer")]),
        LOOKALIKE: ("string", [step("silver/orders", "amount")]),
        "__proto__": ("string", [step("silver/orders", "customer")]),
    },
)
LEAVES = (SCRIPT, TURNED, LONG, LOOKALIKE, "", "a.b", "`", "__proto__")
ODD = output(
    "silver/odd",
    {
        "items": (
            f"struct<{','.join(f'{leaf}:string' for leaf in LEAVES)}>",  # Spark does not quote them
            [step("raw/odd", f"c{place}", "TRANSFORMATION") for place in range(len(LEAVES))],
        )
    },
    headwater_nestedLineage={
        "fields": {
            nested_name(("items", leaf)): {"inputFields": [step("raw/odd", f"c{place}", description=leaf or "empty")]}
            for place, leaf in enumerate(LEAVES)
        }
    },
)
MEASURES = [f"measure_{number:03}" for number in range(300)]
WIDE = output("silver/wide", {one: ("double", [step("raw/wide", one, "TRANSFORMATION")]) for one in MEASURES})
WIDE_TOTAL = output("gold/wide", {"total": ("double", [step("silver/wide", one, "AGGREGATION") for one in MEASURES])})
SECRET = output("silver/salaries", {"salary": ("decimal(9,2)", [step("silver/orders", "amount")])})
SECRET["namespace"] = "hr"
BONUS = output("gold/bonus", {"bonus": ("int", [step("hr|silver/salaries", "salary", "TRANSFORMATION")])})


# As UUIDs of version 7 of one minute, which begin alike.
RATES_RUNS = ["019b7708-1001-7000-8000-000000000001", "019b7708-2002-7000-8000-000000000002"]


def rates(source: str) -> Json:
    return output("gold/rates", {"rate": ("double", [step("raw/rates", source)])})


GAP = {
    "kind": "opaque",
    "what": "mapInPandas",
    "why": "a Python function cannot be seen into",
    "output": "silver/orders",
}
COVERAGE = {"headwater_coverage": {"gaps": [GAP]}}
EVENTS = [
    reading(
        "raw/orders",
        run_event("clean", SILVER, minute=1, run="clean", run_facets={"headwater_coverage": {"gaps": [GAP]}}),
    ),
    reading("silver/orders", run_event("revenue", GOLD, minute=2, run="revenue", job_facets={"sql": {"query": SQL}})),
    reading("gold/revenue", run_event("report", REPORT, minute=3, run="report")),
    run_event("odd", HOSTILE, minute=4, run="odd"),
    run_event("salaries", SECRET, minute=5, run="salaries") | {"job": {"namespace": "hr", "name": "salaries"}},
    run_event("bonus", BONUS, minute=6, run="bonus"),
    run_event("leaves", ODD, minute=5, run="leaves"),
    run_event("wide", WIDE, minute=6, run="wide"),
    run_event("wide total", WIDE_TOTAL, minute=7, run="wide total"),
    run_event("rates", rates("daily"), minute=7) | {"run": {"runId": RATES_RUNS[0]}},
    run_event("rates", rates("monthly"), minute=8) | {"run": {"runId": RATES_RUNS[1]}},
]
