"""Answers as rows, for CSV. ``guess`` adds a column of that name, which marks guesses."""

import csv
import io
from collections.abc import Iterable, Iterator, Sequence

from headwater.model import Dataset, Job, Transformation
from headwater.store.questions import (
    Column,
    ColumnChanges,
    Coverage,
    DatasetGraph,
    Difference,
    Graph,
    Hop,
    Impact,
    Paths,
    PathTransformation,
    Roots,
)

Row = tuple[object, ...]
Sheet = tuple[tuple[str, ...], list[Row]]
"""A header and the rows below it."""

_GUESS = "guess"
_TRANSFORMATION = ("type", "subtype", "masking", "opaque", _GUESS)
_OUTPUT = ("output_namespace", "output_dataset", "output_field")
_HOP = (
    *("input_namespace", "input_dataset", "input_field", *_OUTPUT),
    *(*_TRANSFORMATION, "description", "job_namespace", "job"),
)
_PATH_TRANSFORMATION = (*_TRANSFORMATION, "whole_dataset")


def csv_lines(header: Sequence[str], rows: Iterable[Sequence[object]]) -> Iterator[str]:
    """Return rows as CSV (RFC 4180, but one ``\\n`` at the end of a line)."""
    for row in (header, *rows):
        line = io.StringIO()
        csv.writer(line, lineterminator="").writerow(row)
        yield line.getvalue()


def roots_sheet(answer: Roots, *, guess: bool = False) -> Sheet:
    """A row for each root and each transformation on the path to it."""
    header = ("namespace", "dataset", "field", *_PATH_TRANSFORMATION, "origin", "distance", "jobs")
    rows = [
        (*_column(root.column), *_path(path), root.origin.value, root.distance, _jobs(root.jobs))
        for root in answer.roots
        for path in root.transformations
    ]
    return _sheet(header, rows, guess=guess)


def graph_sheet(answer: Graph, *, guess: bool = False) -> Sheet:
    """A row for each transformation of each hop; no ``output_field`` where it acts on every column."""
    return _sheet(_HOP, list(_hops(answer.hops)), guess=guess)


def impact_sheet(answer: Impact, *, guess: bool = False) -> Sheet:
    """A row for each impacted column and each transformation on the path; no ``field`` where no column is known."""
    header = ("namespace", "dataset", "field", *_PATH_TRANSFORMATION, "distance", "jobs")
    rows: list[Row] = []
    for one in answer.datasets:
        known, jobs = one.dataset.dataset, _jobs(one.jobs)
        rows += [(known.namespace, known.name, "", *_path(path), one.distance, jobs) for path in one.transformations]
        for column in one.columns:
            rows += [(*_column(column.column), *_path(path), column.distance, jobs) for path in column.transformations]
    return _sheet(header, rows, guess=guess)


def paths_sheet(answer: Paths, *, guess: bool = False) -> Sheet:
    """A row for each transformation of each step; paths and steps are counted from 1."""
    rows = [
        (number, place, *row)
        for number, path in enumerate(answer.paths, 1)
        for place, step in enumerate(path.steps, 1)
        for row in _hops(step)
    ]
    return _sheet(("path", "step", *_HOP), rows, guess=guess)


def dataset_graph_sheet(answer: DatasetGraph, *, guess: bool = False) -> Sheet:
    """A row for each transformation between two datasets; ``edges`` counts those of all transformations."""
    header = (
        "input_namespace",
        "input_dataset",
        "output_namespace",
        "output_dataset",
        *_TRANSFORMATION,
        "edges",
        "jobs",
    )
    rows = []
    for hop in answer.hops:
        source, output = hop.input.dataset, hop.output.dataset
        ends = (source.namespace, source.name, output.namespace, output.name)
        rows += [(*ends, *_how(one), hop.edges, _jobs(hop.jobs)) for one in hop.transformations]
    return _sheet(header, rows, guess=guess)


def difference_sheet(answer: Difference) -> Sheet:
    """A row for each transformation of each step that was added, removed or changed; earlier ones as ``changed from``.

    Then one for each column that did so: ``column added``, its name as the output, its type in ``column_type``.
    """
    rows = [("added", *row, "") for row in _hops(answer.added)]
    rows += [("removed", *row, "") for row in _hops(answer.removed)]
    for one in answer.changed:
        rows += [("changed from", *row, "") for row in _hops([one.before])]
        rows += [("changed to", *row, "") for row in _hops([one.after])]
    rows += [_changed_column(change, column) for change, column in _changed_columns(answer.columns)]
    return _sheet(("change", *_HOP, "column_type"), rows, guess=False)


def _changed_columns(changes: ColumnChanges) -> Iterator[tuple[str, Column]]:
    yield from (("column added", column) for column in changes.added)
    yield from (("column removed", column) for column in changes.removed)
    for one in changes.changed:
        yield "column changed from", one.before
        yield "column changed to", one.after


def _changed_column(change: str, column: Column) -> Row:
    row = dict.fromkeys(_HOP, "") | dict(zip(_OUTPUT, _column(column), strict=True))
    return change, *row.values(), column.type


def coverage_sheet(outputs: Iterable[Coverage]) -> Sheet:
    """A row for each gap of each output, and one for an output without gaps."""
    rows: list[Row] = []
    for one in outputs:
        dataset = one.output.dataset if one.output is not None else Dataset("", "")
        start = (one.covered.value, dataset.namespace, dataset.name, one.job.name, one.run)
        rows += [(*start, gap.kind, gap.what, gap.why) for gap in one.gaps] or [(*start, "", "", "")]
    return ("coverage", "namespace", "dataset", "job", "run", "kind", "what", "why"), rows


def _sheet(header: tuple[str, ...], rows: list[Row], *, guess: bool) -> Sheet:
    """Return the sheet, without the column for guesses unless it is wanted."""
    if guess:
        return header, rows
    place = header.index(_GUESS)
    return header[:place] + header[place + 1 :], [row[:place] + row[place + 1 :] for row in rows]


def _hops(hops: Iterable[Hop]) -> Iterator[Row]:
    for hop in hops:
        dataset = hop.output_dataset.dataset
        output = (dataset.namespace, dataset.name, hop.output.name if hop.output is not None else "")
        for one in hop.transformations:
            yield (*_column(hop.input), *output, *_how(one), one.description, hop.job.namespace, hop.job.name)


def _column(column: Column) -> Row:
    dataset = column.dataset.dataset
    return dataset.namespace, dataset.name, column.name


def _how(transformation: Transformation) -> Row:
    return (
        transformation.subtype.type.value,
        transformation.subtype.value,
        transformation.masking,
        transformation.opaque,
        transformation.guess,
    )


def _path(transformation: PathTransformation) -> Row:
    return *_how(transformation.transformation), transformation.whole_dataset


def _jobs(jobs: Iterable[Job]) -> str:
    return " ".join(job.name for job in jobs)
