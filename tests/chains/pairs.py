"""Pairs of a statement that writes ``mid`` and one that reads it again, made of the files beside this one.

``writers_*.case`` and ``readers_*.case`` have a section for each, begun by ``# writer:`` or ``# reader:``, of Python
code for which ``application.py`` says what is in scope. A writer writes ``new``, whose columns ``Key``, ``Title``,
``Land`` are ``id``, ``upper(name)``, ``country`` of its own source; a reader leaves a frame ``mid`` or
``stream_of_mid``. Headers:

``makes`` (writer)   what is there afterwards: ``files``, ``table``, ``delta``, …
``reads`` (reader)   what it needs of that: it is paired with every writer that makes all of it, also the format or
                     the words `Writer.traits` adds; ``except`` names what it cannot read
``format``, ``options``  how its files are read; parquet without options
``columns``, ``names``   what readers of files, and of the catalog, find in place of Key, Title, Land; ``-`` is none
``roots``            for a column of ``mid`` its roots, where they are others: ``Land <-`` is none
``lacks`` (reader)   the column of ``mid`` that it does not see; with ``columns`` and ``roots`` it has others, each
                     with these roots
``kinds`` (reader)   ``opaque``: every column is a TRANSFORMATION
``spark``, ``needs``     the first version that it is for, a connector of ``connectors`` that there must be a build of

``known_failures.toml`` lists pairs that do not hold, with the reason; one of them that holds fails the test.
"""

import os
import re
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import cache
from pathlib import Path

import pyspark
import pytest

from headwater.errors import UnknownName

from .. import connectors
from ..extract.case_file import reaches, since

HERE = Path(__file__).parent
STANDARD = ("Key", "Title", "Land")
OUT = ("a", "b", "c")
ROOTS = {
    "Key": frozenset({("IDENTITY", "id")}),
    "Title": frozenset({("TRANSFORMATION", "name")}),
    "Land": frozenset({("IDENTITY", "country")}),
}
Roots = frozenset[tuple[str, str]]


@dataclass(frozen=True, slots=True)
class Side:
    """A writer or a reader: its code, and what its headers say."""

    title: str
    code: str
    headers: Mapping[str, str]

    def words(self, header: str) -> tuple[str, ...]:
        return tuple(self.headers.get(header, "").split())


class Writer(Side):
    """A statement that writes ``mid``."""

    @property
    def format(self) -> str:
        return self.headers.get("format", "parquet")

    @property
    def options(self) -> dict[str, str]:
        pairs = (option.partition("=") for option in self.words("options"))
        return {key: value for key, _, value in pairs}

    @property
    def traits(self) -> frozenset[str]:
        """The words of ``makes``, its format, ``whole`` or not, ``by_name`` if its files have columns' names."""
        made = {*self.words("makes"), self.format}
        made |= {"header"} if "header" in self.options else set()
        made |= set() if "partitioned" in made else {"whole"}
        return frozenset(made | (set() if made & {"positional", "text"} else {"by_name"}))

    def columns(self, by_path: bool) -> tuple[str, ...]:
        """The names of the three columns for who reads its files, or its table."""
        names = self.words("names") or STANDARD
        return (self.words("columns") or names) if by_path else names

    def roots(self, place: int) -> Roots:
        """Where the column at a place comes from, as kinds and columns of the source."""
        names = {STANDARD[place], self.columns(True)[place], self.columns(False)[place]}
        column, _, roots = self.headers.get("roots", "").partition("<-")
        return _roots(roots) if column.strip() in names - {"-"} else ROOTS[STANDARD[place]]


class Reader(Side):
    """A statement that reads ``mid``."""

    @property
    def by_path(self) -> bool:
        return "files" in self.words("reads") and "table" not in self.words("reads")

    def can_read(self, writer: Writer) -> bool:
        return {*self.words("reads")} <= writer.traits and not writer.traits & {*self.words("except")}


