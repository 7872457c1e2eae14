"""Selectors: names with ``*``, ``?`` and ``[…]``, compared with any ending of a full name, whatever its case."""

import re
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from fnmatch import translate
from functools import cached_property

from sqlalchemy import Connection, select

from headwater.model import Job
from headwater.model.name_keys import folded
from headwater.store import schema
from headwater.store.questions import names
from headwater.store.questions.answers import KnownDataset
from headwater.store.read_model.visibility import described_fields

_FIELD = schema.field


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


@dataclass(frozen=True)
class Names:
    """The names of all columns of a store, read once."""

    connection: Connection

    @cached_property
    def fields(self) -> Mapping[int, tuple[int, str]]:
        """The dataset and the name of each field."""
        question = select(_FIELD.c.id, _FIELD.c.dataset_id, _FIELD.c.name).where(described_fields(self.connection))
        return {id_: (dataset, name) for id_, dataset, name in self.connection.execute(question)}

    @cached_property
    def datasets(self) -> Mapping[int, KnownDataset]:
        """The datasets by id, without those that are hidden or gone."""
        listed = names.listed(self.connection, select(schema.dataset.c.id))
        return names.datasets(self.connection, list(self.connection.execute(listed).scalars()))

    def matching(self, selectors: Collection[str]) -> set[int]:
        """Return the fields that one of the selectors fits, by any name of their datasets."""
        own = pattern_of(selectors)
        found = {id_: _texts(dataset) for id_, dataset in self.datasets.items()}
        return {
            field
            for field, (dataset, name) in self.fields.items()
            if dataset in found and any(own.fullmatch(f"{text}.{plain(name)}") for text in found[dataset])
        }

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


_SEPARATORS = re.compile(r"[./: ]")
_WILD = frozenset("*?[")


def _texts(dataset: KnownDataset) -> list[str]:
    return [folded(one) for one in dataset.names]
