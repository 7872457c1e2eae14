"""The end of an RDD: it is saved to a folder, or a function or the program takes its rows.

The operators are headwater's own (``capture/jvm/RddAction.java``), since Spark has no plan of these: below each is a
LogicalRDD, whose columns are those that a reader of the folder finds. Lines of ``df.toJSON()`` are read in two ways: as
``value``, and as the columns of the frame.
"""

from collections.abc import Sequence
from dataclasses import replace

from headwater.extract.relations import naming
from headwater.extract.scope import Extraction
from headwater.extract.written import query, written
from headwater.model import Output
from headwater.plan import Operator

SAVED = (
    "SaveAsHadoopDataset",
    "SaveAsHadoopFile",
    "SaveAsNewAPIHadoopDataset",
    "SaveAsNewAPIHadoopFile",
    "SaveAsPickleFile",
    "SaveAsSequenceFile",
    "SaveAsTextFile",
)
TAKEN = ("Foreach", "ForeachPartition")
READ = "RunJob"


def to_hadoop(node: Operator, extraction: Extraction) -> Sequence[Output]:
    """``rdd.saveAsTextFile(path)`` and its kin."""
    path = node.text("path")
    target = naming.written_path(path, extraction) if path else None
    return [_each_once(output) for output in written(target, query(node, extraction), None, "", extraction)]


def _each_once(output: Output) -> Output:
    """A frame that is saved as JSON may have a column ``value``, which the lines of text are called too."""
    description = output.description
    return replace(output, description=replace(description, schema=tuple(dict.fromkeys(description.schema))))


def to_program(node: Operator, extraction: Extraction) -> Sequence[Output]:
    """``rdd.count()``, ``rdd.collect()``: the program has the result."""
    return ()


def to_function(node: Operator, extraction: Extraction) -> Sequence[Output]:
    """``foreach`` and ``foreachPartition`` of an RDD or a DataFrame."""
    what = "foreachPartition" if node.name == "ForeachPartition" else "foreach"
    extraction.report("opaque", what, "its rows are handed to a function: what it writes cannot be seen")
    return ()
