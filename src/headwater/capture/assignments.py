"""The variables that the sessions of an application assign, held until the assignment has ended well."""

from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass, field

from headwater.capture.rows import ExecutionRow
from headwater.extract import ASSIGNMENTS, ExtractSettings, Origin, OriginKey, Origins, assignments, loop_query
from headwater.extract import loop_variable as loop_column
from headwater.extract.origins import VARIABLES
from headwater.plan import Plan

_MOST_QUERIES = 20

Assigned = tuple[tuple[OriginKey, Origin], ...]


@dataclass(slots=True)
class Assignments:
    """Fills origins with variables; a statement that fails leaves its variables as they were."""

    settings: ExtractSettings
    origins: Origins
    _open: dict[int, Assigned] = field(default_factory=dict)
    _queries: deque[tuple[object, Mapping[str, Origin]]] = field(default_factory=lambda: deque(maxlen=_MOST_QUERIES))

    def concern(self, row: ExecutionRow) -> bool:
        """Whether a row is of an assignment, or of a query whose rows a script's FOR may assign."""
        assigns = row.plan is not None and row.plan.root is not None and row.plan.root.name in ASSIGNMENTS
        return row.kind == "query" or row.id in self._open or assigns

    def take(self, row: ExecutionRow) -> None:
        """Note the start or the end of an assignment, or a script's query."""
        if row.kind == "query":
            self._read(row)
            return
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

    def _read(self, row: ExecutionRow) -> None:
        if row.plan is not None:
            found = loop_query(row.plan, self.settings, self.origins)
            self._queries.appendleft((row.plan.session.get("id"), found))

    def _assigned(self, plan: Plan) -> Assigned:
        found = assignments(plan, self.settings, self.origins)
        queries = (columns for session, columns in self._queries if session == plan.session.get("id"))
        column = loop_column(plan.root, queries) if plan.root and not any(one.everything for _, one in found) else None
        return tuple((key, column or value) for key, value in found)
