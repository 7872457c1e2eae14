"""Dataset names trimmed to the dataset's root, so that a writer of a partition and a reader of the whole meet.

The date and ``key=value`` rules are the OpenLineage client's own trimmers; globs, Spark's part files and the
directories above and below those of a date are added.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import lru_cache

from openlineage.client.dataset.trimmers import (
    DatasetNameTrimmer,
    DateTrimmer,
    KeyValueTrimmer,
    MultiDirDateTrimmer,
    YearMonthTrimmer,
)

from headwater.errors import SettingError
from headwater.model import Dataset
from headwater.openlineage.naming.locations import holds_paths

_GLOB = re.compile(r"(?<!\\)(?:[*?]|\[[^/]*\]|\{.*\})")
# Spark names every file it writes part-<task>-<uuid>…, or part-r-<task>-… before 2.0 (HadoopMapReduceCommitProtocol).
_PART_FILE = re.compile(r"part-(?:[rm]-)?\d{5,}(?:[-.].*)?")
# A reader of the year has to meet the writer of its months, and a writer of hours the reader of the days.
_YEAR = re.compile(r"(?:^|/)(?:19|20)\d\d$")
_BELOW_A_DATE = re.compile(
    r"(?:^|/)(?:[^/=]+=[^/=]+|(?:19|20)\d\d(?:/\d{1,2}){2}|(?:19|20)\d\d-?\d\d-?\d\d)(?P<parts>(?:/\d{1,2}){1,3})$"
)
_DRIVE_OR_NOTHING = re.compile(r"/*(?:[A-Za-z]:/*)?")


def _trim_glob(name: str) -> str:
    glob = _GLOB.search(name)
    return name[: name.rfind("/", 0, glob.start()) + 1].rstrip("/") if glob else name


def _trim_part_file(name: str) -> str:
    folder, _, last = name.rpartition("/")
    return folder if _PART_FILE.fullmatch(last) else name


def _trim_date_parts(name: str) -> str:
    """The name without a last directory that is a year, or numbers below a date or a ``key=value`` directory."""
    trimmed = name.rstrip("/")
    found = _YEAR.search(trimmed)
    if found:
        return trimmed[: found.start()]
    below = _BELOW_A_DATE.search(trimmed)
    return trimmed[: below.start("parts")] if below else name


def _ending_in(pattern: str, trimmer: DatasetNameTrimmer) -> Callable[[str], str]:
    """The client's trimmer where it can find something: its date parsing takes 20 µs to find nothing."""
    ending = re.compile(rf"{pattern}[^/]*/*\Z")
    return lambda name: trimmer.trim(name) if ending.search(name) else name


RULES: Mapping[str, Callable[[str], str]] = {
    "glob": _trim_glob,
    "part_file": _trim_part_file,
    "key_value": _ending_in("=", KeyValueTrimmer()),
    "date": _ending_in(r"(?:\d{4}-\d\d-\d\d|\d\d\.\d\d\.\d{4}|\d{8})", DateTrimmer()),
    "date_directories": _ending_in(r"(?:^|/)\d{4}/\d{1,2}(?:/\d{1,2})?(?![^/])", MultiDirDateTrimmer()),
    "year_month": _ending_in(r"/\d{4}-?\d\d(?![^/])", YearMonthTrimmer()),
    "date_parts": _trim_date_parts,
}

# The names that the OpenLineage clients' `dataset.disabledTrimmers` setting uses, whatever the package before them.
_CLIENT_NAMES = {
    "KeyValueTrimmer": ("key_value",),
    "DateTrimmer": ("date",),
    "MultiDirDateTrimmer": ("date_directories", "date_parts"),
    "YearMonthTrimmer": ("year_month",),
}


