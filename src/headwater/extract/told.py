"""What somebody told of an operator (`headwater.ext.NodeLineage`) as its rows and as the datasets that it writes.

What is told is believed; what is left open counts as not seen: opaque edges from all that the operator receives, and
a gap. A column without a word that has the exprId of a column below is that column, as everywhere in Spark.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import reduce

from headwater.ext import InputRelation, NodeLineage, OutputRelation
from headwater.extract.dependencies import depend
from headwater.extract.edges import lineage
from headwater.extract.operators.opaque import output_of
from headwater.extract.operators.rows import all_columns
from headwater.extract.operators.table import deciding, scope_of
from headwater.extract.relations import leaves, naming, rdds, streams
from headwater.extract.scope import Attribute, Extraction, Rows, Scope, attribute
from headwater.extract.trace import NOTHING, OPAQUE, SAME, UNSEEN_ROWS, Paths, Trace, flat, merge, source, step, union
from headwater.extract.written import mode, query
from headwater.model import Dataset, DatasetDescription, InputField, Output, SchemaField
from headwater.plan import Operator

_MOST_NAMES = 5
_RELATIONS = {**leaves.OPERATORS, **rdds.OPERATORS, **streams.OPERATORS}


def tells_rows(node: Operator, told: NodeLineage) -> bool:
    """Whether the rows of an operator follow from what is told of it; else headwater's own rule makes them.

    A command has no columns: of one that only its outputs are told of, the rows are those of its query.
    """
    return bool(told.inputs) or told.dependencies is not None or not output_of(node)


def told_rows(node: Operator, children: tuple[Rows, ...], extraction: Extraction, told: NodeLineage) -> Rows:
    """The rows of an operator as they are told.

    ``children`` are the rows of its child operators; those of a command's query count as such. The datasets of
    ``told.inputs`` become inputs of the statement.
    """
    sides = children or _query(node, extraction)
    output = tuple(map(attribute, output_of(node)))
    below = scope_of(sides, extraction).columns
    read = [_read(one, _by_name(output, below, told), extraction) for one in told.inputs]
    known = reduce(_both, (rows.columns for rows in read), below)
    columns_read = (union(map(flat, rows.columns.values())) for rows in read)
    received = step(OPAQUE, union((*map(all_columns, sides), *columns_read, *map(_fields, told.inputs))))
    rows = Rows(output, known, union((deciding(sides), deciding(read))))
    if told.dependencies is None:
        return _untold(node, rows, bool(sides), received, extraction)
    made, every_row = depend(told.dependencies, Scope(known, extraction), received, node)
    columns = {**known, **made}
    return _complete(node, Rows(output, columns, union((rows.deciding, every_row))), received, extraction)


def told_outputs(node: Operator, extraction: Extraction, told: NodeLineage) -> Sequence[Output]:
    """The datasets that an operator writes, as they are told; its rows are worked out already."""
    return [found for relation in told.outputs for found in _written(node, relation, extraction)]


def targets(told: Mapping[Operator, NodeLineage]) -> frozenset[Operator]:
    """The operators that stand for what others write and, as far as is told, for nothing that is read."""
    delegates = [one.dataset for lineage in told.values() for one in lineage.outputs]
    written = {below for one in delegates if isinstance(one, Operator) for below in _down(one)}
    read = {one.dataset for lineage in told.values() for one in lineage.inputs if isinstance(one.dataset, Operator)}
    return frozenset(written - read)


def with_added(own: DatasetDescription, added: DatasetDescription | None) -> DatasetDescription:
    """A description with what another says beside: its values before the own ones, its facets after them."""
    if added is None:
        return own
    return DatasetDescription(
        own.dataset,
        added.schema or own.schema,
        tuple(dict.fromkeys((*own.symlinks, *added.symlinks))),
        added.lifecycle or own.lifecycle,
        added.source or own.source,
        added.version or own.version,
        added.names or own.names,
        added.fields or own.fields,
        added.description or own.description,
        added.partition or own.partition,
        (*own.facets, *added.facets),
    )


def datasets_of(operator: Operator, extraction: Extraction) -> tuple[DatasetDescription, ...]:
    """The datasets of a delegate: those of the relation at its lower left end, which is what a command writes to."""
    *_, operator = _down(operator)
    if (known := extraction.relations.get(operator)) is not None:
        return known
    if operator in extraction.told:
        return _told_of(extraction.told[operator], extraction)
    aside = Extraction(extraction.settings, extraction.session, extraction.origins)
    if operator.name in _RELATIONS:
        _RELATIONS[operator.name](operator, (), aside)
    return tuple(aside.datasets) or naming.relation_descriptions(operator, extraction)


def _down(operator: Operator) -> Iterator[Operator]:
    """An operator, and those at its lower left."""
    yield operator
    while operator.inputs:
        operator = operator.inputs[0]
        yield operator


def _told_of(told: NodeLineage, extraction: Extraction) -> tuple[DatasetDescription, ...]:
    """The datasets that an operator was told to read."""
    found: list[DatasetDescription] = []
    for one in told.inputs:
        own = datasets_of(one.dataset, extraction) if isinstance(one.dataset, Operator) else (one.dataset,)
        found.extend(with_added(each, one.added) for each in own)
    return tuple(found)


def _query(node: Operator, extraction: Extraction) -> tuple[Rows, ...]:
    rows = query(node, extraction)
    return (rows,) if rows.output else ()


def _by_name(output: Iterable[Attribute], below: Mapping[int, Trace], told: NodeLineage) -> dict[int, str]:
    """The columns that are the fields of a dataset whose fields are not told: those nothing else is known of."""
    made = {one.output for one in told.dependencies or () if one.output not in one.inputs}
    return {c.expr_id: c.name for c in output if c.expr_id not in below and c.expr_id not in made}


def _read(relation: InputRelation, by_name: Mapping[int, str], extraction: Extraction) -> Rows:
    """The columns that a relation adds to those below, by their exprIds, and what decides on its rows."""
    if isinstance(relation.dataset, Operator):
        return _delegated(relation, relation.dataset, by_name, extraction)
    names = relation.fields or by_name
    described = with_added(relation.dataset, relation.added)
    schema = described.schema or tuple(map(SchemaField, dict.fromkeys(names.values())))
    extraction.datasets[replace(described, schema=schema)] = None
    return Rows((), {key: source(InputField(described.dataset, name)) for key, name in names.items()})


def _delegated(relation: InputRelation, delegate: Operator, by_name: Mapping[int, str], extraction: Extraction) -> Rows:
    """The rows of another operator of the plan, also under the exprIds that the relation gives them."""
    if delegate not in extraction.results:
        extraction.report("operator", delegate.name, "what is read through it was told of, but it is not in the plan")
    rows = extraction.rows(delegate)
    own = {column.name: rows.columns.get(column.expr_id, NOTHING) for column in rows.output}
    columns = {key: own[name] for key, name in (relation.fields or by_name).items() if name in own}
    for key, name in relation.fields.items():
        if name not in own:
            extraction.report("operator", delegate.name, f"it puts out no column {name!r}, which was told of it")
            columns[key] = step(OPAQUE, all_columns(rows))
    for described in datasets_of(delegate, extraction) if relation.added else ():
        extraction.datasets[with_added(described, relation.added)] = None
    return Rows((), _both(columns, rows.columns), rows.deciding)


def _both(first: Mapping[int, Trace], second: Mapping[int, Trace]) -> Mapping[int, Trace]:
    """The columns of both; one that both have may be either."""
    either = {key: merge((first[key], second[key])) for key in first.keys() & second.keys()}
    return {**first, **second, **either}


def _fields(relation: InputRelation) -> Paths:
    """The fields that a dataset is told to have, whether or not a column stands for them."""
    if isinstance(relation.dataset, Operator):
        return NOTHING
    described = relation.dataset
    return frozenset([(InputField(described.dataset, field.name), SAME) for field in described.schema])


def _complete(node: Operator, rows: Rows, received: Paths, extraction: Extraction) -> Rows:
    """The rows with conservative edges for the columns that nothing is known of, and a gap that names them."""
    missing = [column for column in rows.output if column.expr_id not in rows.columns]
    if not missing:
        return rows
    names = ", ".join(column.name for column in missing[:_MOST_NAMES]) + (", …" if len(missing) > _MOST_NAMES else "")
    extraction.report("operator", node.name, f"nobody told what {names} is made of: every input column counts")
    conservative = dict.fromkeys((column.expr_id for column in missing), received)
    return Rows(rows.output, {**rows.columns, **conservative}, rows.deciding)


def _untold(node: Operator, rows: Rows, reads_others: bool, received: Paths, extraction: Extraction) -> Rows:
    """Nothing is told of columns. Those of a relation are its fields; above others any may be made of any."""
    if not reads_others or not rows.output:
        return _complete(node, rows, received, extraction)
    extraction.report("operator", node.name, "nobody told what its columns are made of: every input column counts")
    columns: dict[int, Trace] = {
        c.expr_id: merge((rows.columns.get(c.expr_id, NOTHING), received)) for c in rows.output
    }
    return Rows(rows.output, columns, union((rows.deciding, step(UNSEEN_ROWS, received))))


def _written(node: Operator, relation: OutputRelation, extraction: Extraction) -> Iterator[Output]:
    rows = extraction.rows(node)
    fields = _columns(node, relation, rows, extraction)
    types = {column.expr_id: column.type for column in (*rows.output, *query(node, extraction).output)}
    schema = tuple(SchemaField(name, types.get(key, "")) for name, key in fields)
    traces = [_trace(key, name, node, rows, extraction) for name, key in fields]
    found = lineage((name for name, _ in fields), traces, rows.deciding)
    for target in _targets(node, relation, extraction):
        told = with_added(replace(target, version=""), relation.added)
        described = replace(told, schema=told.schema or schema, lifecycle=told.lifecycle or mode(node))
        yield Output(described, found, target.version)


def _targets(node: Operator, relation: OutputRelation, extraction: Extraction) -> tuple[DatasetDescription, ...]:
    if not isinstance(relation.dataset, Operator):
        return (relation.dataset,)
    found = tuple(replace(one, schema=()) for one in datasets_of(relation.dataset, extraction))
    if not found:
        extraction.report("target", node.name, "the dataset that is written could not be named")
    return found or (DatasetDescription(Dataset("inmemory://", "unknown")),)


def _columns(
    node: Operator, relation: OutputRelation, rows: Rows, extraction: Extraction
) -> tuple[tuple[str, int], ...]:
    """The fields that are written and the exprIds behind them: those told, else the columns of the query by name."""
    written = query(node, extraction).output or rows.output
    return relation.fields or tuple((column.name, column.expr_id) for column in written)


def _trace(key: int, name: str, node: Operator, rows: Rows, extraction: Extraction) -> Paths:
    found = rows.columns.get(key)
    if found is not None:
        return flat(found)
    extraction.report("operator", node.name, f"nobody told what {name} is made of: every input column counts")
    return step(OPAQUE, union(map(flat, rows.columns.values())))
