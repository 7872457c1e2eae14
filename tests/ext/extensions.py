"""Recorded plans that have something in them that headwater cannot see into, and runs of extensions over them."""

from typing import Any

from tests.extract.recordings import FOLDER, read_plans

from headwater.ext import API, Extension, Operator, OperatorVisitor
from headwater.ext.discovery import find_extensions
from headwater.ext.runtime import Extensions
from headwater.extract import ExtractSettings, statement
from headwater.model import Gap, Output, Statement
from headwater.plan import Plan, decode_document

VERSION = "4.1"


def plan_of(family: str, name: str) -> Plan:
    """The plan of a case, as Spark 4.1 made it."""
    return decode_document(dict(read_plans(FOLDER / VERSION / f"{family}.jsonl.gz")[name]))


class Answering(OperatorVisitor):
    """A visitor with these answers, or these functions of the operator, for every operator of the classes."""

    def __init__(self, *classes: str, **answers: Any) -> None:
        self.classes, self._answers = classes, answers

    def inputs(self, node: Operator) -> Any:
        return self._answer("inputs", node)

    def outputs(self, node: Operator) -> Any:
        return self._answer("outputs", node)

    def dependencies(self, node: Operator) -> Any:
        return self._answer("dependencies", node)

    def _answer(self, method: str, node: Operator) -> Any:
        answer = self._answers.get(method)
        return answer(node) if callable(answer) else answer


def extension(name: str = "shop", **hooks: Any) -> Extension:
    """An extension with these hooks."""
    return Extension(name, "1.0", API, **hooks)


def running(*extensions: Any, seconds: float = 2.0, altogether: float | None = None) -> Extensions:
    """These extensions and no installed ones, in a run."""
    return Extensions(lambda: find_extensions(extensions, installed=False), seconds, altogether)


def extended(plan: Plan, *extensions: Any, seconds: float = 2.0) -> Statement:
    """The inputs and outputs of a plan, with extensions."""
    return statement(plan, ExtractSettings(extensions=running(*extensions, seconds=seconds)))


def edges(output: Output) -> dict[str, set[str]]:
    """The edges of each field as text, those of every row under ``*``."""
    found = {**output.lineage.fields, "*": output.lineage.dataset}
    return {name: {_text(edge.input.name, edge.transformation) for edge in many} for name, many in found.items()}


def _text(field: str, how: Any) -> str:
    return f"{field} {how.subtype.value}{' masking' * how.masking}{' opaque' * how.opaque}"


def broken(found: Statement) -> dict[str, str]:
    """Why each extension is switched off, by its name."""
    return {gap.what: gap.why for gap in found.gaps if gap.kind == "extension"}


def other_gaps(found: Statement) -> set[Gap]:
    """The gaps that are not about extensions."""
    return {gap for gap in found.gaps if gap.kind != "extension"}
