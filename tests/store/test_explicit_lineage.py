"""The explicit lineage facets, of a job or of a dataset, are read before columnLineage."""

from typing import Any

import pytest
from tests.store.conftest import Words

from headwater.store import Store

IDENTITY = [{"type": "DIRECT", "subtype": "IDENTITY"}]
FILTER = [{"type": "INDIRECT", "subtype": "FILTER"}]


def column(dataset: str, field: str, steps: list[dict[str, str]]) -> dict[str, Any]:
    return {"namespace": "file", "name": f"/{dataset}", "type": "DATASET", "field": field, "transformations": steps}


WHOLE = {"namespace": "file", "name": "/raw", "type": "DATASET"}
TOLD = {"inputs": [WHOLE, column("raw", "y", FILTER)], "fields": {"a": {"inputs": [column("raw", "x", IDENTITY)]}}}
EDGES = {"gold.a <- raw.x IDENTITY", "gold.* <- raw.y FILTER"}


def of_job(event: dict[str, Any], told: dict[str, Any]) -> None:
    event["job"]["facets"]["lineage"] = {"entries": [{"namespace": "file", "name": "/gold", "type": "DATASET", **told}]}


def of_dataset(event: dict[str, Any], told: dict[str, Any]) -> None:
    event["outputs"][0]["facets"]["lineage"] = told


@pytest.mark.parametrize("tell", [of_job, of_dataset])
@pytest.mark.parametrize("older", [None, {"a": ["raw.old"]}])
def test_explicit_lineage_goes_before_column_lineage(store: Store, words: Words, tell: Any, older: Any) -> None:
    event = words.told("j", words.written("gold", older))
    tell(event, TOLD)
    store.ingest([event])
    assert words.edges(store) == EDGES


def test_lineage_of_datasets_alone_leaves_that_of_columns_to_the_other_facet(store: Store, words: Words) -> None:
    event = words.told("j", words.written("gold", {"a": ["raw.x"]}))
    of_job(event, {"inputs": [WHOLE]})
    store.ingest([event])
    assert words.edges(store) == {"gold.a <- raw.x IDENTITY"}
