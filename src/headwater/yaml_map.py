"""YAML read strictly: each value with its line and column, unknown keys refused with the nearest known one."""

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from datetime import date
from difflib import get_close_matches
from pathlib import Path
from typing import Any, NoReturn

import yaml
from yaml.nodes import MappingNode, Node, ScalarNode, SequenceNode

from headwater.errors import HeadwaterError, SettingError


@dataclass(frozen=True, slots=True)
class Place:
    """A place in a file; line and column count from 1."""

    file: str
    line: int
    column: int

    def __str__(self) -> str:
        return f"{self.file}:{self.line}:{self.column}"


@dataclass(frozen=True, slots=True)
class Word:
    """A text with its place."""

    text: str
    place: Place


def nearest(word: str, allowed: Collection[str]) -> str:
    """Return what to say of a word that none of the known ones is: the nearest, or all of them.

    >>> nearest("colums", ["columns", "datasets"])
    "Did you mean 'columns'?"
    >>> nearest("xyz", ["b", "a"])
    'Expected one of: a, b.'
    """
    near = get_close_matches(word, allowed, n=1)
    return f"Did you mean {near[0]!r}?" if near else f"Expected one of: {', '.join(sorted(allowed))}."


class YamlMap:
    """A mapping of a YAML file; each method returns the value of a key, and refuses one of another kind.

    Args:
        node: of the file.
        file: its name in messages.
        fault: the error of every mistake; the message begins with its place.

    Raises:
        HeadwaterError: the node is no mapping, or has a key twice.
    """

    def __init__(self, node: Node, file: str, fault: type[HeadwaterError] = SettingError) -> None:
        self.file, self._fault = file, fault
        self.place = _place(node, file)
        if not isinstance(node, MappingNode):
            self._refuse(node, "expected keys and values (`key: value`)")
        self._empty = MappingNode(node.tag, [], node.start_mark)
        self._nodes: dict[str, Node] = {}
        self._keys: dict[str, Word] = {}
        for key, value in node.value:
            word = self._word(key, "a key")
            if word.text in self._nodes:
                raise self._fault(f"{word.place}: {word.text!r} is there twice. Join the two, or remove one.")
            self._nodes[word.text], self._keys[word.text] = value, word

    def __contains__(self, key: str) -> bool:
        return key in self._nodes

    def names(self) -> Collection[Word]:
        """Return the keys in their order."""
        return self._keys.values()

    def only(self, allowed: Collection[str], required: Collection[str] = ()) -> None:
        """Refuse keys that are not known, and the lack of required ones.

        Raises:
            HeadwaterError: there is such a key, or one lacks.
        """
        for word in self._keys.values():
            if word.text not in allowed:
                raise self._fault(f"{word.place}: unknown key {word.text!r}. {nearest(word.text, allowed)}")
        for name in required:
            if name not in self._nodes:
                raise self._fault(f"{self.place}: the key {name!r} lacks here. Add it.")

    def word(self, key: str) -> Word:
        """Return a text with its place; an empty one where the key lacks."""
        node = self._nodes.get(key)
        return Word("", self.place) if node is None else self._word(node, f"{key!r}")

    def text(self, key: str, default: str = "") -> str:
        """Return a text; the default where the key lacks, or has nothing behind it."""
        node = self._nodes.get(key)
        return default if node is None or node.tag == _NOTHING else self.word(key).text

    def value(self, key: str) -> Any:
        """Return a value of any kind as JSON has it: dates are texts."""
        loader = yaml.SafeLoader("")
        loader.yaml_constructors = loader.yaml_constructors | {_DATE: yaml.SafeLoader.construct_yaml_str}
        return loader.construct_document(self._nodes[key])

    def choice(self, key: str, allowed: Collection[str], default: str) -> str:
        """Return one of some words.

        Raises:
            HeadwaterError: it is none of them.
        """
        word = self.word(key) if key in self._nodes else Word(default, self.place)
        if word.text not in allowed:
            raise self._fault(f"{word.place}: {key!r} is {word.text!r}. {nearest(word.text, allowed)}")
        return word.text

    def flag(self, key: str, default: bool = False) -> bool:
        """Return ``true`` or ``false``."""
        return self.choice(key, ("true", "false"), str(default).lower()) == "true"

    def date(self, key: str) -> date | None:
        """Return a date (``2027-01-31``), None where the key lacks.

        Raises:
            HeadwaterError: it is no date.
        """
        word = self.word(key)
        try:
            return date.fromisoformat(word.text) if key in self._nodes else None
        except ValueError:
            raise self._fault(f"{word.place}: {key!r} is {word.text!r}: expected a date such as 2027-01-31.") from None

    def words(self, key: str) -> tuple[Word, ...]:
        """Return the texts of a list, or the only text."""
        node = self._nodes.get(key)
        if node is None:
            return ()
        items = node.value if isinstance(node, SequenceNode) else [node]
        return tuple(self._word(item, f"an item of {key!r}") for item in items)

    def texts(self, key: str) -> tuple[str, ...]:
        """Return the same without places."""
        return tuple(word.text for word in self.words(key))

    def map(self, key: str) -> "YamlMap":
        """Return a mapping, an empty one where the key lacks."""
        return YamlMap(self._nodes.get(key, self._empty), self.file, self._fault)

    def maps(self, key: str) -> Iterator["YamlMap"]:
        """Return the mappings of a list."""
        node = self._nodes.get(key)
        if node is not None and not isinstance(node, SequenceNode):
            self._refuse(node, f"expected a list under {key!r} (lines that begin with `- `)")
        return (YamlMap(item, self.file, self._fault) for item in (node.value if node is not None else ()))

    def _word(self, node: Node, what: str) -> Word:
        if not isinstance(node, ScalarNode):
            self._refuse(node, f"expected a text as {what}")
        return Word(node.value, _place(node, self.file))

    def _refuse(self, node: Node, why: str) -> NoReturn:
        raise self._fault(f"{_place(node, self.file)}: {why}, found {_KINDS[node.id]}.")


_DATE = "tag:yaml.org,2002:timestamp"
_NOTHING = "tag:yaml.org,2002:null"
_KINDS: Mapping[str, str] = {"mapping": "keys and values", "sequence": "a list", "scalar": "a text"}


def read_yaml(path: Path, shown: str = "", fault: type[HeadwaterError] = SettingError) -> YamlMap:
    """Return the mapping that a YAML file holds.

    Args:
        path: the file.
        shown: its name in messages and findings; the path as it is without one.
        fault: the error of every mistake in it.

    Raises:
        HeadwaterError: it cannot be read, or is no YAML, or no mapping.
    """
    file = shown or str(path)
    try:
        node = yaml.compose(path.read_text(encoding="utf-8"), Loader=yaml.SafeLoader)
    except (OSError, UnicodeDecodeError) as error:
        raise fault(f"{file}:1:1: the file cannot be read: {error}.") from None
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        line, column = (mark.line + 1, mark.column + 1) if mark is not None else (1, 1)
        problem = getattr(error, "problem", None) or str(error)
        hint = " Put texts that begin with * or & in quotes." if "alias" in problem or "anchor" in problem else ""
        raise fault(f"{file}:{line}:{column}: no YAML: {problem}.{hint}") from None
    if node is None:
        raise fault(f"{file}:1:1: the file is empty: expected keys and values.")
    return YamlMap(node, file, fault)


def _place(node: Node, file: str) -> Place:
    return Place(file, node.start_mark.line + 1, node.start_mark.column + 1)
