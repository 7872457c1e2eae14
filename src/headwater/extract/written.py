"""The parts of each command that writes: a query, a target, names for the columns, what the target adds to them."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from headwater.extract.edges import lineage
from headwater.extract.nested import nested_lineage
from headwater.extract.queries import with_generated
from headwater.extract.scope import Attribute, Extraction, Rows, schema_field
from headwater.extract.trace import flat
from headwater.model import IDENTITY, Dataset, DatasetDescription, Dependency, InputField, Output, SchemaField
from headwater.plan import Operator


def query(node: Operator, extraction: Extraction) -> Rows:
    """The rows that a command writes; a plan from a text knows types by the names of the columns alone."""
    below = node.operator("query") or node.operator("plan") or (node.inputs[0] if node.inputs else None)
    rows, types = extraction.rows(below), node.facts("columnTypes")
    if not types:
        return rows
    output = (one if one.type else replace(one, type=types.get(one.name, "")) for one in rows.output)
    return replace(rows, output=tuple(output))


def mode(node: Operator) -> str:
    """``OVERWRITE`` where a command says that it replaces what was there; else empty."""
    overwrites = node.values.get("overwrite") is True or node.text("mode") == "Overwrite"
    return "OVERWRITE" if overwrites else ""


def written(
    target: DatasetDescription | None,
    rows: Rows,
    names: Sequence[str] | None,
    how: str,
    extraction: Extraction,
) -> Sequence[Output]:
    """The output of a command that writes ``rows`` to a target under ``names``, by position; None: their own names.

    A target of None makes a dataset without a name, and a gap; ``how`` is its lifecycle. Of a target whose schema is
    known, the spelling and the order of its columns count.
    """
    if target is None:
        extraction.report("target", "output", "the dataset that is written could not be named")
        target = DatasetDescription(Dataset("inmemory://", "unknown"))
    labels = spelled(_labels(rows.output, names, extraction), target.schema, extraction)
    known = {column.name for column in target.schema}
    own = [schema_field(name, column.type) for name, column in zip(labels, rows.output, strict=False)]
    schema = (*target.schema, *(field for field in own if field.name not in known))
    rank = {field.name: place for place, field in reversed([*enumerate(schema)])} if known else {}
    order = sorted(range(len(labels)), key=lambda place: rank[labels[place]]) if known else range(len(labels))
    described = replace(target, schema=schema, lifecycle=how, version="")
    if extraction.nested:
        columns = [(labels[place], rows.output[place], rows.column(place)) for place in order]
        return (Output(described, nested_lineage(columns, rows.deciding), target.version),)
    traces = [flat(rows.column(place)) for place in order]
    found = lineage([labels[place] for place in order], traces, rows.deciding)
    return (Output(described, found, target.version),)


def spelled(names: Iterable[str], columns: Iterable[SchemaField], extraction: Extraction) -> list[str]:
    """The names as the columns of the target spell them, compared as the session's resolver does."""
    exact = {column.name for column in columns}
    folded = {} if extraction.session.get("caseSensitive") else {name.lower(): name for name in exact}
    return [name if name in exact else folded.get(name.lower(), name) for name in names]


def with_columns(target: DatasetDescription | None, node: Operator) -> DatasetDescription | None:
    """The target of a command with its columns, where the command found it there and they are known."""
    columns = tuple(SchemaField(str(name), str(type_)) for name, type_ in node.values.get("target") or ())
    return replace(target, schema=columns) if target and columns else target


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
    alone = tuple(facts.get("unassigned") or ())
    return [
        replace(output, lineage=with_generated(output.lineage, generated, masking, _own(output, alone)))
        for output in outputs
    ]


def _own(output: Output, columns: Iterable[str]) -> Mapping[str, frozenset[Dependency]]:
    """The edges of columns that stay what they were: each from itself."""
    dataset = output.description.dataset
    return {name.lower(): frozenset((Dependency(InputField(dataset, name), IDENTITY),)) for name in columns}
