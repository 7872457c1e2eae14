"""The variables that the sessions of an application assign, held until the assignment has ended well."""

from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass, field

from headwater.capture.rows import ExecutionRow
from headwater.extract import (
    ASSIGNMENTS,
    ExtractSettings,
    Origin,
    OriginKey,
    Origins,
    assignments,
    either,
    loop_query,
    loop_variable,
)
from headwater.extract.origins import VARIABLES
from headwater.plan import Plan

_MOST_QUERIES = 20
IMMEDIATE, SCRIPT = "ExecuteImmediate", "Script"
"""Statements of a remote server that may assign variables, though what they do could not be seen."""

Assigned = tuple[tuple[OriginKey, Origin], ...]
Columns = Mapping[str, Origin]


@dataclass(slots=True, eq=False)
class _Query:
    """A query of a session by the columns of its rows; ``loop`` is the label of the FOR that took it, if one did."""

    session: object
    columns: Columns
    loop: str | None = None


@dataclass(slots=True)
class Assignments:
    """Fills origins with variables; a statement that fails leaves its variables as they were."""

    settings: ExtractSettings
    origins: Origins
    _open: dict[int, Assigned] = field(default_factory=dict)
    _queries: deque[_Query] = field(default_factory=lambda: deque(maxlen=_MOST_QUERIES))
    _loops: dict[tuple[object, str], list[Columns]] = field(default_factory=dict)

    def concern(self, row: ExecutionRow) -> bool:
        """Whether a row is of an assignment, or of a query whose rows a script's FOR may assign."""
        assigns = row.plan is not None and row.plan.root is not None and row.plan.root.name in ASSIGNMENTS
        return row.kind == "query" or row.id in self._open or assigns or row.command in ASSIGNMENTS

    def take(self, row: ExecutionRow) -> None:
        """Note the start or the end of an assignment, or a script's query."""
        if row.kind == "query":
            if row.plan is not None:
                found = loop_query(row.plan, self.settings, self.origins)
                self._queries.appendleft(_Query(row.plan.session.get("id"), found))
            return
        if row.unreadable:
            self.origins.forget_variables()
        if row.plan is not None:
            self._open[row.id] = self._assigned(row.plan)
        if row.kind == "end":
            for key, value in self._open.pop(row.id, ()) if row.failure is None else ():
                self._remember(key, value)
            self._open.pop(row.id, None)

    def _remember(self, key: OriginKey, value: Origin) -> None:
        self.origins.remember(key, value)
        if isinstance(key, tuple) and (value.everything or value.gaps):
            self.origins.remember((VARIABLES, key[1]), Origin(()))

    def _assigned(self, plan: Plan) -> Assigned:
        found = assignments(plan, self.settings, self.origins)
        column = None if any(one.everything for _, one in found) else self._loop_column(plan)
        return tuple((key, column or value) for key, value in found)

    def _loop_column(self, plan: Plan) -> Origin | None:
        """The column that a FOR assigns: of the query that ran last before it, or of those that ran since.

        A FOR assigns its variables anew with each row. A query between two rows may be one of its body, or that of
        another FOR of the same label.
        """
        target = loop_variable(plan.root) if plan.root else None
        if target is None:
            return None
        session, (label, name) = plan.session.get("id"), target
        mine = (one for one in self._queries if one.session == session and one.loop in (None, label))
        newest = next((one for one in mine if name in one.columns), None)
        bound = self._loops.setdefault((session, label), [])
        if newest is not None:
            newest.loop = label
            bound += [newest.columns] if newest.columns not in bound else []
        del bound[:-_MOST_QUERIES]
        if len(self._loops) > _MOST_QUERIES:
            del self._loops[next(iter(self._loops))]
        found = [columns[name] for columns in bound if name in columns]
        return either(found) if found else None
