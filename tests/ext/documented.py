"""The extensions that the page makes in its examples, each in use: in a plan, a statement, an event or a delivery."""

import json
from collections.abc import Callable, Mapping
from contextlib import redirect_stdout
from dataclasses import replace
from doctest import DocTestParser, Example
from io import StringIO
from pathlib import Path
from re import MULTILINE, finditer
from tempfile import TemporaryDirectory
from typing import Any

from tests.ext.extensions import extended, running
from tests.ext.handmade import column, edges, expression, files, operator, plan, saved
from tests.ext.test_events import event, moment

from headwater.ext import Dataset, DatasetDescription, Extension
from headwater.ext.additions import extended_event, finished
from headwater.ext.transports import transport_targets
from headwater.extract import ExtractSettings, column_lineage
from headwater.model import ColumnLineage, Output, Statement
from headwater.openlineage.delivery import Delivery
from headwater.openlineage.writing.events import run_event
from headwater.plan import Plan

PAGE = Path(__file__).resolve().parents[2] / "docs" / "extensions.md"


def documented() -> dict[str, Extension]:
    """The extension that the examples under each heading make, by the hook that the heading names."""
    text, scope = PAGE.read_text(), dict[str, Any]()
    headings = [(text[: one.start()].count("\n"), one[1]) for one in finditer(r"^### `(\w+)`$", text, MULTILINE)]
    found: dict[str, Extension] = {}
    for example in DocTestParser().get_examples(text):
        with redirect_stdout(StringIO()):
            exec(compile(example.source, str(PAGE), "single"), scope)
        above = [hook for line, hook in headings if line < example.lineno]
        if above and _makes_one(example):
            found[above[-1]] = scope["shop"]
    return found


def _makes_one(example: Example) -> bool:
    return example.source.startswith("shop = Extension(")


def _pseudonym() -> Plan:
    """A table with a column ``p``, which is ``pseudonym(name, salt)``."""
    function, alias = expression("PythonUDF", 0, 1, name="Pseudonym"), expression("Alias", 3, id=9, name="p")
    table = (column(1, "name"), column(2, "salt"), files("in", 0, 1))
    return saved(*table, function, alias, operator("Project", 2, projectList=[4]))


def operators(shop: Extension) -> object:
    """``mapInPandas(doubled)`` reads and writes other tables, and leaves rows out."""
    function = expression("PythonUDF", 0, name="doubled")
    mapped = operator("MapInPandas", 1, functionExpr=2, output=[3])
    found = extended(saved(column(1, "price"), files("in", 0), function, column(2, "price"), mapped), shop)
    both = {"in.price TRANSFORMATION", "shop.rates.rate TRANSFORMATION"}
    by_name = {one.description.dataset.name: edges(one) for one in found.outputs}
    assert by_name == {
        "/out": {"price": both, "*": {"in.price FILTER"}},
        "shop.log": {"price": {"in.price IDENTITY"}, "*": {"in.price FILTER"}},
    }
    assert found.gaps == ()
    return [one.dataset.name for one in found.inputs] == ["/in", "shop.rates"]


def expressions(shop: Extension) -> object:
    """The salt takes no part."""
    return edges(extended(_pseudonym(), shop).outputs[0]) == {"p": {"in.name TRANSFORMATION masking"}, "*": set()}


def masking_functions(shop: Extension) -> object:
    """Both arguments are hidden."""
    both = {"in.name TRANSFORMATION masking", "in.salt TRANSFORMATION masking"}
    return edges(extended(_pseudonym(), shop).outputs[0]) == {"p": both, "*": set()}


def datasets(shop: Extension) -> object:
    """A table of the hub is that dataset, with the facet, also where nothing is written."""
    table = {"table": {"class": "com.example.hub.HubTable", "name": "orders"}}
    read = (column(1, "id"), operator("DataSourceV2Relation", output=[0], values=table))
    (seen,) = extended(saved(*read), shop).inputs
    lineage, _ = column_lineage(plan(*read), ExtractSettings(extensions=running(shop)))
    assert lineage.inputs == {seen.dataset}
    return (seen.dataset, [facet.name for facet in seen.facets]) == (Dataset("hub://shop", "orders"), ["hub_owner"])


def dataset_facets(shop: Extension) -> object:
    """Datasets of the sales department have an owner, the others none."""
    names = ("sales.orders", "stock.orders")
    found = finished(Statement(tuple(DatasetDescription(Dataset("hive", name)) for name in names)), running(shop))
    assert json.loads(found.inputs[0].facets[0].content) == {"team": "sales"}
    return found.inputs[1].facets == ()


def run_facets(shop: Extension) -> object:
    """The event names the cluster."""
    found = event(shop)
    return found and found["run"]["facets"]["shop_cluster"]["name"]


def job_facets(shop: Extension) -> object:
    """The event names the owners."""
    found = event(shop)
    return found and found["job"]["facets"]["ownership"]["owners"] == [{"name": "team:sales", "type": "MAINTAINER"}]


def naming_rules(shop: Extension) -> object:
    """A staged dataset is in events by the name that it will have."""
    staged = Statement((DatasetDescription(Dataset("s3://lake", "/staging/orders")),))
    return finished(staged, running(shop)).inputs[0].dataset == Dataset("s3://lake", "/orders")


def event_filters(shop: Extension) -> object:
    """A run that writes to /scratch has no event."""
    output = Output(DatasetDescription(Dataset("file", "/scratch/x")), ColumnLineage())
    known = replace(moment(), statement=Statement(outputs=(output,)))
    return event(shop) == event() and extended_event(run_event(known), known, running(shop)) is None


def transports(shop: Extension) -> object:
    """The list of the example gets the events."""
    with TemporaryDirectory() as folder:
        delivery = Delivery(transport_targets(running(shop), 10.0), Path(folder))
        delivery.deliver(run_event(moment()))
        delivery.close()
    append: Any = shop.transports["list"]
    return [json.loads(line)["job"]["name"] for line in append.__self__] == [moment().run.job.name]


USES: Mapping[str, Callable[[Extension], object]] = {
    one.__name__: one
    for one in (
        operators,
        expressions,
        datasets,
        dataset_facets,
        run_facets,
        job_facets,
        masking_functions,
        naming_rules,
        event_filters,
        transports,
    )
}
"""For each hook something that the extension of its example does; true when it did."""