@dataclass(frozen=True, slots=True)
class Pair:
    """A writer and a reader; ``number`` names what they write, ``made`` the number of the writer."""

    number: int
    made: int
    writer: Writer
    reader: Reader

    def __str__(self) -> str:
        return f"{self.writer.title} -> {self.reader.title}"

    @property
    def columns(self) -> dict[str, str]:
        """The columns of ``out``, and of what columns of ``mid`` they are."""
        names = self.reader.words("columns") or self.writer.columns(self.reader.by_path)
        lacking = {"-", *self.reader.words("lacks")}
        return {
            out: name
            for out, name, usual in zip(OUT, names, STANDARD, strict=True)
            if name not in lacking and usual not in lacking
        }

    @property
    def roots(self) -> dict[str, Roots]:
        """The roots of each column of ``out``."""
        if "roots" in self.reader.headers:
            return dict.fromkeys(self.columns, _roots(self.reader.headers["roots"]))
        found = {out: self.writer.roots(OUT.index(out)) for out in self.columns}
        if self.reader.headers.get("kinds") == "opaque":
            return {out: frozenset(("TRANSFORMATION", of) for _, of in roots) for out, roots in found.items()}
        return found


def _roots(listed: str) -> Roots:
    """Kinds and columns as a header lists them."""
    return frozenset((kind, of) for kind, of in (one.split() for one in listed.split(",") if one.strip()))


@cache
def pairs_of(kind: str) -> tuple[Pair, ...]:
    """The pairs of an application: a share of them, or all with ``EVERY_CASE`` in the environment."""
    every = tuple(all_pairs(kind))
    return every if "EVERY_CASE" in os.environ else tuple(_share(every))


def all_pairs(kind: str) -> Iterator[Pair]:
    """Every reader after every writer that makes what it reads."""
    writers = [Writer(*side) for side in _sides(HERE / f"writers_{kind}.case")]
    readers = [Reader(*side) for side in _sides(HERE / f"readers_{kind}.case")]
    number = 0
    for made, writer in enumerate(writers):
        for reader in readers:
            if reader.can_read(writer):
                yield Pair(number, made, writer, reader)
                number += 1


def _share(every: tuple[Pair, ...]) -> Iterator[Pair]:
    """Few pairs with each writer and each reader: first those of which both are new, then those of which one is."""
    done: set[tuple[str, str]] = set()
    chosen: set[int] = set()
    for new in (2, 1):
        for pair in every:
            if len(_titles(pair) - done) >= new:
                done |= _titles(pair)
                chosen.add(pair.number)
    return (pair for pair in every if pair.number in chosen)


def _titles(pair: Pair) -> set[tuple[str, str]]:
    """Its writer and its reader; some writers are called as readers are."""
    return {("writer", pair.writer.title), ("reader", pair.reader.title)}


def _sides(path: Path) -> Iterator[tuple[str, str, dict[str, str]]]:
    """Title, code and headers of the sections of a file that are for the installed Spark."""
    for text in re.split(r"(?m)^(?=# (?:writer|reader): )", path.read_text())[1:]:
        headers = dict(re.findall(r"(?m)^# (\w+): (.*)$", text))
        built = getattr(connectors, headers.get("needs", "SPARK"))
        if built and reaches(pyspark.__version__, since(headers)):
            title = headers.get("writer") or headers["reader"]
            yield title, re.sub(r"(?m)^# \w+: .*\n?", "", text).strip(), headers


def known_failures() -> dict[str, str]:
    """The reason for each name of what does not hold: ``writer -> reader`` or a long chain; ``*`` is any text."""
    listed = tomllib.loads((HERE / "known_failures.toml").read_text()).get("failures", ())
    return {pattern: one["reason"] for one in listed for pattern in one["names"]}


def expectation(name: str) -> list[pytest.MarkDecorator]:
    """The marks of a test that is known to fail; none of others."""
    reasons = (reason for pattern, reason in known_failures().items() if fnmatchcase(name, pattern))
    return [pytest.mark.xfail(reason=reason, strict=True, raises=(AssertionError, UnknownName)) for reason in reasons]
