"""Leaves of a plan: where columns begin."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from functools import lru_cache
from types import MappingProxyType

from headwater.extract.nested import packed_column
from headwater.extract.operators.table import Visitors
from headwater.extract.queries import is_query, query_lineage
from headwater.extract.relations import connector_names, naming
from headwater.extract.relations.naming import Facts
from headwater.extract.relations.positions import read_names
from headwater.extract.scope import Attribute, Extraction, Rows, attribute, schema_field
from headwater.extract.trace import NOTHING, TRANSFORMED, Paths, Trace, flat, merge, source, step, union
from headwater.model import Dataset, DatasetDescription, InputField
from headwater.openlineage.naming.jdbc_url import jdbc_source
from headwater.plan import Operator

_OWN_NAMES: Mapping[str, str] = MappingProxyType({})


def logical_relation(node: Operator, children: tuple[Rows, ...], extraction: Extraction) -> Rows:
    """A table or files of the v1 API: what it says that it is, then JDBC, Kafka, the catalog, the paths."""
    relation = node.facts("relation")
    if connector_names.of_relation(node):
        return leaf(node, naming.relation_descriptions(node, extraction), extraction)
    if relation.get("url"):
        return _jdbc(node, relation, naming.catalog_name(node.facts("catalogTable"), extraction), extraction)
    topics = naming.kafka_descriptions(relation.get("options") or {}, extraction)
    return leaf(node, topics or naming.relation_descriptions(node, extraction), extraction, read_names(node))


def v2_relation(node: Operator, children: tuple[Rows, ...], extraction: Extraction) -> Rows:
    """A table of the v2 API."""
    table = node.facts("table")
    if table.get("url"):
        return _jdbc(node, table, None, extraction)
    topics = naming.kafka_descriptions(node.facts("options"), extraction)
    descriptions = topics or naming.v2_descriptions(node.values, extraction)
    if table.get("metadata"):
        for description in descriptions:
            note(naming.subject(description), (), extraction)
    return leaf(node, descriptions, extraction, read_names(node))


def _jdbc(node: Operator, relation: Facts, known_as: DatasetDescription | None, extraction: Extraction) -> Rows:
    """A table behind JDBC, or a query that its database runs: a table in the catalog may be either.

    ``predicates=[…]`` of the reader are the WHERE of as many queries; those of ``partitionColumn`` leave no row out.
    """
    own = str(relation.get("table") or "")
    tests = [f"({one})" for one in relation.get("predicates") or ()]
    if not is_query(own) and not tests:
        return leaf(node, (naming.with_symlink(naming.jdbc_description(relation), known_as),), extraction)
    text = f"(SELECT * FROM {own} WHERE {' OR '.join(tests)}) rows_read" if tests else own
    shown = node.expressions("output")
    masking = extraction.settings.masking_functions
    url, prefix = str(relation["url"]), str(relation.get("prefix") or "")
    found = query_lineage(url, text, [column.label for column in shown], prefix, masking)
    for problem in found.problems:
        extraction.report("opaque", "JDBC query", problem)
    named = None if is_query(own) else naming.jdbc_description(relation).dataset
    for table in found.tables:
        schema = map(attribute, shown) if table == named else ()
        note(DatasetDescription(table, source=jdbc_source(url)), schema, extraction)
    if known_as:
        note(known_as, map(attribute, shown), extraction)
    columns = {column.expr_id: paths for column, paths in zip(shown, found.columns, strict=True)}
    return Rows(tuple(map(attribute, shown)), columns, found.deciding)


def hive_relation(node: Operator, children: tuple[Rows, ...], extraction: Extraction) -> Rows:
    """A Hive table read by its SerDe."""
    table = naming.table_description(node.facts("tableMeta"), extraction)
    return leaf(node, (table,) if table else (), extraction)


def view(node: Operator, children: tuple[Rows, ...], extraction: Extraction) -> Rows:
    """A view: the columns come from the tables beneath, a view of the catalog is an input too."""
    description = naming.table_description(node.facts("desc"), extraction)
    if description and not node.values.get("isTempView"):
        note(description, children[0].output, extraction)
    return children[0]


def cloned(node: Operator, children: tuple[Rows, ...], extraction: Extraction) -> Rows:
    """The table that Delta's ``CLONE`` copies: its columns have no ids, since nothing is read."""
    facts = node.facts("sourceTable")
    table = naming.table_description(facts.get("catalogTable") or {}, extraction)
    found = (table,) if table else naming.path_descriptions([str(facts["path"])], extraction)
    descriptions = tuple(replace(one, version=str(facts.get("version") or "")) for one in found)
    output = tuple(Attribute(place, name, type_) for place, (name, type_) in enumerate(facts.get("columns") or ()))
    for description in descriptions:
        note(description, output, extraction)
    origin = _origins(descriptions, extraction)
    return Rows(output, {one.expr_id: origin(one.name, one.type) for one in output})


