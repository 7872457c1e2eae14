"""Datasets of the catalog: the same ones that questions name, with their contents."""

from typing import Any

from headwater.model import Dataset
from headwater.store import Store
from headwater.store.catalog import datasets
from headwater.store.questions import names


def test_the_catalog_names_a_dataset_as_questions_do(store: Store, words: Any) -> None:
    gold = words.written("gold", {"a": ["raw.x"]}, symlinks=["db.gold"])
    store.ingest(
        [words.run_event("daily", gold, minute=1), words.run_event("other", words.written("raw", {"x": []}), minute=2)]
    )
    with store.read() as connection:
        known, stored = names.datasets(connection, [1, 2]), datasets.whole(connection, [1, 2])
    described = {one.dataset: (one.aliases, [field.name for field in one.fields]) for one in stored.values()}
    assert described == {
        Dataset("file", "/gold"): ((Dataset("hive", "db.gold"),), ["a"]),
        Dataset("file", "/raw"): ((), ["x"]),
    }
    for one, value in stored.items():
        assert (value.id, value.dataset, value.aliases) == (one, known[one].dataset, known[one].aliases)
