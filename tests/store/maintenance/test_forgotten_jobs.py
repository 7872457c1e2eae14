"""A job that is forgotten is in no list, and its lineage is gone, until a later run brings it back."""

from typing import Any

import pytest
from tests.store.conftest import renamed

from headwater.errors import AmbiguousName, UnknownName
from headwater.store import Store
from headwater.store.maintenance.forgotten_jobs import forget_job
from headwater.store.questions import JOB_NAMES, coverage, find_texts, jobs, roots_of
from headwater.store.questions.answers import Bounds

EDGE = "gold.a <- raw.x IDENTITY"
NEXT_CENTURY = "2099-01-01T00:00:00Z"


def named(store: Store) -> list[str]:
    return sorted(one.job.name for one in jobs(store))


def test_its_lineage_ends_and_stays_as_history(store: Store, words: Any) -> None:
    event = words.run_event("j", words.written("gold", {"a": ["raw.x"]}), words.written("bare"), minute=1)
    store.ingest([event, words.run_event("other", words.written("gold", {"a": ["raw.y"]}), minute=2)])
    assert [(one.namespace, one.name) for one in forget_job(store, "j")] == [("demo", "j")]
    assert words.edges(store) == {"gold.a <- raw.y IDENTITY"}
    assert named(store) == ["other"]
    assert [one.job.name for one in coverage(store)] == ["other"]
    assert find_texts(store, "j", 50, after=JOB_NAMES).found == ()
    then = roots_of(store, "gold.a", Bounds(as_of=1_767_225_600_000_000 + 90_000_000))
    assert [root.column.name for root in then.roots] == ["x"]
    assert store.events(event["run"]["runId"]) == [event]


def test_a_later_run_brings_it_back_and_nothing_earlier_does(store: Store, words: Any) -> None:
    store.ingest([words.run_event("j", words.written("gold", {"a": ["raw.x"]}), minute=2)])
    forget_job(store, "j")
    store.ingest([words.run_event("j", words.written("gold", {"a": ["raw.x"]}), minute=minute) for minute in (1, 3)])
    store.ingest([words.run_event("alter", renamed("raw", "rawest"), minute=4)])
    assert (words.edges(store), "j" in named(store)) == (set(), False)
    again = words.run_event("j", words.written("gold", {"a": ["raw.x"]})) | {"eventTime": NEXT_CENTURY}
    store.ingest([again])
    assert (words.edges(store), "j" in named(store)) == ({EDGE}, True)


def test_the_parts_of_an_application_go_with_it_and_no_others(store: Store, words: Any) -> None:
    application = words.run_event("shop", run="app")
    parent = {"parent": {"run": application["run"], "job": {"namespace": "demo", "name": "shop"}}}
    part = words.run_event("shop.gold", words.written("gold", {"a": ["raw.x"]}), run_facets=parent)
    own = words.run_event("shop.else", words.written("gold", {"a": ["raw.y"]}))
    store.ingest([application, part, own])
    assert [one.name for one in forget_job(store, "demo/shop")] == ["shop", "shop.gold"]
    assert (named(store), words.edges(store)) == (["shop.else"], {"gold.a <- raw.y IDENTITY"})


def test_a_name_must_be_that_of_one_job(store: Store, words: Any) -> None:
    other = words.run_event("nightly") | {"job": {"namespace": "other", "name": "nightly"}}
    store.ingest([words.run_event("nightly"), other])
    with pytest.raises(AmbiguousName, match="2 jobs are called 'nightly': demo/nightly, other/nightly"):
        forget_job(store, "nightly")
    with pytest.raises(UnknownName, match=r"No job is called 'nigthly'. Near: nightly"):
        forget_job(store, "nigthly")
    assert [one.namespace for one in forget_job(store, "other/nightly")] == ["other"]
