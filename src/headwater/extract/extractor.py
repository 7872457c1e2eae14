"""From an analyzed plan to its lineage: the one way in, read from top to bottom."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType

from headwater.ext.additions import finished, finished_lineage
from headwater.ext.renaming import datasets_of, renamed, renamed_lineage
from headwater.ext.runtime import Extensions
from headwater.extract import variables
from headwater.extract.delegates import RELATIONS, only_written
from headwater.extract.edges import lineage
from headwater.extract.extension_rows import extension_outputs, extension_rows
from headwater.extract.interfaces import FIELD, interface_answers
from headwater.extract.nested import has_nested, with_nested
from headwater.extract.operators import generate, merge, opaque, rows, sets
from headwater.extract.operators.table import Visitor
from headwater.extract.origins import Origin, OriginKey, Stream, batch_of, memory_of
from headwater.extract.relations import leaves
from headwater.extract.relations.streams import kind_of
from headwater.extract.scope import Extraction, ExtractSettings, Rows, merged
from headwater.extract.trace import Placeholder, Trace, flat, union
from headwater.extract.variables import assigned, loop_columns
from headwater.extract.writes import WRITES, outputs
from headwater.model import ColumnLineage, Gap, Output, Statement
from headwater.plan import Operator, Plan

OPERATORS: Mapping[str, Visitor] = merged(
    rows.OPERATORS,
    sets.OPERATORS,
    generate.OPERATORS,
    merge.OPERATORS,
    opaque.OPERATORS,
    RELATIONS,
    variables.OPERATORS,
)

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
    return _looked_into(_as_statement(plan, _extract(plan, settings, origins)), plan, settings, origins)


def _as_statement(plan: Plan, extraction: Extraction) -> Statement:
    return _statement(_outputs(plan.root, extraction) if plan.root else (), extraction)


def _looked_into(
    statement: Statement, plan: Plan, settings: ExtractSettings, origins: Mapping[OriginKey, Origin]
) -> Statement:
    """The statement with the edges of fields within columns, where there are any."""
    second = _second_look(statement, plan, settings, origins)
    return with_nested(statement, _as_statement(plan, second)) if second else statement


def _second_look(
    statement: Statement, plan: Plan, settings: ExtractSettings, origins: Mapping[OriginKey, Origin]
) -> Extraction | None:
    """The extraction that follows fields within columns; None where there are none, or they cannot be followed."""
    if not has_nested(statement) or plan.cut or not settings.extensions.idle:
        return None
    return _extract(plan, settings, origins, nested=True)


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
    found = renamed_lineage(found, settings.names.other_names(sorted(found.inputs)))
    return finished_lineage(found, settings.extensions), tuple(extraction.gaps)


def origin(
    plan: Plan, settings: ExtractSettings = _DEFAULTS, origins: Mapping[OriginKey, Origin] = _NO_ORIGINS
) -> Origin:
    """The origin of rows that leave the plan of a query, for a checkpoint or as an RDD."""

    def left(extraction: Extraction) -> Origin:
        rows = extraction.rows(plan.root)
        columns = tuple(rows.columns.get(column.expr_id, frozenset()) for column in plan.output)
        return _remembered(columns, rows, extraction)

    return _with_nested(left, _extract(plan, settings, origins), plan)


def assignments(
    plan: Plan, settings: ExtractSettings = _DEFAULTS, origins: Mapping[OriginKey, Origin] = _NO_ORIGINS
) -> tuple[tuple[OriginKey, Origin], ...]:
    """The variables that a SET VAR or DECLARE assigns, each with the origin of its value."""
    extraction = _extract(plan, settings, origins)
    return tuple(assigned(plan.root, extraction)) if plan.root else ()


def loop_query(
    plan: Plan, settings: ExtractSettings = _DEFAULTS, origins: Mapping[OriginKey, Origin] = _NO_ORIGINS
) -> Mapping[str, Origin]:
    """The columns of a query that a SQL script runs, by folded name."""
    extraction = _extract(plan, settings, origins)
    return loop_columns(plan.root, [column.name for column in plan.output], extraction) if plan.root else {}


def stream(
    plan: Plan, settings: ExtractSettings = _DEFAULTS, origins: Mapping[OriginKey, Origin] = _NO_ORIGINS
) -> Stream:
    """The datasets that a streaming query reads and writes; ``plan`` is that of its ``WriteToStream``.

    >>> from headwater.plan import decode
    >>> stream(decode('{"nodes": [["WriteToStream", [], {}, {"sink": "ConsoleTable"}, 1]]}')).statement
    Statement(inputs=(), outputs=(), gaps=())
    """
    extraction = _extract(plan, settings, origins)
    root = plan.root or Operator("WriteToStream")
    written = _outputs(root, extraction)
    query = root.inputs[0] if root.inputs else None
    rows = extraction.rows(query)

    def left(extraction: Extraction) -> Origin:
        rows = extraction.rows(query)
        return _remembered(tuple(rows.column(place) for place in range(len(rows.output))), rows, extraction)

    made = _with_nested(left, extraction, plan)
    keys = [batch_of(column.expr_id for column in rows.output)]
    if "memory" in root.facts("sink"):
        keys.append(memory_of(root.facts("sink")["memory"]))
    found = _looked_into(_statement(written, extraction), plan, settings, origins)
    return Stream(found, kind_of(root), made, tuple(keys))


def _outputs(root: Operator, extraction: Extraction) -> tuple[Output, ...]:
    """The outputs that extensions name, anywhere in the plan, and those of the command at its root by its rule.

    Answers about a command override its rule; those about operators, a union of commands too, stand beside it.
    """
    if not extraction.answers:
        return tuple(outputs(root, extraction))
    writing = [node for node, answers in extraction.answers.items() if answers.outputs]
    found = {node: _extension_outputs(node, extraction) for node in writing}
    command = root.operator("plan") or root if root.name == "WithCTE" else root
    own = () if found.get(command) and command.name not in OPERATORS else outputs(root, extraction)
    return (*own, *(output for several in found.values() for output in several))


def _extension_outputs(node: Operator, extraction: Extraction) -> Sequence[Output]:
    try:
        return extension_outputs(node, extraction, extraction.answers[node])
    except Exception as error:
        extraction.report("error", node.name, f"the description of its outputs could not be followed: {error!r}")
        return ()


def _statement(written: tuple[Output, ...], extraction: Extraction) -> Statement:
    found = Statement(tuple(extraction.datasets), written, tuple(extraction.gaps))
    found = renamed(found, extraction.settings.names.other_names(datasets_of(found)))
    return finished(found, extraction.settings.extensions)


def _remembered(columns: tuple[Trace, ...], rows: Rows, extraction: Extraction) -> Origin:
    return Origin(columns, rows.deciding, tuple(extraction.datasets), tuple(extraction.gaps))


def _with_nested(left: Callable[[Extraction], Origin], extraction: Extraction, plan: Plan) -> Origin:
    """The rows that an extraction leaves, and a second look at fields within columns where there are any."""
    found = left(extraction)
    second = _second_look(Statement(found.datasets, (), ()), plan, extraction.settings, extraction.origins)
    return replace(found, nested=left(second)) if second else found


def _extract(
    plan: Plan, settings: ExtractSettings, origins: Mapping[OriginKey, Origin], nested: bool = False
) -> Extraction:
    extraction = Extraction(settings, plan.session, origins, nested=nested)
    if not settings.extensions.idle:
        _ask(settings.extensions, plan, extraction)
    if plan.cut:
        extraction.report("budget", "plan", f"the plan was not read in full, every input column counts: {plan.cut}")
    _ask_operators(plan, extraction)
    written = only_written(plan, extraction.answers)
    visit = _visit_answered if extraction.answers or extraction.relations else _visit
    for operator in plan.operators:
        has_rows = operator.name not in WRITES or operator.name == "Union" or operator in extraction.answers
        if operator not in written and has_rows:
            extraction.results[operator] = visit(operator, extraction)
    return extraction


def _ask_operators(plan: Plan, extraction: Extraction) -> None:
    """Take the operators' own answers where headwater has no rule, and no extension answers."""
    for operator in plan.operators:
        if FIELD not in operator.values:
            continue
        found = interface_answers(operator, extraction)
        known = operator in extraction.answers or operator.name in OPERATORS or operator.name in WRITES
        if found and not known:
            extraction.answers[operator] = found


