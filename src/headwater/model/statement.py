"""The lineage of one Spark statement: the datasets, the lineage of each output, and what could not be seen."""

from dataclasses import dataclass

from headwater.model.dataset import DatasetDescription
from headwater.model.lineage import ColumnLineage


@dataclass(frozen=True, slots=True)
class Gap:
    """Something the lineage of a statement does not cover, or covers only conservatively.

    ``kind`` is one of: ``operator`` (an operator nobody knows), ``expression`` (one failed),
    ``relation`` (a source without a dataset name), ``opaque`` (a function we cannot see into),
    ``target`` (an output without a name), ``budget`` (a limit cut it), ``dropped`` (the queue was full),
    ``error`` (extraction failed), ``extension`` (one could not be loaded, or broke and is switched off).
    ``what`` names it (an operator class, a function), ``why`` says it to a person.
    """

    kind: str
    what: str
    why: str
    output: str = ""


@dataclass(frozen=True, slots=True)
class Output:
    """One dataset that a statement writes; ``previous`` is its version before, where it has versions.

    ``earlier`` is the lineage of what earlier runs of the job have written to it and the statement leaves there.
    ``restores`` is the version whose rows the dataset has again after the statement, empty where it is not known which,
    and None of statements that restore no rows.
    """

    description: DatasetDescription
    lineage: ColumnLineage
    previous: str = ""
    earlier: ColumnLineage | None = None
    restores: str | None = None


@dataclass(frozen=True, slots=True)
class Statement:
    """The datasets that one SQL execution reads and writes, and the lineage between them."""

    inputs: tuple[DatasetDescription, ...] = ()
    outputs: tuple[Output, ...] = ()
    gaps: tuple[Gap, ...] = ()
