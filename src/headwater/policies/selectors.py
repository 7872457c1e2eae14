"""Selectors: names with ``*``, ``?`` and ``[…]``, compared with any ending of a full name, whatever its case."""

import re
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from difflib import get_close_matches
from fnmatch import translate
from functools import cached_property
from typing import Any

from sqlalchemy import Connection, Select, select

from headwater.model import Job
from headwater.model.names import folded
from headwater.model.nested_fields import Path, nested_name, paths_within
from headwater.store import schema
from headwater.store.questions import names
from headwater.store.questions.answers import KnownDataset, Node
from headwater.store.questions.walk.leaf_steps import related
from headwater.store.read_model.visibility import described_fields
from headwater.store.sql.databases import rows_for

_FIELD, _CALLED = schema.field, schema.field_name
_BEFORE_ENDING = re.compile(r"[.*?\]]")


def plain(name: str) -> str:
    """Return a name as selectors compare it: without backticks and case, with dots for slashes.

    >>> plain("/Lake/gold.`E Mail`")
    '.lake.gold.e mail'
    """
    return name.replace("`", "").casefold().replace("/", ".")


def pattern_of(selectors: Iterable[str]) -> re.Pattern[str]:
    """Return the pattern of all names that one of the selectors fits.

    A selector begins where a part of the name does; ``*`` stands for any text, separators too.

    >>> bool(pattern_of(["gold.*.email"]).fullmatch("file:.lake.gold.people.email"))
    True
    >>> bool(pattern_of(["old.*"]).fullmatch("file:.lake.gold.people.email"))
    False
    """
    own = "|".join(translate(plain(one).lstrip(".")) for one in selectors)
    return re.compile(rf"(?:.*[.:])?(?:{own})" if own else r"(?!)", re.DOTALL)


def fits(selectors: Collection[str], text: str) -> bool:
    """Return whether one of the selectors fits a whole text, such as a tag: these have no endings.

    >>> fits(["pii.*"], "pii.email"), fits(["pii"], "pii.email")
    (True, False)
    """
    return any(re.fullmatch(translate(one.casefold()), text.casefold()) for one in selectors)


def fits_job(selectors: Collection[str], job: Job) -> bool:
    """Return whether one of the selectors fits the name of a job, or NAMESPACE/NAME."""
    own = pattern_of(selectors)
    return any(own.fullmatch(plain(name)) for name in (job.name, f"{job.namespace}/{job.name}"))


def ending_of(selector: str) -> str:
    """Return what the name of every column ends with that a selector fits: its text behind separators and wildcards.

    >>> ending_of("gold.*.E_Mail"), ending_of("*mail"), ending_of("gold.e[mn]*")
    ('e_mail', 'mail', '')
    """
    return _BEFORE_ENDING.split(plain(selector))[-1]


