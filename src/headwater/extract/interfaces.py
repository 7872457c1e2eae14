"""The answers of operators to OpenLineage's JVM interfaces for Spark extensions, as `headwater.ext.NodeLineage`.

The JVM side (``capture/jvm/InterfaceCall.java``) writes them into the field ``openlineage`` of the operator: the nodes
that it names among the references, all else among the values. ``InputLineageNode`` has ``inputs``,
``OutputLineageNode`` ``outputs``, ``ColumnLevelLineageNode`` ``fieldsRead``, ``fieldsWritten`` and ``dependencies``,
and a relation or its provider (``LineageRelation``, ``LineageRelationProvider``) ``relation``.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from headwater.ext import EVERY_ROW, ExpressionDependency, InputRelation, NodeLineage, OutputRelation
from headwater.extract.operators.opaque import output_of
from headwater.extract.relations.connector_names import described, facets_of_connector
from headwater.extract.scope import Extraction
from headwater.model import Dataset, DatasetDescription, SchemaField
from headwater.plan import Expression, Operator

FIELD = "openlineage"
_UNKNOWN = -2  # the exprId of no column: a dependency upon it is one upon everything
_NOWHERE = DatasetDescription(Dataset("", ""))


def interface_answers(node: Operator, extraction: Extraction) -> NodeLineage | None:
    """The answers of an operator; None where it has none of the interfaces, or answers nothing.

    What could not be asked or read is reported as a gap of the kind ``extension``.
    """
    facts = node.facts(FIELD)
    for what, why in facts.get("gaps") or ():
        extraction.report("extension", str(what), str(why))
    try:
        found = _Answers(node, facts, extraction).lineage()
    except Exception as error:
        extraction.report("extension", node.name, f"its own description could not be read: {error!r}")
        return None
    return None if found == NodeLineage() else found


class _Answers:
    """Reads the answers of one operator."""

    def __init__(self, node: Operator, facts: Mapping[str, Any], extraction: Extraction) -> None:
        self._node = node
        self._facts = facts
        self._extraction = extraction
        self._delegates = node.references.get(FIELD) or ()

    def lineage(self) -> NodeLineage:
        outputs = tuple(self._outputs())
        written = frozenset(one.dataset for one in outputs if isinstance(one.dataset, Operator))
        inputs = (*self._inputs(), *self._delegated(written))
        dependencies = self._dependencies() if self._knows_columns() else None
        return NodeLineage(inputs, outputs, dependencies, unseen_rows=dependencies is not None)

    def _knows_columns(self) -> bool:
        """An empty list of dependencies, with no fields either, is the answer of those who know nothing."""
        found = self._facts.get("dependencies")
        return found is not None and bool(found or self._facts.get("fieldsRead"))

    def _inputs(self) -> Iterator[InputRelation]:
        """The datasets of ``getInputs`` with the fields that are named of them; then those of fields alone."""
        fields: dict[Dataset, list[tuple[int, str]]] = {}
        descriptions: dict[Dataset, DatasetDescription] = {}
        for one in self._facts.get("fieldsRead") or ():
            description = None if "delegate" in one else self._described(one["dataset"])
            if description:
                descriptions.setdefault(description.dataset, description)
                fields.setdefault(description.dataset, []).append((one["id"], one["field"]))
        for dataset, added in self._described_datasets("inputs", "input"):
            if isinstance(dataset, Operator):
                yield InputRelation(dataset, added=added)
            else:
                yield from self._with_fields(added, fields.get(dataset.dataset, ()))
                descriptions.pop(dataset.dataset, None)
        for key, description in descriptions.items():
            yield from self._with_fields(description, fields[key])

    def _with_fields(self, dataset: DatasetDescription, fields: Sequence[tuple[int, str]]) -> Iterator[InputRelation]:
        """The dataset with the fields behind exprIds; of several fields behind one, each may be it."""
        known = replace(dataset, schema=tuple(SchemaField(name) for name in dict.fromkeys(name for _, name in fields)))
        rounds: list[dict[int, str]] = []
        for key, name in dict.fromkeys(fields):
            if not self._is_id(key):
                continue
            free = next((one for one in rounds if key not in one), None)
            if free is None:
                rounds.append(free := {})
            free[key] = name
        yield from (InputRelation(known, one) for one in rounds or ({},))

    def _delegated(self, written: frozenset[Operator]) -> Iterator[InputRelation]:
        """Operators whose columns are read, but for those below, which are read anyway, and what is written."""
        known = {*self._node.inputs, self._node.operator("query"), *written}
        for one in self._facts.get("fieldsRead") or ():
            found = self._delegate(one) if "delegate" in one else None
            if isinstance(found, Operator) and found not in known:
                yield InputRelation(found)

    def _outputs(self) -> Iterator[OutputRelation]:
        facts = self._facts.get("fieldsWritten") or ()
        fields = tuple((one["field"], self._id(one["id"])) for one in facts if "field" in one)
        found = [self._delegate(one) for one in facts if "delegate" in one]
        others = tuple(dict.fromkeys(one if isinstance(one, Operator) else self._node for one in found))
        for dataset, added in self._described_datasets("outputs", "output"):
            if isinstance(dataset, Operator):
                yield OutputRelation(dataset, fields, added, others)
            else:
                yield OutputRelation(added, fields, columns_of=others)

    def _described_datasets(
        self, name: str, side: str
    ) -> Iterator[tuple[Operator | DatasetDescription, DatasetDescription]]:
        """Each dataset of a list, or the operator that stands for it; and its description with the facets given."""
        for one in self._facts.get(name) or ():
            dataset = self._delegate(one) if "delegate" in one else self._described(one["dataset"])
            if isinstance(dataset, Expression):
                self._report("a dataset was delegated to an expression")
            elif dataset is not None:
                own = dataset if isinstance(dataset, DatasetDescription) else _NOWHERE
                yield dataset, replace(own, facets=tuple(self._facets(one, side)))

    def _facets(self, relation: Mapping[str, Any], side: str) -> Iterator[Any]:
        for key, of in (("facets", "dataset"), ("ownFacets", side)):
            if f"{key}Failed" in relation:
                self._report(f"its facets could not be built: {relation[f'{key}Failed']}")
            yield from facets_of_connector(relation.get(key), of, self._node.name, self._extraction)

    def _dependencies(self) -> tuple[ExpressionDependency, ...]:
        """The answers about each column; one about an exprId that no column has may be about any."""
        facts = [(one["output"], self._depends_upon(one)) for one in self._facts["dependencies"]]
        found = [ExpressionDependency(output, inputs) for output, inputs in facts if self._is_id(output)]
        if len(found) == len(facts):
            return tuple(found)
        shown = [column.expr_id for column in output_of(self._node)]
        written = [self._id(one["id"]) for one in self._facts.get("fieldsWritten") or () if "field" in one]
        columns = dict.fromkeys((*shown, *written, *(one.output for one in found)))
        return (*found, *(ExpressionDependency(column, (_UNKNOWN,)) for column in columns))

    def _depends_upon(self, dependency: Mapping[str, Any]) -> tuple[int | Expression, ...]:
        if "delegate" in dependency:
            found = self._delegate(dependency)
            return (found if isinstance(found, Expression) else _UNKNOWN,)
        return tuple(map(self._id, dependency.get("inputs") or ()))

    def _id(self, key: int) -> int:
        return key if self._is_id(key) else _UNKNOWN

    def _is_id(self, key: object) -> bool:
        """Whether it may be an exprId, Spark's or one that the connector made up for a field without a column."""
        if type(key) is int and key not in (EVERY_ROW, _UNKNOWN):
            return True
        self._report(f"it names the exprId {key!r}, which no column can have: every input column counts")
        return False

    def _delegate(self, dependency: Mapping[str, Any]) -> Any:
        place = dependency["delegate"]
        found = self._delegates[place] if place < len(self._delegates) else None
        if found is None:
            self._report("it delegated to itself, or to what contains it")
        return found

    def _described(self, identifier: Mapping[str, Any]) -> DatasetDescription | None:
        found = described(identifier)
        if found is None:
            self._report("it names a dataset without a namespace or a name")
        return found

    def _report(self, why: str) -> None:
        self._extraction.report("extension", self._node.name, why)
