"""The answers of extensions about an operator (`headwater.ext.NodeLineage`) as its rows and the datasets it writes.

Answers are believed; a question that they leave open gives opaque edges from all that the operator receives, and a gap.
A column without an answer that has the exprId of a column below is that column, as everywhere in Spark.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import reduce

from headwater.ext import ExpressionDependency, InputRelation, NodeLineage, OutputRelation
from headwater.extract.delegates import datasets_of, with_added
from headwater.extract.dependencies import depend
from headwater.extract.edges import lineage
from headwater.extract.operators.opaque import output_of
from headwater.extract.operators.rows import all_columns
from headwater.extract.operators.table import merge_columns, row_dependencies, scope_of
from headwater.extract.replaced_rows import as_described
from headwater.extract.scope import Attribute, Extraction, Rows, Scope, attribute
from headwater.extract.trace import (
    NOTHING,
    OPAQUE,
    SAME,
    UNSEEN_ROWS,
    Paths,
    Trace,
    flat,
    merge,
    received,
    source,
    step,
    union,
)
from headwater.extract.written import mode, query
from headwater.model import Dataset, DatasetDescription, InputField, Output, SchemaField
from headwater.plan import Operator

_MOST_NAMES = 5
Columns = Mapping[int, Trace]


def extension_rows(
    node: Operator,
    children: tuple[Rows, ...],
    extraction: Extraction,
    answers: NodeLineage,
    built_in: Rows | None = None,
) -> Rows:
    """The rows of an operator by the answers about it.

    ``children`` are the rows of its child operators; those of a command's query count as such. The datasets of
    ``answers.inputs`` become inputs of the statement. ``built_in`` are the rows by a rule of headwater's that knows the
    operator: an answer overrides them.
    """
    sides = children or _query(node, extraction)
    return _AnsweredRows(node, answers, extraction).rows(sides, built_in)


def extension_outputs(node: Operator, extraction: Extraction, answers: NodeLineage) -> Sequence[Output]:
    """The datasets that an operator writes by the answers about it; its rows are worked out already."""
    return [found for relation in answers.outputs for found in _written(node, relation, extraction)]


def _query(node: Operator, extraction: Extraction) -> tuple[Rows, ...]:
    rows = query(node, extraction)
    return (rows,) if rows.output else ()


def _known(columns: Columns) -> Columns:
    """The columns without those that only the operators below have ids for."""
    return {key: trace for key, trace in columns.items() if key >= 0}


def _without(built_in: Rows | None, answered: Iterable[ExpressionDependency]) -> Columns:
    """The columns that headwater's own rule makes, but for those with an answer."""
    made = {one.output for one in answered}
    return {key: trace for key, trace in built_in.columns.items() if key not in made} if built_in else {}


def _reads_both(answers: NodeLineage) -> bool:
    """Whether datasets and other operators are read: whose a column is does not follow from its name then."""
    return len({isinstance(one.dataset, Operator) for one in answers.inputs}) > 1


def _by_name(output: Iterable[Attribute], answers: NodeLineage) -> dict[int, str]:
    """The columns of a leaf without an answer: they are the fields of a dataset whose fields are not listed."""
    made = {one.output for one in answers.dependencies or () if one.output not in one.inputs}
    return {column.expr_id: column.name for column in output if column.expr_id not in made}


def _fields(relation: InputRelation) -> Paths:
    """The fields that a dataset has by its answer, whether or not a column stands for them."""
    if isinstance(relation.dataset, Operator):
        return NOTHING
    described = relation.dataset
    return frozenset([(InputField(described.dataset, field.name), SAME) for field in described.schema])


def _counts(answers: NodeLineage) -> str:
    """Say what stands for columns without an answer; fields that nobody named cannot be counted."""
    unnamed = [
        one.dataset.dataset.name
        for one in answers.inputs
        if isinstance(one.dataset, DatasetDescription) and not (one.fields or one.dataset.schema)
    ]
    return "every input column counts" + (f", but no field of {_listed(unnamed)} was named" if unnamed else "")


def _listed(names: Sequence[str]) -> str:
    return ", ".join(names[:_MOST_NAMES]) + (", …" if len(names) > _MOST_NAMES else "")


