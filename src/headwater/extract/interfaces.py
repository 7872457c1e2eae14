"""What an operator told by OpenLineage's JVM interfaces for Spark extensions, as `headwater.ext.NodeLineage`.

The JVM side (``capture/jvm/Asked.java``) writes it into the field ``openlineage`` of the operator: the nodes that it
names among the references, all else among the values. ``InputLineageNode`` tells ``inputs``, ``OutputLineageNode``
``outputs``, ``ColumnLevelLineageNode`` ``fieldsRead``, ``fieldsWritten`` and ``dependencies``, and a relation or its
provider (``LineageRelation``, ``LineageRelationProvider``) ``relation``.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any

from headwater.ext import ExpressionDependency, InputRelation, NodeLineage, OutputRelation
from headwater.extract.relations.given import described, given_facets
from headwater.extract.scope import Extraction
from headwater.model import Dataset, DatasetDescription
from headwater.plan import Expression, Operator

FIELD = "openlineage"
_UNKNOWN = -2  # the exprId of no column: a dependency upon it is one upon everything
_NOWHERE = DatasetDescription(Dataset("", ""))


def told_by_interfaces(node: Operator, extraction: Extraction) -> NodeLineage | None:
    """What an operator told of itself; None where it has none of the interfaces, or told nothing by them.

    What could not be asked or read is reported as a gap of the kind ``extension``.
    """
    facts = node.facts(FIELD)
    for what, why in facts.get("gaps") or ():
        extraction.report("extension", str(what), str(why))
    try:
        found = _Answers(node, facts, extraction).lineage()
    except Exception as error:
        extraction.report("extension", node.name, f"what it told of itself could not be read: {error!r}")
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
        dependencies = tuple(self._dependencies()) if self._tells_columns() else None
        return NodeLineage(inputs, outputs, dependencies)

    def _tells_columns(self) -> bool:
        """An empty list of dependencies, with no fields either, is what those give who have nothing to tell."""
        found = self._facts.get("dependencies")
        return found is not None and bool(found or self._facts.get("fieldsRead"))

    def _inputs(self) -> Iterator[InputRelation]:
        """The datasets of ``getInputs`` with the fields that are told of them; then those told by fields alone."""
        fields: dict[Dataset, dict[int, str]] = {}
        descriptions: dict[Dataset, DatasetDescription] = {}
        for one in self._facts.get("fieldsRead") or ():
            description = None if "delegate" in one else self._described(one["dataset"])
            if description:
                descriptions.setdefault(description.dataset, description)
                fields.setdefault(description.dataset, {})[one["id"]] = one["field"]
        for dataset, added in self._told("inputs", "input"):
            if isinstance(dataset, Operator):
                yield InputRelation(dataset, added=added)
            else:
                yield InputRelation(added, fields.pop(dataset.dataset, {}))
        for key, names in fields.items():
            yield InputRelation(descriptions[key], names)

    def _delegated(self, written: frozenset[Operator]) -> Iterator[InputRelation]:
        """Operators whose columns are read, but for those below, which are read anyway, and what is written."""
        known = {*self._node.inputs, self._node.operator("query"), *written}
        for one in self._facts.get("fieldsRead") or ():
            found = self._delegate(one) if "delegate" in one else None
            if isinstance(found, Operator) and found not in known:
                yield InputRelation(found)

    def _outputs(self) -> Iterator[OutputRelation]:
        fields = tuple((one["field"], one["id"]) for one in self._facts.get("fieldsWritten") or () if "field" in one)
        for dataset, added in self._told("outputs", "output"):
            if isinstance(dataset, Operator):
                yield OutputRelation(dataset, fields, added)
            else:
                yield OutputRelation(added, fields)

    def _told(self, name: str, side: str) -> Iterator[tuple[Operator | DatasetDescription, DatasetDescription]]:
        """Each dataset of a list, or the operator that stands for it; and its description with the facets given."""
        for one in self._facts.get(name) or ():
            dataset = self._delegate(one) if "delegate" in one else self._described(one["dataset"])
            if isinstance(dataset, Expression):
                self._report("a dataset was delegated to an expression")
            elif dataset is not None:
                own = dataset if isinstance(dataset, DatasetDescription) else _NOWHERE
                yield dataset, replace(own, facets=tuple(self._facets(one, side)))

    def _facets(self, one: Mapping[str, Any], side: str) -> Iterator[Any]:
        for key, of in (("facets", "dataset"), ("ownFacets", side)):
            if f"{key}Failed" in one:
                self._report(f"its facets could not be built: {one[f'{key}Failed']}")
            yield from given_facets(one.get(key), of, self._node.name, self._extraction)

    def _dependencies(self) -> Iterator[ExpressionDependency]:
        for one in self._facts["dependencies"]:
            inputs: Iterable[int | Expression] = one.get("inputs") or ()
            if "delegate" in one:
                found = self._delegate(one)
                inputs = (found if isinstance(found, Expression) else _UNKNOWN,)
            yield ExpressionDependency(one["output"], tuple(inputs))

    def _delegate(self, one: Mapping[str, Any]) -> Any:
        place = one["delegate"]
        found = self._delegates[place] if place < len(self._delegates) else None
        if found is None:
            self._report("it delegated to itself, or to what contains it")
        return found

    def _described(self, identifier: Mapping[str, Any]) -> DatasetDescription | None:
        found = described(identifier)
        if found is None:
            self._report("it told a dataset without a namespace or a name")
        return found

    def _report(self, why: str) -> None:
        self._extraction.report("extension", self._node.name, why)
