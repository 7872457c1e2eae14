"""From an analyzed plan to its lineage: the one way in, read from top to bottom."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType

from headwater.ext.running import Extensions
from headwater.ext.telling import finished, finished_lineage
from headwater.extract.edges import lineage
from headwater.extract.operators import aggregate, generate, joins, merge, opaque, rows, sets
from headwater.extract.operators.table import Visitor
from headwater.extract.origins import Origin, OriginKey, Stream, batch_of, memory_of
from headwater.extract.relations import leaves, rdds, streams
from headwater.extract.scope import Extraction, ExtractSettings, Rows
from headwater.extract.sinks import kind_of
from headwater.extract.told import targets, tells_rows, told_outputs, told_rows
from headwater.extract.trace import Placeholder, Trace, flat, union
from headwater.extract.writes import WRITES, only_written, outputs
from headwater.model import ColumnLineage, Gap, Output, Statement
from headwater.plan import Operator, Plan

OPERATORS: Mapping[str, Visitor] = {
    **rows.OPERATORS,
    **aggregate.OPERATORS,
    **joins.OPERATORS,
    **sets.OPERATORS,
    **generate.OPERATORS,
    **merge.OPERATORS,
    **opaque.OPERATORS,
    **leaves.OPERATORS,
    **rdds.OPERATORS,
    **streams.OPERATORS,
}

_DEFAULTS = ExtractSettings()
_NO_ORIGINS: Mapping[OriginKey, Origin] = MappingProxyType({})


def statement(
    plan: Plan, settings: ExtractSettings = _DEFAULTS, origins: Mapping[OriginKey, Origin] = _NO_ORIGINS
) -> Statement:
    """The datasets that a plan reads and writes, the lineage of each output, and the gaps.

    ``origins`` has what is known of the rows of RDDs, by the id of the RDD.

    >>> from headwater.plan import decode
    >>> statement(decode('{"nodes": [["OneRowRelation", [], {}, {}, 1]]}'))
    Statement(inputs=(), outputs=(), gaps=())
    """
    extraction = _extract(plan, settings, origins)
    root = plan.root
    return _told(_outputs(root, extraction) if root else (), extraction)


def column_lineage(
    plan: Plan, settings: ExtractSettings = _DEFAULTS, origins: Mapping[OriginKey, Origin] = _NO_ORIGINS
) -> tuple[ColumnLineage, tuple[Gap, ...]]:
    """The lineage of the columns that a query puts out, without a write; and the gaps."""
    extraction = _extract(plan, settings, origins)
    result = extraction.rows(plan.root)
    shown = plan.output or result.output
    traces = [flat(result.columns.get(column.expr_id, frozenset())) for column in shown]
    _report_unresolved(Rows(result.output, result.columns, union((result.deciding, *traces))), extraction)
    found = lineage((column.name for column in shown), traces, result.deciding)
    return finished_lineage(found, settings.extensions), tuple(extraction.gaps)


def origin(
    plan: Plan, settings: ExtractSettings = _DEFAULTS, origins: Mapping[OriginKey, Origin] = _NO_ORIGINS
) -> Origin:
    """What is to be remembered of a query whose rows leave its plan, for a checkpoint or as an RDD."""
    extraction = _extract(plan, settings, origins)
    rows = extraction.rows(plan.root)
    columns = tuple(rows.columns.get(column.expr_id, frozenset()) for column in plan.output)
    return _remembered(columns, rows, extraction)


def stream(
    plan: Plan, settings: ExtractSettings = _DEFAULTS, origins: Mapping[OriginKey, Origin] = _NO_ORIGINS
) -> Stream:
    """What a streaming query reads and writes; ``plan`` is that of its ``WriteToStream``.

    >>> from headwater.plan import decode
    >>> stream(decode('{"nodes": [["WriteToStream", [], {}, {"sink": "ConsoleTable"}, 1]]}')).statement
    Statement(inputs=(), outputs=(), gaps=())
    """
    extraction = _extract(plan, settings, origins)
    root = plan.root or Operator("WriteToStream")
    written = _outputs(root, extraction)
    rows = extraction.rows(root.inputs[0] if root.inputs else None)
    columns = tuple(rows.column(place) for place in range(len(rows.output)))
    made = _remembered(columns, rows, extraction)
    keys = [batch_of(column.expr_id for column in rows.output)]
    if "memory" in root.facts("sink"):
        keys.append(memory_of(root.facts("sink")["memory"]))
    return Stream(_told(written, extraction), kind_of(root), made, tuple(keys))


def _outputs(root: Operator, extraction: Extraction) -> tuple[Output, ...]:
    """What is told to be written, anywhere in the plan, and what the command at its root writes by its rule."""
    if not extraction.told:
        return tuple(outputs(root, extraction))
    found = {node: _told_outputs(node, extraction) for node, told in extraction.told.items() if told.outputs}
    command = root.operator("plan") or root if root.name == "WithCTE" else root
    own = () if found.get(command) else outputs(root, extraction)
    return (*own, *(output for several in found.values() for output in several))


def _told_outputs(node: Operator, extraction: Extraction) -> Sequence[Output]:
    try:
        return told_outputs(node, extraction, extraction.told[node])
    except Exception as error:
        extraction.report("error", node.name, f"what was told of its outputs could not be followed: {error!r}")
        return ()


def _told(written: tuple[Output, ...], extraction: Extraction) -> Statement:
    found = Statement(tuple(extraction.datasets), written, tuple(extraction.gaps))
    return finished(found, extraction.settings.extensions)


def _remembered(columns: tuple[Trace, ...], rows: Rows, extraction: Extraction) -> Origin:
    return Origin(columns, rows.deciding, tuple(extraction.datasets), tuple(extraction.gaps))


def _extract(plan: Plan, settings: ExtractSettings, origins: Mapping[OriginKey, Origin]) -> Extraction:
    extraction = Extraction(settings, plan.session, origins)
    if not settings.extensions.idle:
        _ask(settings.extensions, plan, extraction)
    if plan.cut:
        extraction.report("budget", "plan", f"the plan was not read in full, every input column counts: {plan.cut}")
    written = only_written(plan.operators, targets(extraction.told) if extraction.told else frozenset())
    visit = _visit_told if extraction.told or extraction.relations else _visit
    for operator in plan.operators:
        has_rows = operator.name not in WRITES or operator.name == "Union" or operator in extraction.told
        if operator not in written and has_rows:
            extraction.results[operator] = visit(operator, extraction)
    return extraction


def _ask(extensions: Extensions, plan: Plan, extraction: Extraction) -> None:
    """Note what extensions tell of a plan; they are asked now, and not while it is worked out."""
    found, settings = extensions.told(plan), extraction.settings
    masking = settings.masking_functions | extensions.masking_functions
    extraction.settings = replace(settings, masking_functions=masking)
    extraction.told.update(found.operators)
    extraction.expressions, extraction.relations = found.expressions, found.relations
    extraction.gaps.update(dict.fromkeys(found.gaps))


def _visit_told(node: Operator, extraction: Extraction) -> Rows:
    """One operator as others tell of it; by its own rule where they tell nothing, or nothing that can be followed."""
    try:
        if (known := extraction.relations.get(node)) is not None:
            return leaves.leaf(node, known, extraction)
        told = extraction.told.get(node)
        if told is not None and tells_rows(node, told):
            return told_rows(node, tuple(map(extraction.rows, node.inputs)), extraction, told)
    except Exception as error:
        extraction.report("error", node.name, f"what was told of it could not be followed: {error!r}")
    return _visit(node, extraction)


def _visit(node: Operator, extraction: Extraction) -> Rows:
    """One operator; when its visitor fails, it counts as one that nobody knows."""
    children = tuple(extraction.rows(child) for child in node.inputs)
    try:
        return OPERATORS.get(node.name, opaque.unknown)(node, children, extraction)
    except Exception as error:
        extraction.report("error", node.name, f"working out its lineage failed: {error!r}")
        return opaque.unknown(node, children, extraction)


def _report_unresolved(rows: Rows, extraction: Extraction) -> None:
    if any(isinstance(origin, Placeholder) for origin, _ in rows.deciding):
        extraction.report("expression", "OuterReference", "an outer reference could not be resolved")
