"""The lineage that earlier statements of an application have written to a dataset, and that may still be there.

All statements of an application that write to one target are one job, and of a job the latest run counts. A statement
that leaves rows of before (an INSERT after another) therefore brings along the lineage of those before it, until one
replaces all rows.
"""

from dataclasses import dataclass, field, replace

from headwater.model import ColumnLineage, Dataset, Output, ReplacedRows, RunMoment, RunState

_Key = tuple[str, Dataset]
_WRITTEN = (RunState.COMPLETE, RunState.RUNNING)


@dataclass(slots=True)
class EarlierWrites:
    """The lineage of the rows that each job of one application has written, by job and target."""

    _lineages: dict[_Key, ColumnLineage] = field(default_factory=dict)

    def with_earlier(self, moment: RunMoment) -> RunMoment:
        """The moment of a run that has written, with what was in its outputs by earlier runs of its job."""
        statement = moment.statement
        if moment.state not in _WRITTEN or statement is None or not statement.outputs:
            return moment
        outputs = tuple(self._output(moment.run.job.name, output) for output in statement.outputs)
        return replace(moment, statement=replace(statement, outputs=outputs))

    def _output(self, job: str, output: Output) -> Output:
        dataset, replaces = output.description.dataset, output.description.replaces
        if replaces is None:
            return output
        if replaces is ReplacedRows.ALL or output.restores:
            # Drop what was written to a dataset: none of it is left, or what a version had that is restored
            for key in [key for key in self._lineages if key[1] == dataset]:
                del self._lineages[key]
        if output.restores is not None:
            return output
        before = self._lineages.get((job, dataset))
        self._lineages[job, dataset] = output.lineage if before is None else _union(before, output.lineage)
        return output if before is None or _covers(output.lineage, before) else replace(output, earlier=before)


def _union(one: ColumnLineage, other: ColumnLineage) -> ColumnLineage:
    if _covers(one, other):
        return one
    fields = {name: one.fields.get(name, frozenset()) | edges for name, edges in other.fields.items()}
    return ColumnLineage({**one.fields, **fields}, one.dataset | other.dataset)


def _covers(one: ColumnLineage, other: ColumnLineage) -> bool:
    """Whether every edge of ``other`` is one of ``one`` too."""
    fields = all(edges <= one.fields.get(name, frozenset()) for name, edges in other.fields.items())
    return fields and other.dataset <= one.dataset
