"""Tags put on columns of a store: one by one, or by a file that is the source of truth."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from sqlalchemy import ColumnElement, Connection, Row, delete, select

from headwater.model.nested_fields import name_parts, nested_name
from headwater.model.time import now
from headwater.policies.selectors import Names
from headwater.policies.tag_file import TagFile, TagName
from headwater.policies.tag_targets import Target
from headwater.store import Store, schema
from headwater.store.catalog import tags
from headwater.store.ingest.tags import FILE, Tagging, put_tags, tag_key
from headwater.store.questions import Column, KnownDataset, names
from headwater.store.questions.lookup.find import Name, find, within
from headwater.store.read_model.visibility import Sees
from headwater.yaml_map import Place

_TAGGING = schema.tagging
Assignments = dict[tuple[Target, str], TagName]
"""Tags by the target and by the name in lower case: of one tag a target has at most one value."""


@dataclass(frozen=True, slots=True)
class TaggedName:
    """A tag on a column or a dataset: who put it, and when (microseconds since 1970)."""

    on: Column | KnownDataset
    tag: TagName
    source: str
    at: int


@dataclass(frozen=True, slots=True)
class Unmatched:
    """A selector of a file that fits nothing in the store; ``near`` asks whether another was meant."""

    tag: TagName
    selector: str
    place: Place
    near: str

    def __str__(self) -> str:
        return f"{self.place}: {self.selector!r} fits nothing in the store: {self.tag} is not put there.{self.near}"


@dataclass(frozen=True, slots=True)
class AppliedTags:
    """The numbers of tags that a file put, left and took off, and its selectors that fit nothing."""

    added: int
    unchanged: int
    removed: int
    unmatched: tuple[Unmatched, ...]


def add_tag(store: Store, name: Name, tag: TagName) -> Column | KnownDataset:
    """Put a tag on a column or a dataset; return what the name means.

    Raises:
        UnknownName, AmbiguousName: the name fits none, or several.
    """
    with store.write() as connection:
        found = find(connection, name, nested=True)
        dataset, field, path = _target(found)
        put_tags(connection, [((dataset, 0), now(), Tagging(field, tag.tag, tag.value, path=path))])
    return found


def remove_tag(store: Store, name: Name, tag: str) -> bool:
    """Take a tag off a column or a dataset, whoever put it; return whether it was there.

    Raises:
        UnknownName, AmbiguousName: the name fits none, or several.
    """
    with store.write() as connection:
        target = _target(find(connection, name, nested=True))
        there = connection.execute(select(_TAGGING.c.at).where(*_on(target, tag))).first() is not None
        tags.remove(connection, (target[0], 0), tag, *target[1:])
    return there


def tagged_names(store: Store, name: Name | None = None, sees: Sees = None) -> list[TaggedName]:
    """Return every tag on a column or a dataset, by name; or those on one column, or on a dataset and its columns.

    Raises:
        UnknownName, AmbiguousName: the name fits none, or several.
    """
    question = select(_TAGGING).where(_TAGGING.c.job_id == 0)
    with store.read() as connection:
        if name is not None:
            dataset, field, path = _target(find(connection, name, sees=sees, nested=True))
            question = question.where(_TAGGING.c.dataset_id == dataset)
            question = question.where(_TAGGING.c.field_id == field) if field else question
            question = question.where(_TAGGING.c.path == path) if path else question
        rows = connection.execute(question).all()
        columns = names.columns(connection, {row.field_id for row in rows if row.field_id})
        datasets = names.datasets(connection, {row.dataset_id for row in rows})
        nodes = {(row.field_id, name_parts(row.path)) for row in rows if row.path}
        leaves = {node: within(connection, columns[node[0]], node) for node in nodes}

    def on_of(row: Row[Any]) -> Column | KnownDataset:
        whole = columns[row.field_id] if row.field_id else datasets[row.dataset_id]
        return leaves[row.field_id, name_parts(row.path)] if row.path else whole

    on = list(map(on_of, rows))
    found = [
        TaggedName(one, TagName(row.tag, row.value), row.source, row.at) for one, row in zip(on, rows, strict=True)
    ]
    return sorted(found, key=lambda one: (str(one.on), str(one.tag)))


def apply_file(store: Store, file: TagFile, *, dry_run: bool = False) -> AppliedTags:
    """Make the tags of files in a store exactly those of one file; tags that others put stay."""
    with store.read() if dry_run else store.write() as connection:
        found, unmatched = declared(Names(connection), file)
        before = _of_files(connection)
        gone, new = before.keys() - found.keys(), {key for key in found if before.get(key) != found[key]}
        if not dry_run:
            _remove(connection, gone)
            at = now()
            put_tags(
                connection,
                [
                    ((key[0][0], 0), at, Tagging(key[0][1], found[key].tag, found[key].value, FILE, key[0][2]))
                    for key in new
                ],
            )
    return AppliedTags(len(new), len(found) - len(new), len(gone), unmatched)


def declared(every: Names, file: TagFile) -> tuple[Assignments, tuple[Unmatched, ...]]:
    """Return the tags that a file puts on what the store knows, and its selectors that fit nothing."""
    found: Assignments = {}
    unmatched: list[Unmatched] = []
    for tag in file.tags:
        of_columns = [(one, _columns(every, one.text)) for one in tag.columns]
        of_datasets = [(one, {(id_, 0, "") for id_ in every.matching_datasets([one.text])}) for one in tag.datasets]
        for word, targets in (*of_columns, *of_datasets):
            if not targets:
                unmatched.append(Unmatched(tag.name, word.text, word.place, every.near(word.text)))
            _put(found, targets, tag.name, file)
    return found, tuple(unmatched)


def _put(assignments: Assignments, targets: Iterable[Target], name: TagName, file: TagFile) -> None:
    """Put a tag on targets; of two values of one tag the stricter stays, by the order that the file declares."""
    order = file.order(name.tag)
    for target in targets:
        key = (target, name.tag.casefold())
        other = assignments.get(key)
        if other is None or _strictness(order, name.value) < _strictness(order, other.value):
            assignments[key] = name


def _strictness(order: tuple[str, ...], value: str) -> tuple[int, str]:
    return (order.index(value) if value in order else len(order)), value


def _columns(every: Names, selector: str) -> set[Target]:
    columns = every.matching([selector])
    leaves = {field: paths for field, paths in every.matching_within([selector]).items() if field not in columns}
    of_leaves = {
        (every.nested[field][0], field, nested_name(path)) for field, paths in leaves.items() for path in paths
    }
    return {(dataset, field, "") for field, dataset in columns.items()} | of_leaves


def _target(tagged: Column | KnownDataset) -> Target:
    if isinstance(tagged, KnownDataset):
        return tagged.id, 0, ""
    column, path = tagged.node
    return tagged.dataset.id, column, nested_name(path)


def _on(target: Target, tag: str) -> tuple[ColumnElement[bool], ...]:
    dataset, field, path = target
    same = (_TAGGING.c.dataset_id == dataset, _TAGGING.c.field_id == field, _TAGGING.c.path == path)
    return (*same, _TAGGING.c.tag_key == tag_key(tag))


def _of_files(connection: Connection) -> Assignments:
    rows = connection.execute(select(_TAGGING).where(_TAGGING.c.source == FILE))
    return {((row.dataset_id, row.field_id, row.path), row.tag.casefold()): TagName(row.tag, row.value) for row in rows}


def _remove(connection: Connection, keys: Iterable[tuple[Target, str]]) -> None:
    for target, tag in keys:
        connection.execute(delete(_TAGGING).where(*_on(target, tag), _TAGGING.c.source == FILE))
