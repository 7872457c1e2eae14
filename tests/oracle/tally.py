"""Counts of what the oracle has seen so far."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field, fields

from tests.oracle.judging import Verdict

from headwater.model import Subtype


@dataclass(slots=True)
class Tally:
    """Counts of a hunt.

    ``looked_at`` queries of which ``discarded`` say nothing; ``runs`` on changed data, of which ``failed`` ended in an
    error; queries that were ``invalid``; the forms ``used``; and of the edges claimed, those that were ``shown`` and
    those that are ``idle``, since the optimized query has nothing of the kind.
    """

    looked_at: int = 0
    runs: int = 0
    failed: int = 0
    invalid: Counter[str] = field(default_factory=Counter)
    discarded: Counter[str] = field(default_factory=Counter)
    used: Counter[str] = field(default_factory=Counter)
    missing: list[str] = field(default_factory=list)
    claims: Counter[Subtype] = field(default_factory=Counter)
    shown: Counter[Subtype] = field(default_factory=Counter)
    idle: Counter[Subtype] = field(default_factory=Counter)
    unshown: Counter[tuple[Subtype, str]] = field(default_factory=Counter)
    seen: set[str] = field(default_factory=set)

    def take(self, other: "Tally") -> None:
        """Add all that another tally counted."""
        for each in fields(self):
            own, more = getattr(self, each.name), getattr(other, each.name)
            if isinstance(own, Counter | set):
                own.update(more)
            else:
                setattr(self, each.name, own + more)

    def refused(self, what: str, reason: BaseException) -> None:
        """Count a query that cannot be run, with the first words of the reason."""
        words = next((line.strip() for line in str(reason).splitlines() if line.strip()), "")
        self.invalid[f"{what}{type(reason).__name__}: {words[:120]}"] += 1

    @property
    def count(self) -> int:
        """Queries that were looked at or could not be."""
        return self.looked_at + sum(self.invalid.values())

    def is_new(self, code: str) -> bool:
        """True the first time that a query comes."""
        known = code in self.seen
        self.seen.add(code)
        return not known

    def add(self, verdict: Verdict, used: Iterable[str] = ()) -> None:
        """Count a query that was looked at, made of the forms ``used``."""
        forms = tuple(used)
        self.looked_at += 1
        self.runs += verdict.runs
        self.failed += verdict.failed
        if verdict.discarded:
            self.discarded[verdict.discarded] += 1
            return
        self.used.update(forms)
        for claim, seen in verdict.claims.items():
            self.claims[claim.subtype] += 1
            self.shown[claim.subtype] += seen
            self.idle[claim.subtype] += claim in verdict.idle
            if not seen and claim not in verdict.idle:
                self.unshown.update((claim.subtype, form) for form in forms)
