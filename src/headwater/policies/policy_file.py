"""Files of policies: rules with selectors, waivers with an expiry, and the packs that they include."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace
from datetime import date
from enum import Enum
from pathlib import Path

from headwater.errors import PolicyError
from headwater.policies.selectors import fits, pattern_of, plain
from headwater.policies.tag_file import TagFile, read_tag_file, require_version
from headwater.store.questions.walk.tag_walk import Arriving
from headwater.yaml_map import Place, Word, YamlMap, nearest, read_yaml

PACKS = Path(__file__).with_name("packs")
"""The folder of the packs that come with headwater."""


class Severity(str, Enum):
    """The weight of a finding; errors alone make a check fail."""

    ERROR = "error"
    WARNING = "warning"
    NOTE = "note"


@dataclass(frozen=True, slots=True)
class Rule:
    """A rule: its kind, and the texts of its settings, by name.

    ``may_be_empty`` says that tags and selectors which fit nothing are no finding.
    """

    name: str
    kind: str
    settings: Mapping[str, tuple[Word, ...]]
    place: Place
    severity: Severity = Severity.ERROR
    message: str = ""
    may_be_empty: bool = False

    def texts(self, key: str) -> tuple[str, ...]:
        """Return the texts of a setting; none where it lacks."""
        return tuple(word.text for word in self.settings.get(key, ()))

    def flag(self, key: str) -> bool:
        """Return whether a setting is ``true``."""
        return self.texts(key) == ("true",)


@dataclass(frozen=True, slots=True)
class Waiver:
    """Findings that somebody accepts until a day: those of rules that fit, on what fits."""

    rules: tuple[str, ...]
    on: tuple[str, ...]
    reason: str
    owner: str
    expires: date
    place: Place

    def accepts(self, rule: str, subject: str, today: date) -> bool:
        """Return whether it accepts a finding of a rule on a subject, on a day."""
        on = pattern_of(self.on).fullmatch(plain(subject)) is not None
        return today <= self.expires and fits(self.rules, rule) and on


@dataclass(frozen=True, slots=True)
class Policy:
    """The rules of a file and of the packs that it includes, its waivers, and its tags."""

    rules: tuple[Rule, ...]
    waivers: tuple[Waiver, ...] = ()
    tags: TagFile = field(default_factory=TagFile)


RULES: Mapping[str, tuple[Collection[str], Collection[str]]] = {
    "forbid": (("tags", "reach", "except", "arriving"), ("tags", "reach")),
    "require_owner": (("columns", "except"), ("columns",)),
    "require_tag": (("columns", "tags", "except"), ("columns", "tags")),
    "require_coverage": (("datasets", "opaque"), ("datasets",)),
    "forbid_opaque": (("tags",), ("tags",)),
    "retention": (("tag", "datasets"), ("tag",)),
    "separate": (("writes", "from"), ("writes", "from")),
    "inventory": (("tags",), ("tags",)),
    "sql": (("query",), ("query",)),
}
"""The settings that each kind of rule may have, and those that it must have."""

_CHOICES = {"arriving": [one.value for one in Arriving], "opaque": ["true", "false"]}
"""The words that some settings are made of."""

_OF_RULES = ("severity", "message", "may_be_empty")


def packs() -> list[str]:
    """Return the names of the packs that come with headwater."""
    return sorted(path.stem for path in PACKS.glob("*.yml"))


def read_policy(path: Path, shown: str = "") -> Policy:
    """Return the policy of a file, with the packs and the tags that it names.

    Raises:
        PolicyError: one of the files cannot be read; the message names the line and the column.
    """
    whole = read_yaml(path, shown, PolicyError)
    whole.only(("version", "tags", "include", "rules", "waivers"), ("version",))
    require_version(whole)
    rules = whole.map("rules")
    own = [_rule(key, rules) for key in rules.names()]
    every = (*(rule for word in whole.words("include") for rule in _pack(word)), *own)
    if not every:
        raise PolicyError(f"{whole.place}: the policy has no rule: add one under 'rules', or include a pack.")
    return Policy(every, tuple(_waiver(one) for one in whole.maps("waivers")), _tags(whole.word("tags"), path.parent))


def _tags(word: Word, folder: Path) -> TagFile:
    """Return the file of tags that a policy names; its path is from the policy."""
    if not word.text:
        return TagFile()
    file = folder / word.text
    if not file.is_file():
        near = nearest(word.text, [one.name for one in folder.glob("*.y*ml")])
        raise PolicyError(f"{word.place}: there is no file {word.text!r} beside the policy. {near}")
    return read_tag_file(file, str(Path(word.place.file).parent / word.text))


def _pack(word: Word) -> tuple[Rule, ...]:
    """Return the rules of a pack, at the line that includes it: there it can be waived and removed."""
    if word.text not in packs():
        raise PolicyError(f"{word.place}: there is no pack {word.text!r}. {nearest(word.text, packs())}")
    rules = read_policy(PACKS / f"{word.text}.yml", f"{word.text}.yml").rules
    return tuple(replace(rule, name=f"{word.text}/{rule.name}", place=word.place) for rule in rules)


def _rule(key: Word, rules: YamlMap) -> Rule:
    own = rules.map(key.text)
    own.only((*RULES, *_OF_RULES))
    kinds = [kind for kind in RULES if kind in own]
    if len(kinds) != 1:
        expected = ", ".join(sorted(RULES))
        raise PolicyError(f"{key.place}: the rule {key.text!r} has {len(kinds)} kinds: expected one of {expected}.")
    known, required = RULES[kinds[0]]
    settings = own.map(kinds[0])
    settings.only(known, required)
    for name, choices in _CHOICES.items():
        for word in settings.words(name):
            if word.text not in choices:
                raise PolicyError(f"{word.place}: {name!r} is {word.text!r}. {nearest(word.text, choices)}")
    return Rule(
        key.text,
        kinds[0],
        {word.text: settings.words(word.text) for word in settings.names()},
        key.place,
        Severity(own.choice("severity", [one.value for one in Severity], Severity.ERROR.value)),
        own.text("message"),
        own.flag("may_be_empty"),
    )


def _waiver(section: YamlMap) -> Waiver:
    section.only(("rules", "on", "reason", "owner", "expires"), ("rules", "on", "reason", "owner", "expires"))
    expires = section.date("expires")
    assert expires is not None
    for key in ("reason", "owner"):
        if not section.text(key).strip():
            raise PolicyError(f"{section.word(key).place}: {key!r} is empty: say it in words.")
    return Waiver(
        section.texts("rules"),
        section.texts("on"),
        section.text("reason"),
        section.text("owner"),
        expires,
        section.place,
    )
