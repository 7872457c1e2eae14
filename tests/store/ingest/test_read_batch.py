"""The first step of intake: the names in events, without a database."""

import json
from typing import Any

from headwater.model import Dataset, Job
from headwater.openlineage.reading.events import Event, read_event
from headwater.store.ingest.field_spelling import READ, WRITTEN
from headwater.store.ingest.pipeline import read_batch


def event(words: Any, *outputs: Any, **more: Any) -> Event:
    """A run event as it is read."""
    return read_event(json.dumps(words.run_event(*outputs, **more)))


def dataset(name: str, namespace: str = "file") -> Dataset:
    """A dataset of the events here."""
    return Dataset(namespace, name)


def test_a_run_has_the_job_of_the_first_event_that_names_it(words: Any) -> None:
    parent = {"parent": {"run": {"runId": "p"}, "job": {"namespace": "demo", "name": "application"}}}
    child = event(words, "part", run="one", run_facets=parent)
    own = read_event(json.dumps(words.run_event("renamed since") | {"run": {"runId": "p"}}))
    batch = read_batch([child, own])
    assert batch.runs["p"] == Job("demo", "application")
    assert set(batch.jobs) == {Job("demo", name) for name in ("application", "part", "renamed since")}


def test_a_name_that_any_event_joins_with_another_is_no_plain_name(words: Any) -> None:
    linked = words.written("gold", {"a": ["raw.x"]}, symlinks=["db.gold"])
    by_name = read_event(json.dumps(words.run_event("read") | {"inputs": [{"namespace": "hive", "name": "db.gold"}]}))
    batch = read_batch([event(words, "write", linked, inputs=["raw"]), by_name])
    assert batch.plain_names == (dataset("/raw"),)
    assert set(batch.datasets) == {dataset("/gold"), dataset("db.gold", "hive"), dataset("/raw")}


def test_sources_of_lineage_are_datasets_though_no_input_names_them(words: Any) -> None:
    batch = read_batch([event(words, "write", words.written("gold", {"a": ["raw.x"]}))])
    assert batch.datasets == (dataset("/gold"), dataset("/raw"))
    assert len(batch.transformations) == 1


def test_fields_are_those_of_writers_before_those_of_readers(words: Any) -> None:
    schema = {"schema": {"fields": [{"name": "X"}]}}
    read = {"namespace": "file", "name": "/raw", "facets": schema}
    one = read_event(json.dumps(words.run_event("write", words.written("gold", {"a": ["raw.x"]})) | {"inputs": [read]}))
    fields = read_batch([one]).fields
    assert [(of.by, of.dataset, tuple(of.names)) for of in fields] == [
        (WRITTEN, dataset("/gold"), ("a",)),
        (READ, dataset("/raw"), ("X",)),
    ]


def test_a_rename_or_fields_that_differ_in_case_make_the_order_of_events_matter(words: Any) -> None:
    plain = event(words, "write", words.written("gold", {"a": ["raw.x"]}))
    renaming = event(words, "ddl", words.renamed("gold", "silver"))
    twins = event(words, "write", words.written("gold", {"a": ["raw.x"], "A": ["raw.y"]}))
    assert [read_batch(some).renames for some in ([plain], [plain, renaming], [twins])] == [False, True, True]
