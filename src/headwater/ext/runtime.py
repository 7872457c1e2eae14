"""The extensions of one run: asked under guard, and switched off when one breaks.

One that raises, takes too long or gives something else than was asked for is reported by name, once, and not asked
again in this run; headwater then does what it does without it. Nothing here raises.
"""

import logging
import threading
import time
from collections.abc import Callable, Sequence
from functools import partial
from typing import TypeVar

from headwater.errors import ExtensionError
from headwater.ext.answers import NO_ANSWERS, ExtensionAnswers, answers_of
from headwater.ext.claims import Claim, Claims, claims_of
from headwater.ext.discovery import FoundExtension
from headwater.ext.extension import Extension, packages_of
from headwater.ext.views import Views
from headwater.ext.watchdog import within
from headwater.model import Gap
from headwater.plan import Plan
from headwater.redaction import redact

_LOG = logging.getLogger("headwater")
_T = TypeVar("_T")
_Otherwise = TypeVar("_Otherwise")

SECONDS = 2.0
"""How long the hooks of one extension may take for one plan, and for one event."""

SLOW = 0.1
"""An answer that takes longer, in seconds, is slow; those of one extension may take ten times its time altogether."""


class Extensions:
    """Those that ``find`` gives, which is called at first use: never on a thread of the job's."""

    def __init__(
        self,
        find: Callable[[], Sequence[FoundExtension]] = tuple,
        seconds: float = SECONDS,
        altogether: float | None = None,
    ) -> None:
        self._find = find
        self._seconds = seconds
        self._altogether = 10 * seconds if altogether is None else altogether
        self._spent: dict[str, float] = {}
        self._lock = threading.Lock()
        self._found: tuple[FoundExtension, ...] | None = None
        self._claims = Claims()
        self._loaded: tuple[Extension, ...] = ()
        self._off: dict[str, str] = {}
        self._own: dict[str, frozenset[str]] = {}

    @property
    def idle(self) -> bool:
        """Whether there is nothing to ask and nothing to report, as in most runs."""
        self.load()
        return not self._found

    @property
    def found(self) -> tuple[FoundExtension, ...]:
        """All that were met, loaded or not."""
        self.load()
        return self._found or ()

    @property
    def loaded(self) -> tuple[Extension, ...]:
        """Those that are asked; one that broke is not among them."""
        self.load()
        return self._loaded

    @property
    def gaps(self) -> tuple[Gap, ...]:
        """One for each that could not be loaded or broke: its answers are missing."""
        self.load()
        return tuple(Gap("extension", name, why) for name, why in self._off.items())

    @property
    def masking_functions(self) -> frozenset[str]:
        """The names of functions that hide values, in lower case."""
        return frozenset(name.lower() for one in self.loaded for name in one.masking_functions)

    def load(self) -> None:
        """Find the extensions, once."""
        if self._found is not None:
            return
        with self._lock:
            if self._found is not None:
                return
            self._found = self._looked_for()
            self._loaded = tuple(one.extension for one in self._found if one.extension is not None)
            for one in self._found:
                if one.broken:
                    self._switch_off(one.name, f"the extension could not be loaded: {one.why}")
                elif one.extension is not None:
                    self._own[one.name] = packages_of(one.extension)
                    self._claims.add(self.call(one.name, partial(claims_of, one.extension), Claims()))

    def _looked_for(self) -> tuple[FoundExtension, ...]:
        try:
            return tuple(self._find())
        except Exception as error:
            return (
                FoundExtension("extensions", "search", why=redact(f"looking for them failed: {error!r}"), broken=True),
            )

    def answers(self, plan: Plan) -> ExtensionAnswers:
        """The answers of extensions about a plan. A plan with no class that one is for costs a look at each node."""
        self.load()
        by_name: dict[str, list[Claim]] = {}
        for claim in self._claims.of(plan):
            by_name.setdefault(claim.extension, []).append(claim)
        if not by_name:
            return ExtensionAnswers(gaps=self.gaps) if self._off else NO_ANSWERS
        found = ExtensionAnswers()
        for name in (one.name for one in self.loaded if one.name in by_name):
            found = found.before(self.call(name, partial(answers_of, by_name[name], Views()), ExtensionAnswers()))
        return found.with_gaps(self.gaps)

    def call(self, name: str, question: Callable[[], _T], otherwise: _Otherwise) -> _T | _Otherwise:
        """The answer of the extension ``name``; ``otherwise`` when it is switched off, or breaks now."""
        if name in self._off:
            return otherwise
        began = time.monotonic()
        try:
            answer = within(self._seconds, question, self._own.get(name, ()))
            self._note(name, time.monotonic() - began)
            return answer
        except ExtensionError as error:
            self._switch_off(name, f"the extension is switched off for this run: {error}")
        except Exception as error:
            self._switch_off(name, f"the extension is switched off, as it could not be asked: {error!r}")
        return otherwise

    def _note(self, name: str, took: float) -> None:
        """One that is slow each time would hold up the lineage of all that happens meanwhile."""
        if took < SLOW:
            return
        spent = self._spent[name] = self._spent.get(name, 0.0) + took
        if spent > self._altogether:
            why = f"its slow answers took more than {self._altogether:g} seconds altogether"
            self._switch_off(name, f"the extension is switched off for this run: {why}")

    def _switch_off(self, name: str, why: str) -> None:
        reason = self._off[name] = redact(why).rstrip(".")
        self._loaded = tuple(one for one in self._loaded if one.name != name)
        _LOG.warning("headwater: %s: %s. The Spark job is not affected.", name, reason)


NO_EXTENSIONS = Extensions()
"""None at all."""
