"""Answers as trees."""

from collections.abc import Iterable

from rich.text import Text

from headwater.answers.labels import Labels, field, readable
from headwater.answers.transformations import Kind, expressions_text, transformation_parts
from headwater.cli.output import Branch, aligned
from headwater.model import Job
from headwater.store.questions import (
    Column,
    End,
    Evidence,
    Hop,
    Impact,
    KnownDataset,
    Origin,
    Paths,
    PathTransformation,
    Root,
    Roots,
)

_STYLES = {Kind.DIRECT: "green", Kind.INDIRECT: "yellow", Kind.MARK: "magenta", Kind.ASIDE: "dim"}
_EVIDENCE = {
    Evidence.UNWRITTEN: "no known job writes it",
    Evidence.LITERAL: "made without reading a column",
    Evidence.PARTIAL: "no input known, and its run's lineage has gaps, see: headwater coverage",
    Evidence.NO_LINEAGE: "lineage unknown from here on, see: headwater coverage",
    Evidence.UNNAMED: "no known run wrote a column of that name",
    Evidence.REPLACED: "its dataset was replaced, and what is in it now is not known to have it",
    Evidence.CYCLE: "made from itself only",
    Evidence.FILTERED: "what stands before it was filtered out",
}


def roots_tree(answer: Roots) -> Branch:
    """Return one line for each root: transformations, column, dataset, applications."""
    labels = Labels({answer.column.dataset, *(root.column.dataset for root in answer.roots)})
    rows = [_root_cells(root, labels) for root in answer.roots]
    tree = Branch(heading(answer.column, labels), [Branch(line) for line in aligned(rows)] if rows else [])
    if answer.origin is not None:
        tree.children.append(Branch(Text(f"a root itself: {evidence_text(answer)}", style="dim")))
    return tree


def _root_cells(root: Root, labels: Labels) -> list[Text]:
    column = Text(labels.column(root.column), style="bold")
    where = Text(readable(str(root.column.dataset)), style="dim")
    marks = [] if root.origin is Origin.SOURCE else [evidence_text(root)]
    marks += [f"possibly replaced by {root.possibly_replaced[-1].job.name}"] if root.possibly_replaced else []
    mark = f"({'; '.join(marks)})" if marks else ""
    return [
        styled_transformations(root.transformations),
        column,
        where,
        via(root.applications),
        Text(mark, style="dim"),
    ]


def evidence_text(end: Root | Roots | End) -> str:
    """Return the evidence on a column with nothing before it, and similar names."""
    near = f"; near: {', '.join(readable(str(one)) for one in end.near)}" if end.near else ""
    return f"{_EVIDENCE[end.evidence]}{near}" if end.evidence is not None else ""


def impact_tree(answer: Impact) -> Branch:
    """Return the dependent datasets, the nearest first, with their columns below."""
    start = answer.start if isinstance(answer.start, KnownDataset) else answer.start.dataset
    labels = Labels({start, *(one.dataset for one in answer.datasets)})
    tree = Branch(heading(answer.start, labels))
    for one in answer.datasets:
        parts = [heading(one.dataset, labels), styled_transformations(one.transformations), via(one.jobs)]
        line = Text("  ").join(part for part in parts if part.plain)
        rows = [
            [Text(field(column.column.name, column.column.path)), styled_transformations(column.transformations)]
            for column in one.columns
        ]
        tree.children.append(Branch(line, [Branch(row) for row in aligned(rows)]))
    if not answer.datasets:
        tree.children.append(Branch(Text("nothing known depends on it", style="dim")))
    return tree


def paths_tree(answer: Paths) -> Branch:
    """Return each path with a line for each step: column, transformations, jobs."""
    columns = [column for path in answer.paths for column in path.columns]
    labels = Labels({one.dataset for one in (answer.source, answer.target, *columns)})
    title = Text.assemble((labels.column(answer.source), "bold"), " → ", (labels.column(answer.target), "bold"))
    tree = Branch(title)
    for path in answer.paths:
        rows = [_step_cells(column, step, labels) for column, step in zip(path.columns[1:], path.steps, strict=True)]
        steps = len(path.steps)
        line = Text(f"{steps} step{'s' if steps != 1 else ''}", style="dim")
        tree.children.append(Branch(line, [Branch(row) for row in aligned(rows)] if rows else []))
    if not answer.paths:
        tree.children.append(Branch(Text("no path, in neither direction", style="dim")))
    return tree


def _step_cells(column: Column, step: Iterable[Hop], labels: Labels) -> list[Text]:
    hops = list(step)
    several = [PathTransformation(one, hop.whole_dataset) for hop in hops for one in hop.transformations]
    how = (styled_transformations(several), styled_expressions(several))
    return [Text(labels.column(column)), *how, via(hop.job for hop in hops)]


def heading(start: Column | KnownDataset, labels: Labels) -> Text:
    """Return the first line: the start, and its dataset."""
    dataset = start if isinstance(start, KnownDataset) else start.dataset
    name = labels.dataset(start) if isinstance(start, KnownDataset) else labels.column(start)
    return Text.assemble((name, "bold cyan"), "  ", (readable(str(dataset)), "dim"))


def via(jobs: Iterable[Job]) -> Text:
    """Return the jobs along the path, in the direction of the data; nothing for lineage without a job."""
    jobs_named = [job.name for job in jobs if job.name]
    return Text(f"via {' → '.join(jobs_named)}" if jobs_named else "", style="dim")


def styled_transformations(several: Iterable[PathTransformation]) -> Text:
    """Return the subtypes: those of the column, then those of whole datasets.

    >>> from headwater.model import Subtype, Transformation
    >>> aggregation, join = Transformation(Subtype.AGGREGATION), Transformation(Subtype.JOIN)
    >>> styled_transformations([PathTransformation(aggregation), PathTransformation(join, True)]).plain
    'AGGREGATION, JOIN (dataset)'
    """
    subtypes = (
        Text.assemble(*((part.text, _STYLES[part.kind]) for part in parts)) for parts in transformation_parts(several)
    )
    return Text(", ").join(subtypes)


def styled_expressions(several: Iterable[PathTransformation]) -> Text:
    """Return the SQL texts of the expressions, shortened; nothing where there are none."""
    return Text(readable(expressions_text(several)), style="italic")
