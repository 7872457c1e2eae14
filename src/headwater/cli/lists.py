"""The commands that list what the store knows: datasets, jobs, runs, search, coverage."""

from collections.abc import Sequence
from typing import Annotated

import typer
from rich.text import Text

from headwater.answers.labels import readable
from headwater.answers.spreadsheets import coverage_sheet, csv_lines
from headwater.cli import options
from headwater.cli.options import FormatOption, StoreOption, reading
from headwater.cli.output import Branch, Format, json_lines, note, print_lines, refuse, table, tree_lines
from headwater.model import Job
from headwater.redaction import redact
from headwater.store import Store, questions
from headwater.store.questions import JOB_NAMES, TEXTS, Column, Coverage, Covered, KnownDataset, Match, Place

_TABULAR = (Format.TREE, Format.JSON, Format.CSV)
_STYLES = {Covered.NONE: "red", Covered.PARTIAL: "yellow", Covered.OPAQUE: "magenta", Covered.FULL: "green"}
_MOST = 50
"""The largest number of datasets, of columns, of jobs and of texts that are found."""

_FAILING = frozenset({Covered.NONE, Covered.PARTIAL})

Rows = Sequence[Sequence[object]]


def datasets(store: StoreOption = None, format_: FormatOption = Format.TREE) -> None:
    """List every dataset, with the numbers of its columns and of the jobs that write and read it."""
    with reading(store) as opened:
        listed = questions.datasets(opened)
    rows = [
        (
            one.dataset.dataset.namespace,
            one.dataset.dataset.name,
            one.columns,
            one.written_by,
            one.read_by,
            " ".join(alias.name for alias in one.dataset.aliases),
        )
        for one in listed
    ]
    _print(("namespace", "name", "columns", "written_by", "read_by", "symlinks"), rows, format_)


def jobs(store: StoreOption = None, format_: FormatOption = Format.TREE) -> None:
    """List every job with its latest run, the most recent first."""
    with reading(store) as opened:
        listed = questions.jobs(opened)
    rows = [(one.job.namespace, one.job.name, one.type, one.runs, one.state, options.shown(one.at)) for one in listed]
    _print(("namespace", "name", "type", "runs", "state", "at"), rows, format_)


def runs(
    job: Annotated[str, typer.Option("--job", metavar="TEXT", help="Only runs of jobs whose names contain this.")] = "",
    most: Annotated[int, typer.Option("--most", min=1, metavar="N", help="The largest number of runs.")] = 100,
    store: StoreOption = None,
    format_: FormatOption = Format.TREE,
) -> None:
    """List the latest runs."""
    with reading(store) as opened:
        listed = questions.runs(opened, job=job, most=most)
    rows = [
        (
            one.id,
            one.job.name,
            one.state,
            options.shown(one.started_at),
            options.shown(one.ended_at),
            one.engine,
            one.error and redact(one.error),
        )
        for one in listed
    ]
    _print(("run", "job", "state", "started", "ended", "engine", "error"), rows, format_)


def search(
    text: Annotated[str, typer.Argument(metavar="TEXT", help="A part of a name, or words of a text; in any case.")],
    store: StoreOption = None,
    format_: FormatOption = Format.TREE,
) -> None:
    """Search datasets, columns and jobs: names that contain a text, then tags, descriptions and SQL with its words.

    Every word of the text must be there, or a longer one that begins with it. Where nothing is found, words that no
    name has are taken for typing errors of words that are like them.
    """
    with reading(store) as opened:
        rows = _found(opened, text)
        if not rows and (other := questions.corrected(opened, text)) is not None:
            rows = _found(opened, other)
            note(f"Nothing has {text!r}: this is for {other!r}.")
    _print(("kind", "name", "in", "text"), rows, format_)


def coverage(
    run: Annotated[str, typer.Argument(metavar="[RUN]", help="The beginning or end of a run's id.")] = "",
    fail: Annotated[
        bool, typer.Option("--fail", help="Exit with 1 when an output has no lineage or only part of it.")
    ] = False,
    fail_opaque: Annotated[
        bool, typer.Option("--fail-opaque", help="As --fail, and also when lineage is complete but opaque.")
    ] = False,
    store: StoreOption = None,
    format_: FormatOption = Format.TREE,
) -> None:
    """List the outputs without lineage or with only part of it, and why: of each job's latest run, or of one run.

    The exit code is 0, unless --fail or --fail-opaque is set and such outputs are found.
    """
    with reading(store) as opened:
        found = questions.coverage(opened, run)
    if format_ is Format.TREE:
        print_lines(tree_lines(_coverage_tree(found)))
    else:
        _print(*coverage_sheet(found), format_)
    levels = _FAILING | {Covered.OPAQUE} if fail_opaque else _FAILING if fail else frozenset[Covered]()
    if any(one.covered in levels for one in found):
        raise typer.Exit(1)


def _found(store: Store, text: str) -> list[tuple[str, ...]]:
    pages = (questions.find_texts(store, text, _MOST, after=after) for after in ((0, 0), JOB_NAMES, TEXTS))
    names, jobs, texts = ([_found_row(one.about, one.place, one.excerpt) for one in page.found] for page in pages)
    columns = [one for one in questions.find_columns(store, text, _MOST).found if one.match is not Match.DATASET]
    rows = sorted(row for row in names if row[0] == "dataset" and row[2] == Place.NAME.value)
    rows += sorted(_found_row(one.column, Place.NAME) for one in columns)
    return [*rows, *sorted(row for row in jobs if row[2] == Place.NAME.value), *texts]


def _found_row(about: KnownDataset | Column | Job, place: Place, excerpt: str = "") -> tuple[str, ...]:
    kind = "job" if isinstance(about, Job) else "column" if isinstance(about, Column) else "dataset"
    name = f"{about.namespace}/{about.name}" if isinstance(about, Job) else str(about)
    return kind, name, place.value, redact(excerpt)


def _print(header: Sequence[str], rows: Rows, format_: Format) -> None:
    if format_ not in _TABULAR:
        raise refuse(format_, "A list", _TABULAR)
    if format_ is Format.JSON:
        print_lines(json_lines([dict(zip(header, row, strict=True)) for row in rows]))
    elif format_ is Format.CSV:
        print_lines(csv_lines(header, rows))
    elif rows:
        print_lines(table(header, [[readable(str(cell)) for cell in row] for row in rows]))
    else:
        note("Nothing found.")


def _coverage_tree(coverage: Sequence[Coverage]) -> Branch:
    counts = {covered: sum(one.covered is covered for one in coverage) for covered in Covered}
    parts = ", ".join(f"{count} {covered.value}" for covered, count in counts.items() if count)
    title = Text(
        f"{len(coverage)} output{'s' if len(coverage) != 1 else ''}" + (f": {parts}" if parts else ""), style="bold"
    )
    return Branch(title, [_coverage_branch(one) for one in coverage if one.covered is not Covered.FULL])


def _coverage_branch(coverage: Coverage) -> Branch:
    name = str(coverage.output) if coverage.output is not None else "no output"
    line = Text.assemble(
        (coverage.covered.value, _STYLES[coverage.covered]), "  ", readable(name), (f"  by {coverage.job.name}", "dim")
    )
    gaps = [Branch(Text(readable(f"{gap.kind} {gap.what}: {gap.why}"))) for gap in coverage.gaps]
    if not gaps:
        gaps = [Branch(Text("its run has no column lineage"))]
    return Branch(line, gaps)