@dataclass(frozen=True, slots=True)
class Trimming:
    """Which rules trim a name. ``patterns`` are regular expressions of the user's.

    A pattern with a group named ``remove`` cuts that group out of the name
    (``spark.openlineage.dataset.removePath.pattern``); one without removes a last directory that it matches whole.
    """

    disabled: frozenset[str] = frozenset()
    patterns: tuple[re.Pattern[str], ...] = ()

    @property
    def literal(self) -> "Trimming":
        """The same without globs, for paths in which ``*`` and ``[`` are letters: those that are written."""
        return replace(self, disabled=self.disabled | {"glob"})


def trim(dataset: Dataset, rules: Trimming) -> Dataset:
    """The dataset whose part this one is, or itself. A name is never trimmed to nothing.

    >>> trim(Dataset("file", "/data/t/dt=2026-01-01/hour=7"), Trimming()).name
    '/data/t'
    >>> trim(Dataset("s3://bucket", "events/2026/01/02"), Trimming()).name
    'events'
    """
    if not holds_paths(dataset):
        return dataset
    root = _root(dataset.name, rules)
    return dataset if root == dataset.name else replace(dataset, name=root)


def removed_path(dataset: Dataset, rules: Trimming) -> Dataset:
    """The dataset without what the patterns with a group ``remove`` find in its name, be it a table's or a folder's.

    >>> rules = trimming_from({"patterns": "(?<remove>-run-[0-9]+)"})
    >>> removed_path(Dataset("file", "/warehouse/t-run-7"), rules).name
    '/warehouse/t'
    """
    name = dataset.name
    for pattern in rules.patterns:
        if "remove" in pattern.groupindex:
            name = _unless_nothing(name, _trim_pattern(name, pattern))
    return dataset if name == dataset.name else replace(dataset, name=name)


def trimming_from(settings: Mapping[str, str]) -> Trimming:
    """The rules that settings ask for: ``disabled`` (rule or trimmer names), ``patterns`` (one a line).

    Raises SettingError for a rule nobody knows and for a pattern that is no regular expression.
    """
    listed = filter(None, re.split(r"[;,\s]+", settings.get("disabled", "")))
    disabled = frozenset(rule for name in listed for rule in _rules(name))
    patterns = tuple(_pattern(text) for text in settings.get("patterns", "").splitlines() if text.strip())
    return Trimming(disabled, patterns)


# A job reads the same places again and again.
@lru_cache(maxsize=4096)
def _root(name: str, rules: Trimming) -> str:
    while (shorter := _trim_once(name, rules)) != name:
        name = shorter
    return name


def _trim_once(name: str, rules: Trimming) -> str:
    for rule, function in RULES.items():
        if rule not in rules.disabled:
            name = _unless_nothing(name, function(name))
    for pattern in rules.patterns:
        name = _unless_nothing(name, _trim_pattern(name, pattern))
    return name


def _unless_nothing(name: str, trimmed: str) -> str:
    return name if len(trimmed) >= len(name) or _DRIVE_OR_NOTHING.fullmatch(trimmed) else trimmed


def _trim_pattern(name: str, pattern: re.Pattern[str]) -> str:
    if "remove" in pattern.groupindex:
        match = pattern.search(name)
        return (name[: match.start("remove")] + name[match.end("remove") :]).rstrip("/") if match else name
    folder, _, last = name.rpartition("/")
    return folder if pattern.fullmatch(last) else name


def _rules(name: str) -> tuple[str, ...]:
    found = _CLIENT_NAMES.get(name.rpartition(".")[2], (name,))
    if found[0] not in RULES:
        raise SettingError(f"No trimming rule is called {name[:80]!r}; expected one of {', '.join(RULES)}.")
    return found


def _pattern(text: str) -> re.Pattern[str]:
    try:
        # Java writes a named group without the P.
        return re.compile(re.sub(r"\(\?<(?![=!])", "(?P<", text.strip()))
    except re.error as error:
        shown = text.strip()[:80]
        raise SettingError(
            f"The trimming pattern {shown!r} is no regular expression ({error}); correct it or leave it out."
        ) from error