def _ask(extensions: Extensions, plan: Plan, extraction: Extraction) -> None:
    """Note the answers of extensions about a plan; they are asked now, and not while it is worked out."""
    found, settings = extensions.answers(plan), extraction.settings
    masking = settings.masking_functions | extensions.masking_functions
    extraction.settings = replace(settings, masking_functions=masking)
    extraction.answers.update(found.operators)
    extraction.expressions, extraction.relations = found.expressions, found.relations
    extraction.gaps.update(dict.fromkeys(found.gaps))


def _visit_answered(node: Operator, extraction: Extraction) -> Rows:
    """One operator by the answers of others; by its own rule where there are none, or none that can be followed."""
    try:
        rows = _resolved(node, extraction) or _as_answered(node, extraction)
        return rows or _visit(node, extraction)
    except Exception as error:
        extraction.report("error", node.name, f"its description could not be followed: {error!r}")
    return _visit(node, extraction)


def _resolved(node: Operator, extraction: Extraction) -> Rows | None:
    """A relation that is datasets by the answers of others; None of what is no relation."""
    known = extraction.relations.get(node)
    if known is not None and leaves.is_leaf(node):
        return leaves.leaf(node, known, extraction)
    if known is not None and (node.inputs or node.name in OPERATORS):
        why = "a dataset resolver answered for it, but it is no relation with columns of its own: that is left out"
        extraction.report("extension", node.name, why)
    return None


def _as_answered(node: Operator, extraction: Extraction) -> Rows | None:
    """The rows of an operator by the answers about it; None where these are about its outputs at most.

    An answer overrides headwater's own rule where that looks into the operator. A command has no columns: where answers
    are about its outputs only, its rows are those of its query.
    """
    answers = extraction.answers.get(node)
    is_command = node.name not in OPERATORS and not opaque.output_of(node)
    if answers is None or not (answers.inputs or answers.dependencies is not None or is_command):
        return None
    is_relation = node.name in RELATIONS and leaves.is_leaf(node) and bool(answers.inputs)
    looks_into = node.name in OPERATORS and node.name not in opaque.OPERATORS and not is_relation
    own = _visit(node, extraction) if looks_into else None
    rows = extension_rows(node, tuple(map(extraction.rows, node.inputs)), extraction, answers, own)
    return sets.definition(node, (rows,), extraction) if node.name == "CTERelationDef" else rows


def _visit(node: Operator, extraction: Extraction) -> Rows:
    """One operator; when its visitor fails, it counts as one that nobody knows."""
    children = tuple(extraction.rows(child) for child in node.inputs)
    try:
        return OPERATORS.get(node.name, opaque.unknown)(node, children, extraction)
    except Exception as error:
        extraction.report("error", node.name, f"working out its lineage failed: {error!r}")
        return opaque.unknown(node, children, extraction)


def _report_unresolved(rows: Rows, extraction: Extraction) -> None:
    if any(isinstance(origin, Placeholder) and origin.kind != "lambda" for origin, _ in rows.deciding):
        extraction.report("expression", "OuterReference", "an outer reference could not be resolved")