def constant(node: Operator, children: tuple[Rows, ...], extraction: Extraction) -> Rows:
    """Rows that come from nowhere: ``range``, the answer of a command."""
    return _columns(node, (), extraction)


def is_leaf(node: Operator) -> bool:
    """Whether columns begin at an operator: it puts some out, and reads no other."""
    return bool(node.expressions("output")) and not node.inputs and node.operator("query") is None


def leaf(
    node: Operator,
    descriptions: tuple[DatasetDescription, ...],
    extraction: Extraction,
    names: Mapping[str, str] = _OWN_NAMES,
) -> Rows:
    """A relation that is these datasets; without any, its columns have no source and a gap says so.

    ``names`` are those of columns in the datasets, where they differ from the relation's.
    """
    if not descriptions:
        facts = node.facts("relation") or node.facts("table")
        what = str(facts.get("class") or node.name)
        extraction.report("relation", what, "no dataset name could be found for this source")
    rows = _columns(node, descriptions, extraction, names)
    for description in descriptions:
        note(description, rows.output, extraction, names)
    return rows


def note(
    description: DatasetDescription,
    output: Iterable[Attribute],
    extraction: Extraction,
    names: Mapping[str, str] = _OWN_NAMES,
) -> None:
    """Remember a dataset as an input, with the schema seen of it."""
    schema = tuple([schema_field(names.get(column.name, column.name), column.type) for column in output])
    extraction.datasets[replace(description, schema=schema)] = None


def _columns(
    node: Operator,
    descriptions: tuple[DatasetDescription, ...],
    extraction: Extraction,
    names: Mapping[str, str] = _OWN_NAMES,
) -> Rows:
    columns = node.expressions("output")
    hidden = [column.expr_id for column in columns if column.values.get("metadataColumn")]
    shown = [column for column in columns if not column.values.get("metadataColumn")] if hidden else columns
    output, unread = tuple(map(attribute, shown)), _OF_CHANGES if _has_changes(node) else ()
    origin = _origins(descriptions, extraction)
    traces = {
        column.expr_id: NOTHING if column.name in unread else origin(names.get(column.name, column.name), column.type)
        for column in output
    }
    traces.update(_unparsed(node, traces))
    return Rows(output, {**traces, **dict.fromkeys(hidden, NOTHING)})


def _unparsed(node: Operator, traces: Mapping[int, Trace]) -> Iterator[tuple[int, Paths]]:
    """The column with the text of rows that cannot be parsed: it is made of all others."""
    corrupt = node.facts("relation").get("corrupt")
    columns = node.expressions("output") if corrupt else ()
    for column in (column for column in columns if column.label == corrupt):
        others = union(flat(trace) for key, trace in traces.items() if key != column.expr_id)
        if others:
            yield column.expr_id, step(TRANSFORMED, others)


def _has_changes(node: Operator) -> bool:
    """True for a change data feed of Delta and the changelog of Iceberg: rows of a table, and what became of them."""
    return bool(node.facts("relation").get("changes") or node.facts("table").get("changes"))


def _origins(descriptions: tuple[DatasetDescription, ...], extraction: Extraction) -> Callable[[str, str], Trace]:
    """The trace of a column of the datasets, by its name and type."""
    datasets = [description.dataset for description in descriptions]
    if extraction.nested:
        return lambda name, kind: merge(packed_column(dataset, name, kind) for dataset in datasets)
    known = [_columns_of(dataset) for dataset in datasets]
    return lambda name, _: union([columns[name] for columns in known])


class _Columns(dict[str, Paths]):
    """The traces of a dataset's columns: one object for the same column, since a job reads the same tables again."""

    def __init__(self, dataset: Dataset) -> None:
        super().__init__()
        self._dataset = dataset

    def __missing__(self, name: str) -> Paths:
        return self.setdefault(name, source(InputField(self._dataset, name)))


_columns_of = lru_cache(maxsize=64)(_Columns)


# The columns that a table's changes have and the table has not (CDCReader, MetadataColumns).
_OF_CHANGES = (
    "_change_ordinal",
    "_change_type",
    "_commit_snapshot_id",
    "_commit_timestamp",
    "_commit_version",
)

OPERATORS: Visitors = {
    "CloneTableCommand": cloned,
    "DataSourceV2Relation": v2_relation,
    "HiveTableRelation": hive_relation,
    "LogicalRelation": logical_relation,
    "View": view,
    **dict.fromkeys(
        (
            "CommandResult",
            "OneRowRelation",
            "Range",
            "ResolvedIdentifier",
            "ResolvedNamespace",
            "ResolvedTable",
            "ResolvedV2View",
            "UnresolvedProcedure",
        ),
        constant,
    ),
}
