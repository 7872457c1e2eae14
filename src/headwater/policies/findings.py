"""Findings of a check, which of them somebody accepts, and which were there before."""

import json
from collections.abc import Collection, Iterable
from dataclasses import dataclass, replace
from hashlib import sha256
from pathlib import Path

from headwater.errors import PolicyError
from headwater.policies.policy_file import Rule, Severity
from headwater.yaml_map import Place, Word


@dataclass(frozen=True, slots=True)
class Finding:
    """A breach of a rule: what it is on, why, and the lines that prove it.

    ``about`` is what findings of one rule on one subject differ by (a tag). ``accepted`` says why it does not count: a
    waiver, or that the baseline has it; empty where it does. ``owners`` are those of the dataset. ``word`` is that of
    the policy which is the mistake, None where lineage breaks the rule.
    """

    rule: Rule
    subject: str
    message: str
    path: tuple[str, ...] = ()
    about: str = ""
    owners: tuple[str, ...] = ()
    accepted: str = ""
    word: Word | None = None

    @property
    def place(self) -> Place:
        """The place in the policy: of the mistake, or of the rule."""
        return self.word.place if self.word is not None else self.rule.place

    @property
    def fingerprint(self) -> str:
        """The same for the same breach in another store, at another time and over another path."""
        return sha256("\n".join((self.rule.name, self.subject, self.about)).encode()).hexdigest()[:32]

    @property
    def counts(self) -> bool:
        """Whether it makes the check fail."""
        return not self.accepted and self.rule.severity is Severity.ERROR


def accept(findings: Iterable[Finding], fingerprints: Collection[str], why: str) -> list[Finding]:
    """Return findings with those that have one of the fingerprints accepted."""
    return [
        replace(one, accepted=why) if not one.accepted and one.fingerprint in fingerprints else one for one in findings
    ]


def read_baseline(path: Path) -> frozenset[str]:
    """Return the fingerprints of a baseline.

    Raises:
        PolicyError: the file cannot be read, or is none that `write_baseline` wrote.
    """
    try:
        document = json.loads(path.read_text(encoding="utf-8"))
        return frozenset(one["fingerprint"] for one in document["findings"])
    except (OSError, ValueError, LookupError, TypeError) as fault:
        raise PolicyError(f"{path}:1:1: no baseline ({fault!r}): write one with --write-baseline.") from None


def write_baseline(path: Path, findings: Iterable[Finding]) -> int:
    """Write the fingerprints of findings that no waiver accepts; return their number."""
    found = sorted(
        (
            {"rule": one.rule.name, "on": one.subject, "about": one.about, "fingerprint": one.fingerprint}
            for one in findings
            if not one.accepted
        ),
        key=lambda one: (one["rule"], one["on"], one["about"]),
    )
    document = json.dumps({"version": 1, "findings": found}, indent=2, ensure_ascii=False)
    path.write_text(document + "\n", encoding="utf-8")
    return len(found)
