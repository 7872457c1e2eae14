"""Tags of facets and descriptions: what the latest facet says, in whatever order events arrive."""

import random
import tempfile
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sqlalchemy import text
from tests.store.conftest import new_store

from headwater.store import Store
from headwater.store.ingest.tags import Tagging, put_tags

Json = dict[str, Any]
NAMES = st.sampled_from(["a", "b"])
TAG = st.fixed_dictionaries(
    {"key": st.sampled_from(["pii", "PII", "gold"]), "value": st.sampled_from(["true", "x"])},
    optional={"field": st.sampled_from(["x", "y"]), "source": st.sampled_from(["DBT", "API"])},
)
TAGS = st.none() | st.lists(TAG, max_size=3)
OUTPUT = st.tuples(NAMES, TAGS, st.booleans(), st.sampled_from(["", "", "of lake", "of sea"]))
EVENT = st.tuples(st.lists(OUTPUT, max_size=2), st.integers(0, 3), TAGS)
RENAME = st.tuples(NAMES, NAMES, st.dictionaries(st.just("x"), st.just("y")), st.integers(0, 3))

TAGGED = (
    "SELECT d.name, j.name, f.name, t.tag, t.value, t.source, t.at FROM tagging t "
    "LEFT JOIN dataset d ON d.id = t.dataset_id LEFT JOIN job j ON j.id = t.job_id "
    "LEFT JOIN field f ON f.id = t.field_id"
)
DESCRIBED = "SELECT namespace, name, description FROM dataset"


def stored_tags(store: Store) -> list[list[str]]:
    with store.read() as connection:
        return [
            sorted(str(tuple(row)) for row in connection.execute(text(question))) for question in (TAGGED, DESCRIBED)
        ]


def tagged(words: Any, name: str, tags: list[Json] | None, link: bool = False, description: str = "") -> Json:
    output: Json = words.written(name, {"x": ["raw.x"]}, ["t"] if link else [])
    if tags is not None:
        output["facets"]["tags"] = {"tags": tags}
    if description:
        output["facets"]["documentation"] = {"description": description}
    return output


def event(words: Any, parts: tuple[list[Any], int, list[Json] | None]) -> Json:
    outputs, minute, of_job = parts
    facets = (
        {} if of_job is None else {"tags": {"tags": [{k: v for k, v in tag.items() if k != "field"} for tag in of_job]}}
    )
    event: Json = words.run_event(
        "j", *(tagged(words, *one) for one in outputs), minute=minute, run=str(parts), job_facets=facets
    )
    return event


def rename(words: Any, parts: tuple[str, str, dict[str, str], int]) -> Json:
    former, present, fields, minute = parts
    event: Json = words.run_event("ddl", words.renamed(former, present, fields), minute=minute, run=str(parts))
    return event


@settings(max_examples=30)
@given(
    events=st.lists(EVENT, min_size=1, max_size=5),
    renames=st.lists(RENAME, max_size=1),
    seed=st.randoms(use_true_random=False),
)
def test_the_order_of_events_does_not_matter_to_tags(
    words: Any, events: list[Any], renames: list[Any], seed: random.Random
) -> None:
    all_events = [event(words, one) for one in events] + [rename(words, one) for one in renames]
    mixed = all_events + seed.choices(all_events, k=2)
    seed.shuffle(mixed)
    with (
        tempfile.TemporaryDirectory() as folder,
        tempfile.TemporaryDirectory() as other,
        new_store(folder) as one,
        new_store(other) as two,
    ):
        one.ingest(all_events)
        for single in mixed:
            two.ingest([single])
        assert stored_tags(one) == stored_tags(two)


def test_a_later_facet_replaces_tags_of_earlier_ones_and_not_those_of_people(store: Store, words: Any) -> None:
    pii, gold = {"key": "pii", "value": "true", "source": "DBT", "field": "x"}, {"key": "gold", "value": "1"}
    store.ingest([words.run_event("j", tagged(words, "a", [pii, gold]), minute=1)])
    with store.write() as connection:
        put_tags(connection, [((_only_dataset(store, "/a"), 0), 7, Tagging(0, "mine"))])
    store.ingest([words.run_event("j", tagged(words, "a", [gold | {"value": "2"}]), minute=2)])
    assert [row.split(", ")[2:6] for row in stored_tags(store)[0]] == [
        ["None", "'gold'", "'2'", "''"],
        ["None", "'mine'", "''", "'API'"],
    ]


@pytest.mark.parametrize("change", ["rename", "join"])
def test_tags_of_people_stay_with_a_dataset(store: Store, words: Any, change: str) -> None:
    store.ingest(
        [
            words.run_event("j", tagged(words, "a", None), minute=1),
            words.run_event("j", tagged(words, "a", None), minute=9),
        ]
    )
    owner = _only_dataset(store, "/a")
    with store.write() as connection:
        field = connection.execute(text(f"SELECT id FROM field WHERE name = 'x' AND dataset_id = {owner}")).scalar_one()
        put_tags(connection, [((owner, 0), 7, Tagging(int(field), "mine")), ((owner, 0), 7, Tagging(0, "ours"))])
    if change == "rename":
        store.ingest([words.run_event("ddl", words.renamed("a", "b"), minute=5)])
    else:
        link = [{"namespace": "file", "name": "/a", "type": "TABLE"}]
        store.ingest(
            [words.run_event("j", words.written("c", {}) | {"facets": {"symlinks": {"identifiers": link}}}, minute=5)]
        )
    found = [row.split(", ")[2:4] for row in stored_tags(store)[0]]
    assert found == [["'x'", "'mine'"], ["None", "'ours'"]]


def _only_dataset(store: Store, name: str) -> int:
    with store.read() as connection:
        return int(connection.execute(text("SELECT id FROM dataset WHERE name = :name"), {"name": name}).scalar_one())


def test_a_later_facet_takes_back_the_tag_of_a_renamed_field(store: Store, words: Any) -> None:
    def tags(key: str, minute: int) -> Json:
        event: Json = words.run_event("j", words.written("t"), minute=minute)
        event["outputs"][0]["facets"]["tags"] = {"tags": [{"key": key, "value": "", "field": "y"}]}
        return event

    store.ingest([words.run_event("make", words.written("t", {"x": ["raw.x"]}), minute=1)])
    store.ingest([words.run_event("ddl", words.renamed("t", "t", {"x": "y"}), minute=2)])
    store.ingest([tags("pii", 3)])
    store.ingest([tags("gold", 4)])
    with store.read() as connection:
        assert connection.execute(text("SELECT tag FROM tagging")).scalars().all() == ["gold"]
