"""``headwater tag``: tags on columns and datasets."""

from pathlib import Path
from typing import Annotated

import typer
from rich.text import Text

from headwater.answers.documents import of_column, of_dataset
from headwater.answers.labels import readable
from headwater.cli import options
from headwater.cli.options import FormatOption, NameArgument, StoreOption, reading
from headwater.cli.output import Branch, Format, json_lines, note, print_lines, refuse, table, tree_lines
from headwater.errors import UnknownName
from headwater.policies.assignments import add_tag, apply_file, remove_tag, tagged_names
from headwater.policies.documents import of_tag_path, path_lines
from headwater.policies.flows import Flows, TagPath
from headwater.policies.selectors import fits
from headwater.policies.tag_export import exported_tags, tag_file_text
from headwater.policies.tag_file import TagFile, TagName, read_tag_file, tag_name
from headwater.store import open_store
from headwater.store.questions import Column
from headwater.store.questions.walk.tag_walk import Arriving
from headwater.yaml_map import nearest

app = typer.Typer(no_args_is_help=True, help="Put tags on columns.")


@app.command()
def add(
    name: NameArgument,
    tag: Annotated[str, typer.Argument(metavar="TAG[=VALUE]")],
    store: StoreOption = None,
) -> None:
    """Put a tag on a column, or on all columns of a dataset; it stays until it is removed."""
    named = _tag(tag)
    with open_store(store, create=False) as opened:
        found = add_tag(opened, name, named)
    print_lines([f"{named} on {readable(str(found))}"])


@app.command()
def remove(name: NameArgument, tag: Annotated[str, typer.Argument(metavar="TAG")], store: StoreOption = None) -> None:
    """Take a tag off; one that events put comes again with the next event that has it."""
    with open_store(store, create=False) as opened:
        there = remove_tag(opened, name, _tag(tag).tag)
    if not there:
        note(f"{name} has no tag {tag}: nothing was removed.")
        raise typer.Exit(1)
    print_lines([f"{tag} removed from {name}"])


@app.command("list")
def list_(
    tag: Annotated[str, typer.Argument(metavar="[TAG]", help="Only tags that this pattern fits (pii.*).")] = "*",
    store: StoreOption = None,
    format_: FormatOption = Format.TREE,
) -> None:
    """List the tags of columns and datasets, with who put them: API (people), FILE, or the producer of an event."""
    if format_ not in (Format.TREE, Format.JSON):
        raise refuse(format_, "A list of tags", (Format.TREE, Format.JSON))
    with reading(store) as opened:
        found = [one for one in tagged_names(opened) if fits([tag], one.tag.tag)]
    if format_ is Format.JSON:
        print_lines(
            json_lines(
                [
                    (of_column(one.on) if isinstance(one.on, Column) else of_dataset(one.on))
                    | {"tag": one.tag.tag, "value": one.tag.value, "source": one.source, "at": options.shown(one.at)}
                    for one in found
                ]
            )
        )
    elif found:
        rows = [(readable(str(one.on)), str(one.tag), one.source, options.shown(one.at)) for one in found]
        print_lines(table(("name", "tag", "source", "since"), rows))
    else:
        note("Nothing found.")


@app.command()
def apply(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="A file of tags: docs/policies.md says what is in it.")],
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only print what would change.")] = False,
    store: StoreOption = None,
) -> None:
    """Make the tags that files put exactly those of this one. Tags of people and of producers stay.

    The exit code is 1 when a selector of the file fits nothing.
    """
    declared = read_tag_file(file)
    with reading(store) if dry_run else open_store(store, create=False) as opened:
        done = apply_file(opened, declared, dry_run=dry_run)
    verb = "would be " if dry_run else ""
    print_lines([f"{done.added} {verb}added, {done.removed} {verb}removed, {done.unchanged} unchanged"])
    for one in done.unmatched:
        note(str(one))
    if done.unmatched:
        raise typer.Exit(1)


@app.command("import")
def import_(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="CSV of Unity Catalog, Glue (LF-tags) or DataHub.")],
) -> None:
    """Print the tags of a catalog's export as a file of tags, for `headwater tag apply`."""
    print_lines([tag_file_text(exported_tags(file.read_text(encoding="utf-8-sig"), str(file))).rstrip()])


@app.command()
def flow(  # noqa: PLR0913, PLR0917 - one parameter for each option of the command
    tag: Annotated[str, typer.Argument(metavar="TAG", help="A tag, or a pattern of tags (pii.*).")],
    file: Annotated[
        Path | None, typer.Option("--file", metavar="FILE", help="A file with further tags, breakers and orders.")
    ] = None,
    influence: Annotated[bool, typer.Option("--influence", help="Also over INDIRECT edges, shown apart.")] = False,
    guess: Annotated[
        bool, typer.Option("--guess/--no-guess", help="Through runs that say nothing of columns, as if all were read.")
    ] = True,
    store: StoreOption = None,
    format_: FormatOption = Format.TREE,
) -> None:
    """Show the columns that a tag arrives at, and the path to each: by value, masked, or by influence."""
    if format_ not in (Format.TREE, Format.JSON):
        raise refuse(format_, "The flow of a tag", (Format.TREE, Format.JSON))
    declared = read_tag_file(file) if file is not None else TagFile()
    with reading(store) as opened, opened.read() as connection:
        flows = Flows(connection, declared, guess=guess, influence=influence)
        tags = flows.fitting([tag])
        if not tags:
            raise UnknownName(f"No column has the tag {tag!r}. {nearest(tag, [str(one) for one in flows.tags])}")
        found = {one: list(flows.paths(one, tuple(Arriving))) for one in tags}
        starts = {one: flows.of(one).begins() for one in tags}
        unused = flows.unused_breakers()
    if format_ is Format.JSON:
        print_lines(json_lines([of_tag_path(path) for paths in found.values() for path in paths]))
    else:
        for one, paths in found.items():
            print_lines(tree_lines(_flow_tree(one, starts[one], paths)))
    for breaker in unused:
        note(f"{breaker.place}: {breaker} cuts nothing.")


def _flow_tree(tag: TagName, starts: int, paths: list[TagPath]) -> Branch:
    reaches = f"arrives at {len(paths)} more" if paths else "arrives nowhere else"
    title = Text(f"{tag}: on {starts} column{'s' if starts != 1 else ''}, {reaches}", style="bold")
    return Branch(title, [_path_branch(one) for one in paths])


def _path_branch(tag_path: TagPath) -> Branch:
    line = Text.assemble(
        (f"{tag_path.arriving.value:9}", _STYLES[tag_path.arriving]), "  ", readable(str(tag_path.column))
    )
    return Branch(line, [Branch(Text(step, style="dim")) for step in path_lines(tag_path)])


_STYLES = {Arriving.VALUE: "red", Arriving.MASKED: "green", Arriving.INFLUENCE: "yellow"}


def _tag(text: str) -> TagName:
    named = tag_name(text)
    if not named.tag:
        raise typer.BadParameter(f"The tag is {text!r}: expected TAG, or TAG=VALUE.")
    return named
