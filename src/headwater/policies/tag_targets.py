"""The targets of tags in a store: read as one text for each tag, so that a text of before needs no look at its numbers.

A tag may be on tens of thousands of datasets, and is asked for after each event.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache, cached_property
from typing import Any

import orjson
from sqlalchemy import Connection, Select, select

from headwater.model.nested_fields import name_parts
from headwater.policies.tag_file import TagName
from headwater.store import schema
from headwater.store.graph.index import OPTION
from headwater.store.questions.walk.tag_leaves import Start
from headwater.store.sql.databases import DATABASES

_TAGGING = schema.tagging.c
Target = tuple[int, int, str]
"""A dataset, a field of it or 0, and the path within that field or nothing."""

_Texts = tuple[str, str]
_KEY = "targets of tags"
_WITHIN = select(_TAGGING.tag, _TAGGING.value, _TAGGING.dataset_id, _TAGGING.field_id, _TAGGING.path)
_WITHIN = _WITHIN.where(_TAGGING.job_id == 0, _TAGGING.path != "")


@dataclass(frozen=True)
class Targets:
    """The datasets with a tag, and its other targets: columns, and fields within."""

    datasets: frozenset[int] = frozenset()
    columns: frozenset[Target] = frozenset()

    @classmethod
    def of(cls, targets: Iterable[Target]) -> "Targets":
        """Return some targets."""
        every = frozenset(targets)
        columns = frozenset(one for one in every if one[1])
        return cls(frozenset(dataset for dataset, *_ in every - columns), columns)

    @property
    def every_dataset(self) -> frozenset[int]:
        """The datasets, and those of the columns."""
        return self.datasets.union(dataset for dataset, *_ in self.columns)

    @cached_property
    def own(self) -> Start:
        """The columns and fields within as a start."""
        return Start.of([(field, name_parts(path)) for _, field, path in self.columns])

    def within(self, datasets: frozenset[int]) -> "Targets":
        """Return those of some datasets."""
        return Targets(self.datasets & datasets, frozenset(one for one in self.columns if one[0] in datasets))

    def __bool__(self) -> bool:
        return bool(self.datasets or self.columns)

    def __or__(self, other: "Targets") -> "Targets":
        return Targets(self.datasets | other.datasets, self.columns | other.columns) if other else self


def targets_in_store(connection: Connection) -> dict[TagName, Targets]:
    """Return the targets of each tag with each value.

    With edges in memory they are the same objects as long as they are equal.
    """
    index = connection.get_execution_options().get(OPTION)
    before: Mapping[TagName, tuple[_Texts, Targets]] = index.derived.get(_KEY, {}) if index is not None else {}
    found: dict[TagName, tuple[_Texts, Targets]] = {}
    for tag, value, datasets, fields in connection.execute(_texts(connection.dialect.name)):
        name, own = TagName(tag, value), (datasets, fields)
        last = before.get(name)
        found[name] = last if last is not None and last[0] == own else (own, _read(own))
    if index is not None:
        index.derived[_KEY] = found
    targets = {name: own for name, (_, own) in found.items()}
    within: dict[TagName, set[Target]] = {}
    for tag, value, *target in connection.execute(_WITHIN):
        within.setdefault(TagName(tag, value), set()).add((target[0], target[1], target[2]))
    return targets | {name: targets.get(name, Targets()) | Targets.of(own) for name, own in within.items()}


@cache
def _texts(dialect: str) -> Select[Any]:
    tag, value = _TAGGING.tag, _TAGGING.value
    numbers = map(DATABASES[dialect].column_text, (_TAGGING.dataset_id, _TAGGING.field_id))
    return select(tag, value, *numbers).where(_TAGGING.job_id == 0, _TAGGING.path == "").group_by(tag, value)


def _read(texts: _Texts) -> Targets:
    datasets, fields = map(orjson.loads, texts)
    return Targets.of((dataset, field, "") for dataset, field in zip(datasets, fields, strict=True))
