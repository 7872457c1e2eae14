"""What every command that writes has: a query, a target, names for the columns, and what the target adds to them."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from headwater.extract.edges import lineage
from headwater.extract.queries import with_generated
from headwater.extract.scope import Attribute, Extraction, Rows
from headwater.extract.trace import flat
from headwater.model import Dataset, DatasetDescription, Output, SchemaField
from headwater.plan import Operator


def query(node: Operator, extraction: Extraction) -> Rows:
    """The rows that a command writes."""
    below = node.operator("query") or node.operator("plan") or (node.inputs[0] if node.inputs else None)
    return extraction.rows(below)


def mode(node: Operator) -> str:
    """``OVERWRITE`` where a command says that it replaces what was there; else empty."""
    overwrites = node.values.get("overwrite") is True or node.text("mode") == "Overwrite"
    return "OVERWRITE" if overwrites else ""


def written(
    target: DatasetDescription | None, rows: Rows, names: Sequence[str] | None, how: str, extraction: Extraction
) -> Sequence[Output]:
    """The output of a command that writes ``rows`` to a target under ``names``, by position; None: their own names.

    A target of None makes a dataset without a name, and a gap; ``how`` is its lifecycle.
    """
    if target is None:
        extraction.report("target", "output", "the dataset that is written could not be named")
        target = DatasetDescription(Dataset("inmemory://", "unknown"))
    labels = _labels(rows.output, names, extraction)
    schema = tuple(SchemaField(name, column.type) for name, column in zip(labels, rows.output, strict=False))
    traces = [flat(rows.column(place)) for place in range(len(labels))]
    described = replace(target, schema=schema, lifecycle=how, version="")
    return (Output(described, lineage(labels, traces, rows.deciding), target.version),)


def _labels(output: tuple[Attribute, ...], names: Sequence[str] | None, extraction: Extraction) -> list[str]:
    own = [column.name for column in output]
    if not names:
        return own
    if len(names) != len(own):
        extraction.report("target", "columns", f"{len(names)} column names were met for {len(own)} columns")
        return own
    return list(names)


def completed(outputs: Sequence[Output], facts: Mapping[str, Any], extraction: Extraction) -> Sequence[Output]:
    """The outputs with the columns that their table makes of those written."""
    generated, masking = facts.get("generated") or {}, extraction.settings.masking_functions
    if not generated:
        return outputs
    return [replace(output, lineage=with_generated(output.lineage, generated, masking)) for output in outputs]
