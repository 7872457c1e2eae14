"""From an action of a Connect client to the plan that its driver would have had."""

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import Any

from headwater.capture.connect.actions import Action, reads
from headwater.capture.connect.server import Server
from headwater.errors import PlanError
from headwater.extract.writes import WRITES
from headwater.plan import Operator, Plan
from headwater.plan.text import COMMANDS, TextFacts, analyzed_plan, decode_text


@dataclass(frozen=True, slots=True)
class Told:
    """What a server told of an action: the text of its plan, what stands beside it, and the command that writes."""

    text: str
    facts: TextFacts
    command: str = ""
    target: Mapping[str, Any] = field(default_factory=dict)

    def plan(self) -> Plan:
        """The plan, with the command at its root.

        Raises:
            PlanError: the text cannot be read, or it is one of a command whose text does not say what it does.
        """
        plan = decode_text(self.text, self.facts)
        query = plan.root
        if query is not None and (name := query.name.partition(",")[0]) in WRITES.keys() - COMMANDS.keys() - {"Union"}:
            raise PlanError(f"The text of {name} does not say enough of what it writes: its lineage is missing.")
        if not self.command or query is None:
            return plan
        command = Operator(self.command, (query,), {"query": query}, self.target)
        return Plan((*plan.nodes, command), (), plan.session)


def told(action: Action, server: Server) -> Told:
    """What the server tells of an action.

    Raises:
        PlanError: the server does not tell the plan, or its text cannot be read.
    """
    explained = server.explained_statement(action.relation) if action.statement else server.explained(action.relation)
    found = Told(analyzed_plan(explained), server.facts(explained, list(reads(action.relation))))
    if action.statement:
        tables = {name: server.table(name) for name in _written(found.plan())}
        with suppress(Exception):  # without it the relation has a gap, and the rest its lineage
            found = replace(found, facts=replace(found.facts, sources=server.sources_of(action.relation, found.text)))
        return replace(found, facts=found.facts.with_tables(tables))
    if action.command:
        return replace(found, command=action.command, target=_target(action, server))
    return found


def _written(plan: Plan) -> tuple[str, ...]:
    """The full names of the tables that the command at the root names."""
    root = plan.root
    facts = [root.facts(key) for key in ("table", "catalogTable")] if root else []
    return tuple(".".join(known["identifier"]) for known in facts if "identifier" in known)


def _target(action: Action, server: Server) -> dict[str, Any]:
    if action.path:
        return {"outputPath": server.directory(action.path), "mode": action.mode}
    if not action.table:
        return {"options": dict(action.options or {}), "mode": action.mode}
    known = server.table(action.table)
    table = known or {"identifier": tuple(part.strip("`") for part in action.table.split("."))}
    names = tuple(known.get("types", ())) if action.by_position else ()
    return {"tableDesc": table, "mode": action.mode, "outputColumnNames": names}
