"""Rows of an RDD: exact where a checkpoint is known, opaque where a DataFrame or files are behind it."""

from dataclasses import replace

from headwater.extract.operators.table import Visitors
from headwater.extract.origins import Origin, batch_of, collected_as, has_variables
from headwater.extract.relations import naming
from headwater.extract.relations.naming import Facts
from headwater.extract.scope import Attribute, Extraction, Rows, attribute
from headwater.extract.trace import NOTHING, OPAQUE, Paths, received, union
from headwater.model import InputField, SchemaField
from headwater.plan import Operator

PROGRAM = "rows of the program"
STATISTICS = "statistics of MLlib"
_TEXT = ("value",)


def logical_rdd(node: Operator, children: tuple[Rows, ...], extraction: Extraction) -> Rows:
    """``df.checkpoint()``, ``createDataFrame(rdd)``, ``rdd.toDF()``."""
    facts = node.facts("rdd")
    output = tuple(map(attribute, node.expressions("output")))
    known = _known(facts.get("rdd", -1), extraction) or _batch(facts.get("rdd", -1), output, extraction)
    return remembered(output, known, extraction) if known else _opaque(output, facts, extraction)


def remembered(output: tuple[Attribute, ...], origin: Origin, extraction: Extraction) -> Rows:
    """Rows that another query made, under the columns of a leaf, by position."""
    _note(origin, extraction)
    traces = zip(output, origin.columns, strict=False)
    return Rows(output, {column.expr_id: trace for column, trace in traces}, origin.deciding)


def _batch(rdd: int, output: tuple[Attribute, ...], extraction: Extraction) -> Origin | None:
    """The batch in ``foreachBatch``; joined with itself, one side has new exprIds, but the RDD is the same."""
    found = extraction.origin(batch_of(column.expr_id for column in output))
    if found is not None and rdd >= 0:
        extraction.batches[rdd] = found
    return found or extraction.batches.get(rdd)


def local_relation(node: Operator, children: tuple[Rows, ...], extraction: Extraction) -> Rows:
    """``VALUES``, rows that the program handed to ``createDataFrame``, or a number that MLlib computed of a column."""
    output = tuple(map(attribute, node.expressions("output")))
    if (known := _collected(output, extraction)) is not None:
        why = "it was computed by the driver: every row of every input column counts"
        return _made_of(known, output, STATISTICS, why, extraction)
    if node.values.get("program"):
        _report_program(extraction)
    elif output and has_variables(extraction.session.get("id"), extraction.origins):
        why = "queries have filled variables of its session; of one that VALUES names, analysis leaves only the value"
        extraction.report("relation", "VALUES", why)
    return _of_nothing(output)


def _collected(output: tuple[Attribute, ...], extraction: Extraction) -> Origin | None:
    return extraction.origin(collected_as(output[0].expr_id)) if output else None


def _of_nothing(output: tuple[Attribute, ...]) -> Rows:
    return Rows(output, {column.expr_id: NOTHING for column in output})


def _made_of(origin: Origin, output: tuple[Attribute, ...], what: str, why: str, extraction: Extraction) -> Rows:
    """Each column depends on every column of what was collected."""
    _note(origin, extraction)
    extraction.report("opaque", what, why)
    made = received(origin.everything)
    return Rows(output, {column.expr_id: made for column in output}, origin.deciding)


def _opaque(output: tuple[Attribute, ...], facts: Facts, extraction: Extraction) -> Rows:
    """Every column depends on every column of the DataFrames and the files that the RDD is made of."""
    origins = [origin for rdd in facts.get("known", ()) if (origin := _known(rdd, extraction)) is not None]
    for origin in origins:
        _note(origin, extraction)
    files = [_files(source, extraction) for source in facts.get("sources", ()) if source.get("paths")]
    seen = [*(origin.everything for origin in origins), *files]
    if seen:
        extraction.report("opaque", "RDD", "what the functions of an RDD do with its rows cannot be seen")
    if len(origins) < len(facts.get("known", ())):
        extraction.report("budget", "RDD", "what its rows were made of was forgotten, as there are too many RDDs")
    _report_others(facts, extraction)
    made = received(union(seen))
    return Rows(output, {c.expr_id: made for c in output}, union(origin.deciding for origin in origins))


def _known(rdd: int, extraction: Extraction) -> Origin | None:
    return extraction.origin(rdd)


def _note(origin: Origin, extraction: Extraction) -> None:
    """Report the inputs and the gaps of the query that made the rows as inputs and gaps of this one."""
    extraction.datasets.update(dict.fromkeys(origin.datasets))
    extraction.gaps.update(dict.fromkeys(origin.gaps))


def _files(source: Facts, extraction: Extraction) -> Paths:
    """The files that an RDD reads: ``spark.sparkContext.textFile(…)`` has the column of a text file."""
    names = tuple(source.get("columns") or _TEXT)
    found = naming.path_descriptions(source["paths"], extraction)
    for description in found:
        extraction.datasets[replace(description, schema=tuple(map(SchemaField, names)))] = None
    return frozenset((InputField(one.dataset, name), OPAQUE) for one in found for name in names)


def _report_others(facts: Facts, extraction: Extraction) -> None:
    names = {str(source["class"]) for source in facts.get("sources", ()) if not source.get("paths")}
    if "rdd" not in facts:
        names.add("LogicalRDD")
    if "ParallelCollectionRDD" in names:
        _report_program(extraction)
    for name in sorted(names - {"ParallelCollectionRDD", "EmptyRDD"}):
        extraction.report("relation", name, "its rows come from an RDD: what they were made of is not known")


def _report_program(extraction: Extraction) -> None:
    why = "the program had them in memory: what it made them of, collected rows perhaps, cannot be seen"
    extraction.report("relation", PROGRAM, why)


def transposed(node: Operator, children: tuple[Rows, ...], extraction: Extraction) -> Rows:
    """``df.transpose()``: rows are columns now, and which goes where the rows alone know."""
    output = tuple(map(attribute, node.expressions("output")))
    rows = next(iter(children), None)
    seen = Origin(tuple(map(rows.column, range(len(rows.output)))), rows.deciding) if rows else None
    known = seen or _collected(output, extraction)
    if known is None:
        extraction.report("relation", "Transpose", "its rows were collected: what they were made of is not known")
        return _of_nothing(output)
    return _made_of(known, output, "Transpose", "each row became a column: every input column counts", extraction)


OPERATORS: Visitors = {
    "ExternalRDD": logical_rdd,
    "LocalRelation": local_relation,
    "LogicalRDD": logical_rdd,
    "Transpose": transposed,
}
