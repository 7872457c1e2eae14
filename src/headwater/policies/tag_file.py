"""Files of tags: which columns have which tags, how tags combine, and what keeps them from flowing on."""

from dataclasses import dataclass
from datetime import date
from pathlib import Path

from headwater.errors import PolicyError
from headwater.policies.selectors import fits
from headwater.yaml_map import Place, Word, YamlMap, read_yaml

VERSION = "1"


@dataclass(frozen=True, slots=True)
class TagName:
    """A tag, with the value that it has on a column where it has one: ``sensitivity=high``."""

    tag: str
    value: str = ""

    def __str__(self) -> str:
        return f"{self.tag}={self.value}" if self.value else self.tag


@dataclass(frozen=True, slots=True)
class DeclaredTag:
    """A tag as a file declares it; ``masked_as`` is the tag of what is made of it by a function that masks."""

    name: TagName
    place: Place
    columns: tuple[Word, ...] = ()
    datasets: tuple[Word, ...] = ()
    masked_as: str = ""


@dataclass(frozen=True, slots=True)
class Breaker:
    """A step over which tags do not flow: of a job, through a function, or into a column.

    ``tags`` are patterns. After ``expires`` it holds no more.
    """

    kind: str
    pattern: str
    tags: tuple[str, ...]
    reason: str
    owner: str
    expires: date
    place: Place

    def holds(self, tag: str, today: date) -> bool:
        """Return whether it keeps a tag back on a day."""
        return today <= self.expires and fits(self.tags, tag)

    def __str__(self) -> str:
        return f"the breaker of {self.kind} {self.pattern!r} (owner {self.owner}, until {self.expires})"


@dataclass(frozen=True, slots=True)
class TagFile:
    """The content of a file of tags; ``orders`` are the values of a tag, the strictest first."""

    tags: tuple[DeclaredTag, ...] = ()
    orders: tuple[tuple[str, tuple[str, ...]], ...] = ()
    breakers: tuple[Breaker, ...] = ()

    def masked_as(self, tag: str) -> str:
        """Return the tag of what is made of columns with a tag by a function that masks; empty where none is."""
        found = {one.masked_as for one in self.tags if one.name.tag == tag and one.masked_as}
        return min(found, default="")

    def is_stricter(self, one: TagName, other: TagName) -> bool:
        """Return whether a tag is another with a stricter value, by the order of the file."""
        order = self.order(one.tag) if one.tag == other.tag else ()
        return one.value in order[: order.index(other.value) if other.value in order else None]

    def order(self, tag: str) -> tuple[str, ...]:
        """Return the values of a tag, the strictest first; none where no order is declared."""
        return dict(self.orders).get(tag, ())


def tag_name(text: str) -> TagName:
    """Return a tag from its text.

    >>> tag_name("sensitivity=high")
    TagName(tag='sensitivity', value='high')
    """
    tag, _, value = text.partition("=")
    return TagName(tag.strip(), value.strip())


def read_tag_file(path: Path, shown: str = "") -> TagFile:
    """Return the content of a file of tags.

    Raises:
        PolicyError: the file cannot be read; the message names the line and the column.
    """
    whole = read_yaml(path, shown, PolicyError)
    whole.only(("version", "tags", "order", "breakers"), ("version",))
    require_version(whole)
    tags, order = whole.map("tags"), whole.map("order")
    found = TagFile(
        tuple(_declared(key, tags) for key in tags.names()),
        tuple((key.text, order.texts(key.text)) for key in order.names()),
        tuple(_breaker(one) for one in whole.maps("breakers")),
    )
    _require_no_circle(found)
    made = {one.masked_as for one in found.tags}
    for one in found.tags:
        if not (one.columns or one.datasets or one.masked_as or one.name.tag in made):
            raise PolicyError(f"{one.place}: the tag {str(one.name)!r} is on nothing: add 'columns' or 'datasets'.")
    return found


def require_version(whole: YamlMap) -> None:
    """Look whether a file is of the version that this headwater reads.

    Raises:
        PolicyError: it is of another.
    """
    version = whole.word("version")
    if version.text != VERSION:
        raise PolicyError(f"{version.place}: the version is {version.text!r}: this headwater reads version {VERSION}.")


def _declared(key: Word, tags: YamlMap) -> DeclaredTag:
    own = tags.map(key.text)
    own.only(("columns", "datasets", "masked_as", "description"))
    name = tag_name(key.text)
    if not name.tag:
        raise PolicyError(f"{key.place}: {key.text!r} names no tag: expected TAG, or TAG=VALUE.")
    return DeclaredTag(name, key.place, own.words("columns"), own.words("datasets"), own.text("masked_as"))


def _require_no_circle(file: TagFile) -> None:
    for one in file.tags:
        names = [one.name.tag]
        while (name := file.masked_as(names[-1])) and name not in names:
            names.append(name)
        if name:
            circle = " -> ".join([*names, name])
            raise PolicyError(f"{one.place}: 'masked_as' leads back to {name!r} ({circle}). Remove one of them.")


_KINDS = ("job", "function", "column")


def _breaker(section: YamlMap) -> Breaker:
    section.only((*_KINDS, "tags", "reason", "owner", "expires"), ("reason", "owner", "expires"))
    kinds = [kind for kind in _KINDS if kind in section]
    expires = section.date("expires")
    if len(kinds) != 1 or expires is None:
        raise PolicyError(
            f"{section.place}: a breaker has exactly one of job, function and column, found {len(kinds)}."
        )
    for key in ("reason", "owner", kinds[0]):
        if not section.text(key).strip():
            raise PolicyError(f"{section.word(key).place}: {key!r} is empty: say it in words.")
    tags = section.texts("tags") or ("*",)
    return Breaker(
        kinds[0], section.text(kinds[0]), tags, section.text("reason"), section.text("owner"), expires, section.place
    )
