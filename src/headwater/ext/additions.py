"""Additions of extensions to events: names and facets of datasets, facets of runs and jobs, filtered events."""

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial, reduce
from typing import Any

import attr
from openlineage.client.event_v2 import RunEvent

from headwater.errors import EventError, ExtensionError
from headwater.ext.answers import named
from headwater.ext.hooks import EventFilter, NamingRule
from headwater.ext.renaming import datasets_of, renamed, renamed_lineage
from headwater.ext.runtime import Extensions
from headwater.ext.validation import checked, checked_facets
from headwater.model import ColumnLineage, Dataset, DatasetDescription, Facet, RunMoment, Statement
from headwater.openlineage.identifiers import event_schema, extension_producer
from headwater.openlineage.writing.events import read_event, to_json
from headwater.openlineage.writing.json_events import base_members
from headwater.redaction import redact_json

Facets = tuple[tuple[str, str], ...]
"""Names of facets, and each as the text of a JSON object."""


def finished(statement: Statement, extensions: Extensions) -> Statement:
    """The statement with the names and facets that extensions give to its datasets, and with their gaps."""
    if extensions.idle:
        return statement
    loaded = extensions.loaded
    if any(one.naming_rules for one in loaded):
        names = new_names(datasets_of(statement), extensions)
        statement = renamed(statement, names)
    if any(one.dataset_facets for one in loaded):
        statement = _with_facets(statement, extensions)
    missing = tuple(gap for gap in extensions.gaps if gap not in statement.gaps)
    return replace(statement, gaps=(*statement.gaps, *missing)) if missing else statement


def finished_lineage(lineage: ColumnLineage, extensions: Extensions) -> ColumnLineage:
    """The lineage of columns that are not written, with the names that extensions give."""
    if not any(one.naming_rules for one in extensions.loaded):
        return lineage
    return renamed_lineage(lineage, new_names(sorted(lineage.inputs), extensions))


def new_names(datasets: Iterable[Dataset], extensions: Extensions) -> Mapping[Dataset, Dataset]:
    """The names that the rules give, one after the other; only those that differ."""
    names = {dataset: dataset for dataset in datasets}
    for extension in extensions.loaded:
        if not extension.naming_rules:
            continue
        present = tuple(dict.fromkeys(names.values()))
        found = extensions.call(extension.name, partial(_ruled, extension.naming_rules, present), None)
        names = {former: found[name] for former, name in names.items()} if found else names
    return {former: name for former, name in names.items() if former != name}


def _ruled(rules: Sequence[NamingRule], datasets: Iterable[Dataset]) -> dict[Dataset, Dataset]:
    """The names that all rules of one extension give, asked at once: the time that it has is for all of them."""
    return {dataset: reduce(_named_by, rules, dataset) for dataset in datasets}


def _named_by(dataset: Dataset, rule: NamingRule) -> Dataset:
    return named(checked(rule(dataset), Dataset))


def _with_facets(statement: Statement, extensions: Extensions) -> Statement:
    seen = tuple(dict.fromkeys((*statement.inputs, *(output.description for output in statement.outputs))))
    added: dict[DatasetDescription, list[Facet]] = {one: [] for one in seen}
    for extension in extensions.loaded:
        if not extension.dataset_facets:
            continue
        found = extensions.call(extension.name, partial(_facets_of, extension.dataset_facets, seen), ())
        for one, facets in zip(seen, found, strict=False):
            added[one].extend(Facet(name, text) for name, text in facets)
    described = {one: replace(one, facets=(*one.facets, *facets)) if facets else one for one, facets in added.items()}
    outputs = tuple(replace(output, description=described[output.description]) for output in statement.outputs)
    return replace(statement, inputs=tuple(described[one] for one in statement.inputs), outputs=outputs)


def _facets_of(providers: Sequence[Callable[[Any], Any]], seen: Sequence[object]) -> Sequence[Facets]:
    """The facets that all functions of one extension give to each dataset or moment, asked at once."""
    return [tuple(facet for provider in providers for facet in checked_facets(provider(one))) for one in seen]


def extended_event(event: RunEvent, moment: RunMoment, extensions: Extensions) -> RunEvent | None:
    """The event with the facets that extensions add to its run and job, as filters leave it; None of one kept back."""
    if extensions.idle:
        return event
    run = _added(moment, "run_facets", "RunFacet", extensions)
    job = _added(moment, "job_facets", "JobFacet", extensions)
    if run or job:
        event = attr.evolve(
            event,
            run=attr.evolve(event.run, facets={**(event.run.facets or {}), **run}),
            job=attr.evolve(event.job, facets={**(event.job.facets or {}), **job}),
        )
    for extension in extensions.loaded:
        if not extension.event_filters:
            continue
        left = extensions.call(extension.name, partial(_filtered, extension.event_filters, event), event)
        if left is None:
            return None
        event = left
    return event


def _added(moment: RunMoment, hook: str, kind: str, extensions: Extensions) -> dict[str, Any]:
    """Further facets; each has a producer and a schema, as the specification wants of all (BaseFacet)."""
    found: dict[str, Any] = {}
    for extension in extensions.loaded:
        base = base_members(extension_producer(extension.name), event_schema(kind))
        if providers := getattr(extension, hook):
            facets = extensions.call(extension.name, partial(_facets_of, providers, (moment,)), ((),))
            found.update((name, {**base, **redact_json(json.loads(text))}) for name, text in facets[0])
    return found


def _filtered(filters: Iterable[EventFilter], event: RunEvent) -> RunEvent | None:
    """Return what the filters of one extension leave of an event, asked at once."""
    for keeps in filters:
        left = _filtered_by(keeps, event)
        if left is None:
            return None
        event = left
    return event


def _filtered_by(keeps: EventFilter, event: RunEvent) -> RunEvent | None:
    answer = keeps(json.loads(to_json(event)))
    if answer is True:
        return event
    if answer is False:
        return None
    if not isinstance(answer, dict):
        raise ExtensionError(f"a filter gave {answer!r:.80}; expected True, False or an event")
    try:
        return _usable(read_event(json.dumps(_redacted(answer), allow_nan=False)))
    except (EventError, TypeError, ValueError, RecursionError) as error:
        raise ExtensionError(f"a filter gave no event: {error}") from error


def _redacted(event: dict[str, Any]) -> dict[str, Any]:
    """The event that a filter gave without secrets in its facets; names of datasets and columns stay."""
    parts: dict[str, Any] = {part: _with_redacted_facets(event[part]) for part in ("run", "job") if part in event}
    lists = {side: event[side] for side in ("inputs", "outputs") if isinstance(event.get(side), list)}
    return {**event, **parts, **{side: [_with_redacted_facets(one) for one in many] for side, many in lists.items()}}


def _with_redacted_facets(part: Any) -> Any:
    if not isinstance(part, dict):
        return part
    own = {name: part[name] for name in part if name in {"facets", "inputFacets", "outputFacets"}}
    return {**part, **redact_json(own)}


def _usable(event: RunEvent) -> RunEvent:
    """An event whose names are texts: nothing else of it has been looked at yet."""
    datasets = (*(event.inputs or ()), *(event.outputs or ()))
    for one in (event.job, *datasets):
        if not all(isinstance(text, str) and text for text in (one.namespace, one.name)):
            raise EventError(f"{one.namespace!r} and {one.name!r} are no namespace and name")
    return event