class _AnsweredRows:
    """The rows of one operator by the answers about it."""

    def __init__(self, node: Operator, answers: NodeLineage, extraction: Extraction) -> None:
        self._node = node
        self._answers = answers
        self._extraction = extraction

    def rows(self, sides: tuple[Rows, ...], built_in: Rows | None) -> Rows:
        """The rows; ``sides`` are those that it receives."""
        answers = self._answers
        shown = built_in or Rows(tuple(map(attribute, output_of(self._node))), {}, row_dependencies(sides))
        others = bool(sides) or _reads_both(answers)
        names = {} if others or built_in else _by_name(shown.output, answers)
        read = [self._read(one, names) for one in answers.inputs]
        beside = step(OPAQUE, union((*map(_everything, read), *map(_fields, answers.inputs))))
        everything = union((received(union(map(all_columns, (*sides, shown)))), beside))
        below = _known(scope_of(sides, self._extraction).columns)
        decided = union((shown.deciding, row_dependencies(read)))
        rows = Rows(shown.output, _beside(built_in.columns if built_in else below, read), decided)
        if answers.dependencies is not None:
            unseen = step(UNSEEN_ROWS, everything) if answers.unseen_rows and sides else NOTHING
            scope = Scope(
                _beside(merge_columns(below, _without(built_in, answers.dependencies)), read), self._extraction
            )
            made, every_row = depend(answers.dependencies, scope, everything, self._node)
            found = Rows(rows.output, {**rows.columns, **made}, union((decided, every_row, unseen)))
            return self._complete(found, everything)
        if built_in:
            return self._unanswered(rows, beside) if answers.inputs else rows
        return self._unanswered(rows, everything) if others and rows.output else self._complete(rows, everything)

    def _read(self, relation: InputRelation, by_name: Mapping[int, str]) -> Rows:
        """The columns that a relation adds to those below, by their exprIds, and what decides on its rows."""
        if isinstance(relation.dataset, Operator):
            return self._delegated(relation, relation.dataset, by_name)
        names = relation.fields or by_name
        described = with_added(relation.dataset, relation.added)
        schema = described.schema or tuple(map(SchemaField, dict.fromkeys(names.values())))
        self._extraction.datasets[replace(described, schema=schema)] = None
        return Rows((), {key: source(InputField(described.dataset, name)) for key, name in names.items()})

    def _delegated(self, relation: InputRelation, delegate: Operator, by_name: Mapping[int, str]) -> Rows:
        """The rows of another operator of the plan, also under the exprIds that the relation gives them."""
        if delegate not in self._extraction.results:
            self._report(delegate, "it is described as an input, but it is not in the plan")
        rows = self._extraction.rows(delegate)
        own: dict[str, Trace] = {}
        for column in rows.output:
            own[column.name] = merge((own.get(column.name, NOTHING), rows.columns.get(column.expr_id, NOTHING)))
        columns = {key: own[name] for key, name in (relation.fields or by_name).items() if name in own}
        for key, name in relation.fields.items():
            if name not in own:
                self._report(delegate, f"it puts out no column {name!r}, which its description names")
                columns[key] = step(OPAQUE, all_columns(rows))
        for described in datasets_of(delegate, self._extraction) if relation.added else ():
            self._extraction.datasets[with_added(described, relation.added)] = None
        return Rows((), merge_columns(columns, _known(rows.columns)), rows.deciding)

    def _complete(self, rows: Rows, everything: Paths) -> Rows:
        """The rows with conservative edges for the columns that nothing is known of, and a gap that names them."""
        missing = [column for column in rows.output if column.expr_id not in rows.columns]
        if not missing:
            return rows
        names = _listed([column.name for column in missing])
        self._report(self._node, f"no extension describes what {names} is made of: {_counts(self._answers)}")
        conservative = dict.fromkeys((column.expr_id for column in missing), everything)
        return Rows(rows.output, {**rows.columns, **conservative}, rows.deciding)

    def _unanswered(self, rows: Rows, everything: Paths) -> Rows:
        """The rows where no answer is about the columns of an operator that reads others: any may be made of any."""
        self._report(self._node, f"no extension describes what its columns are made of: {_counts(self._answers)}")
        columns: dict[int, Trace] = {
            c.expr_id: merge((rows.columns.get(c.expr_id, NOTHING), everything)) for c in rows.output
        }
        return Rows(rows.output, {**rows.columns, **columns}, union((rows.deciding, step(UNSEEN_ROWS, everything))))

    def _report(self, node: Operator, why: str) -> None:
        self._extraction.report("operator", node.name, why)


def _everything(rows: Rows) -> Paths:
    return union(map(flat, rows.columns.values()))


def _beside(columns: Columns, read: Iterable[Rows]) -> Columns:
    """Columns, and those that are read beside; one that both have may be either."""
    return reduce(merge_columns, (one.columns for one in read), columns)


def _written(node: Operator, relation: OutputRelation, extraction: Extraction) -> Iterator[Output]:
    rows = extraction.rows(node)
    fields = _columns(node, relation, rows, extraction)
    others = [extraction.rows(one) for one in (*relation.columns_of, *node.inputs)]
    known = {**_known(scope_of((*others, query(node, extraction)), extraction).columns), **rows.columns}
    types = {column.expr_id: column.type for one in (rows, query(node, extraction), *others) for column in one.output}
    schema = tuple(SchemaField(*one) for one in {name: types.get(key, "") for name, key in fields}.items())
    traces = [_trace(key, name, node, known, extraction) for name, key in fields]
    found = lineage((name for name, _ in fields), traces, rows.deciding)
    for target in _targets(node, relation, extraction):
        named = with_added(replace(target, version=""), relation.added)
        described = replace(named, schema=named.schema or schema, lifecycle=named.lifecycle or mode(node))
        yield as_described(Output(described, found, target.version), node)


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
    """The fields that are written and the exprIds behind them: by the answer, else the columns of the query by name."""
    written = query(node, extraction).output or rows.output
    fields = list(relation.fields)
    for one in relation.columns_of:
        output = extraction.rows(one).output or tuple(map(attribute, output_of(one)))
        if not output:
            why = "its columns are described as written, but they are not known: those of the query count"
            extraction.report("operator", one.name, why)
        fields.extend((column.name, column.expr_id) for column in output or written)
    return tuple(dict.fromkeys(fields)) or tuple((column.name, column.expr_id) for column in written)


def _trace(key: int, name: str, node: Operator, columns: Columns, extraction: Extraction) -> Paths:
    found = columns.get(key)
    if found is not None:
        return flat(found)
    extraction.report(
        "operator", node.name, f"no extension describes what {name} is made of: every input column counts"
    )
    return step(OPAQUE, union(map(flat, columns.values())))