@dataclass(frozen=True)
class Names:
    """The names of all columns of a store, each read once."""

    connection: Connection

    @cached_property
    def fields(self) -> Mapping[int, tuple[int, str]]:
        """The dataset and the name of each field."""
        return {id_: (dataset, name) for id_, dataset, name in self.connection.execute(self._described)}

    @cached_property
    def datasets(self) -> Mapping[int, KnownDataset]:
        """The datasets by id, without those that are hidden or gone."""
        listed = names.listed(self.connection, select(schema.dataset.c.id))
        return names.datasets(self.connection, list(self.connection.execute(listed).scalars()))

    def matching(self, selectors: Collection[str]) -> dict[int, int]:
        """Return the fields that one of the selectors fits, by any name of their datasets, with these datasets."""
        own, fields = pattern_of(selectors), self._ending(tuple(map(ending_of, selectors)))
        found = {id_: _texts(one) for id_, one in self._known({dataset for dataset, _ in fields.values()}).items()}
        return {
            field: dataset
            for field, (dataset, name) in fields.items()
            if dataset in found and any(own.fullmatch(f"{text}.{plain(name)}") for text in found[dataset])
        }

    @cached_property
    def _described(self) -> Select[Any]:
        question = select(_FIELD.c.id, _FIELD.c.dataset_id, _FIELD.c.name)
        return question.where(described_fields(self.connection))

    def _ending(self, endings: tuple[str, ...]) -> Mapping[int, tuple[int, str]]:
        """Return the fields whose names have one of some endings: found by the names, of which there are far fewer."""
        if "" in endings or "fields" in self.__dict__:
            return self.fields
        every = self.connection.execute(select(_CALLED.c.folded_key, _CALLED.c.name))
        keys = {key for key, name in every if plain(name).endswith(endings)}
        rows = rows_for(self.connection, keys, lambda some: self._described.where(_FIELD.c.folded_key.in_(some)))
        return {id_: (dataset, name) for id_, dataset, name in rows}

    def _known(self, ids: Collection[int]) -> Mapping[int, KnownDataset]:
        """Return datasets by id, those of some ids at least where they are neither hidden nor gone."""
        if "datasets" in self.__dict__:
            return self.datasets
        listed = names.listed(self.connection, select(schema.dataset.c.id))
        rows = rows_for(self.connection, ids, lambda some: listed.where(schema.dataset.c.id.in_(some)))
        return names.datasets(self.connection, [row.id for row in rows])

    @cached_property
    def nested(self) -> Mapping[int, tuple[int, str, str]]:
        """The dataset, the name and the type of each field that has others within."""
        question = self._described.add_columns(_FIELD.c.type).where(schema.HAS_FIELDS_WITHIN)
        return {id_: (dataset, name, type_) for id_, dataset, name, type_ in self.connection.execute(question)}

    def selected(self, selectors: Collection[str], without: Collection[str] = ()) -> "SelectedColumns":
        """Return the columns, and fields within columns, that one of some selectors fits, and none of others."""
        columns, excepted = ({*self.matching(some)} if some else set() for some in (selectors, without))
        within, around = (self.matching_within(some) if some else {} for some in (selectors, without))
        return SelectedColumns(frozenset(columns - excepted), within, around, frozenset(excepted))

    def matching_within(self, selectors: Collection[str]) -> Mapping[int, tuple[Path, ...]]:
        """Return by column the paths of the outermost fields within that one of the selectors fits."""
        own, endings = pattern_of(selectors), tuple(map(ending_of, selectors))
        found: dict[int, tuple[Path, ...]] = {}
        ending = {type_: _paths_ending(type_, endings) for type_ in {one[2] for one in self.nested.values()}}
        fields = {id_: one for id_, one in self.nested.items() if ending[one[2]]}
        datasets = self._known({dataset for dataset, *_ in fields.values()})
        for id_, (dataset, name, type_) in fields.items():
            texts = _texts(datasets[dataset]) if dataset in datasets else []
            paths: list[Path] = []
            for path in ending[type_]:
                inner = any(path[: len(outer)] == outer for outer in paths)
                called = plain(nested_name((name, *path)))
                if not inner and any(own.fullmatch(f"{text}.{called}") for text in texts):
                    paths.append(path)
            if paths:
                found[id_] = tuple(paths)
        return found

    def matching_whole(self, selectors: Collection[str]) -> set[int]:
        """Return the ids, with a minus sign, of datasets some column of which a selector may fit."""
        datasets = [part for one in selectors for part in (one, one.rpartition(".")[0]) if part]
        return {-one for one in self.matching_datasets(datasets)}

    def matching_datasets(self, selectors: Collection[str]) -> set[int]:
        """Return the datasets that one of the selectors fits, by any of their names."""
        own = pattern_of(selectors)
        return {id_ for id_, one in self.datasets.items() if any(map(own.fullmatch, _texts(one)))}

    def near(self, selector: str) -> str:
        """Return the question whether another selector was meant, whose parts the store has; empty without one."""
        texts = [text for one in self.datasets.values() for text in _texts(one)]
        known = {*_SEPARATORS.split(" ".join(texts)), *(plain(name) for _, name in self.fields.values())}
        words = _SEPARATORS.split(selector)
        meant = selector
        for word in words:
            if word and not _WILD & {*word} and plain(word) not in known:
                (best,) = get_close_matches(plain(word), known, n=1) or (word,)
                meant = meant.replace(word, best)
        return f" Did you mean {meant!r}?" if meant != selector else ""


@dataclass(frozen=True, slots=True)
class SelectedColumns:
    """Columns that are selected, and fields within columns, without those that are excepted."""

    columns: frozenset[int]
    within: Mapping[int, Collection[Path]]
    without: Mapping[int, Collection[Path]] = field(default_factory=dict)
    excepted: frozenset[int] = frozenset()

    @classmethod
    def of(cls, nodes: Iterable[Node]) -> "SelectedColumns":
        """Return some columns and fields within columns as selected."""
        within: dict[int, list[Path]] = {}
        for column, path in nodes:
            within.setdefault(column, []).append(path)
        return cls(frozenset(), within)

    def has(self, node: Node) -> bool:
        """Whether a column is selected; a field within it, where it or something around or within it is."""
        column, path = node
        if column in self.excepted or any(path[: len(one)] == one for one in self.without.get(column, ())):
            return False
        return column in self.columns or any(related(one, path) for one in self.within.get(column, ()))

    def __bool__(self) -> bool:
        return bool(self.columns or self.within)


_SEPARATORS = re.compile(r"[./: ]")
_WILD = frozenset("*?[")


def _paths_ending(type_: str, endings: tuple[str, ...]) -> list[Path]:
    return [path for path in paths_within(type_) if plain(path[-1]).endswith(endings)]


def _texts(dataset: KnownDataset) -> list[str]:
    return [folded(one) for one in dataset.names]
