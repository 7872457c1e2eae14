"""The lineage of a DataFrame that has not run: for a notebook, a test, a review."""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from html import escape
from typing import Any

from headwater.capture.application.agent import Agent
from headwater.capture.application.applications import agent_of, delivered_store
from headwater.capture.application.contexts import context_of
from headwater.capture.application.taps import new_listener
from headwater.capture.connect.client import is_connect
from headwater.capture.settings import CaptureSettings, installed_extensions
from headwater.errors import SettingError, UnknownName
from headwater.extract import ExtractSettings, Origins, column_lineage
from headwater.model import ColumnLineage, Dataset, Dependency, Gap, InputField, endings_apart

_DATASET = "every column"
_OPAQUE = "opaque"  # a gap of this kind leaves lineage whole, and coarse


@dataclass(frozen=True, slots=True)
class FrameLineage:
    """Where the columns of a DataFrame come from. In a notebook it shows itself as the graph of the page, and a table.

    ``lineage`` has the edges of every column and those of the whole result, ``gaps`` what could not be seen.
    ``store`` gives the address of the store that roots are looked up in, None for the one of this folder.
    """

    lineage: ColumnLineage
    gaps: tuple[Gap, ...] = ()
    store: Callable[[], str | None] = field(default=lambda: None, repr=False, compare=False)

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns of the DataFrame, in order."""
        return tuple(self.lineage.fields)

    def edges(self, column: str | None = None) -> tuple[Dependency, ...]:
        """The edges of one column, or with None those that touch every column; sorted.

        Raises:
            UnknownName: the DataFrame has no such column.
        """
        if column is None:
            return _sorted(self.lineage.dataset)
        if column not in self.lineage.fields:
            raise UnknownName(f"The DataFrame has no column {column!r}; it has {', '.join(self.columns)}.")
        return _sorted(self.lineage.fields[column])

    def inputs(self, column: str, *, indirect: bool = False) -> tuple[InputField, ...]:
        """The columns that the DataFrame reads to make ``column``; with ``indirect`` also those that only influence it.

        Raises:
            UnknownName: the DataFrame has no such column.
        """
        edges = [*self.edges(column), *(self.edges() if indirect else ())]
        return tuple(dict.fromkeys(edge.input for edge in edges if indirect or edge.transformation.direct))

    def roots(self, column: str, *, indirect: bool = False) -> tuple[InputField, ...]:
        """The columns that ``column`` is made from in the end, as ``headwater roots`` says it of a written column.

        Its inputs are followed through the store to columns that nothing known has made. An input that the store
        does not know is a root, and so is each where there is no store.

        Raises:
            UnknownName: the DataFrame has no such column.
            StoreError: the store cannot be read.
        """
        return _roots_in(self.store(), self.inputs(column, indirect=indirect), indirect=indirect)

    def tree(self) -> str:
        """The lineage as a tree of text."""
        shown = self._short_names
        return "\n".join(
            line for name, edges in self._all() for line in _branch(name, edges, shown, self._without_inputs)
        )

    def json(self) -> str:
        """The lineage as JSON: columns, dataset edges, gaps."""
        document = {
            "columns": {name: [_record(edge) for edge in self.edges(name)] for name in self.columns},
            "dataset": [_record(edge) for edge in self.edges()],
            "gaps": [{"kind": gap.kind, "what": gap.what, "why": gap.why} for gap in self.gaps],
        }
        return json.dumps(document, indent=2, ensure_ascii=False)

    def mermaid(self) -> str:
        """The lineage as a Mermaid flowchart, input columns on the left."""
        inputs, shown = list(dict.fromkeys(edge.input for _, edges in self._all() for edge in edges)), self._short_names
        lines = ["flowchart LR"]
        lines += [f'  i{place}["{_quoted(shown[one])}"]' for place, one in enumerate(inputs)]
        for place, (name, edges) in enumerate(self._all()):
            lines.append(f'  o{place}["{_quoted(name or _DATASET)}"]')
            for edge in edges:
                arrow = "-->" if edge.transformation.direct else "-.->"
                lines.append(f"  i{inputs.index(edge.input)} {arrow}|{_kind(edge)}| o{place}")
        return "\n".join(lines)

    def __str__(self) -> str:
        return self.tree()

    def _repr_pretty_(self, printer: Any, cycle: bool) -> None:
        """Print the tree: IPython calls this on a terminal."""
        printer.text(self.tree())

    def _repr_html_(self) -> str:
        """Return the graph with the table folded below; the table alone where no page is built."""
        try:
            graph = _graph(self.lineage)
        except SettingError:
            return self._table()
        return f"{graph}<details><summary>As a table</summary>{self._table()}</details>"

    def _table(self) -> str:
        shown = self._short_names
        rows = "".join(_html_row(name, edges, shown, self._without_inputs) for name, edges in self._all())
        gaps = "".join(f"<li>{escape(gap.what)}: {escape(gap.why)}</li>" for gap in self.gaps)
        return (
            '<table class="headwater"><thead><tr><th>column</th><th>how</th><th>from</th></tr></thead>'
            f"<tbody>{rows}</tbody></table>" + (f"<p>Not seen into:</p><ul>{gaps}</ul>" if gaps else "")
        )

    @property
    def _without_inputs(self) -> str:
        """The words for a column without edges: where something was not seen, inputs may be missing."""
        whole = all(gap.kind == _OPAQUE for gap in self.gaps)
        return "made without reading a column" if whole else "no input known: not all was seen"

    @property
    def _short_names(self) -> dict[InputField, str]:
        """Each input column by its name and the end of its dataset's, as much of it as makes the datasets differ."""
        inputs = {edge.input for _, edges in self._all() for edge in edges}
        datasets = {one.dataset: (one.dataset.namespace, *_parts(one.dataset)) for one in inputs}
        labels = endings_apart(datasets)
        return {one: f"{labels[one.dataset]}.{one.name}" for one in inputs}

    def _all(self) -> Iterator[tuple[str | None, tuple[Dependency, ...]]]:
        for name in self.columns:
            yield name, self.edges(name)
        if self.lineage.dataset:
            yield None, self.edges()


def lineage(data_frame: Any) -> FrameLineage:
    """The column lineage of a DataFrame, without running it.

    Raises:
        SettingError: it is no DataFrame.
        CaptureError: the tap cannot be made.
        PlanError: the plan cannot be read.
    """
    session = getattr(data_frame, "sparkSession", None)
    if session is None:
        raise SettingError(
            f"The frame is of type {type(data_frame).__name__}; expected a DataFrame, as in headwater.lineage(df)."
        )
    context = context_of(session)
    if is_connect(session):
        from headwater.capture.connect.tap import ConnectTap

        plan = ConnectTap(session.client, CaptureSettings()).plan(data_frame)
    else:
        plan = new_listener(context, CaptureSettings()).plan(data_frame)
    agent = agent_of(context) if context is not None else None
    found, gaps = column_lineage(plan, _settings(agent), agent.origins() if agent else Origins())
    return FrameLineage(found, gaps, partial(delivered_store, context))


def _graph(lineage: ColumnLineage) -> str:
    from headwater.answers import saved_page, views  # with the store, which a program that shows nothing does not need
    from headwater.model.time import iso, now

    view = views.of_unwritten(lineage, Dataset("this session", "DataFrame"))
    return saved_page.framed_page(view, iso(now()), "Lineage of the DataFrame")


def _roots_in(url: str | None, inputs: tuple[InputField, ...], *, indirect: bool) -> tuple[InputField, ...]:
    """The roots of columns in a store; of those that it does not know they are themselves."""
    from headwater.store import open_store, questions  # a program that asks for no roots needs no database
    from headwater.store.sql import location

    address = location.store_url(url)
    file = location.store_file(address)
    if file is not None and not file.exists():
        return inputs
    bounds = questions.Bounds(edge_type=None if indirect else questions.EdgeType.DIRECT)
    found: dict[InputField, None] = {}
    with open_store(address, create=False, read_only=True) as store:
        for one in inputs:
            with suppress(UnknownName):
                name = questions.ExactName(one.dataset.namespace, one.dataset.name, one.name)
                roots = questions.roots_of(store, name, bounds).roots
                found |= dict.fromkeys(InputField(root.column.dataset.dataset, root.column.name) for root in roots)
                if roots:
                    continue
            found[one] = None
    return tuple(found)


def _settings(agent: Agent | None) -> ExtractSettings:
    """Those of the application that is watched, else the installed extensions and no more."""
    return agent.settings if agent else ExtractSettings(extensions=installed_extensions())


def _sorted(edges: Iterable[Dependency]) -> tuple[Dependency, ...]:
    def order(edge: Dependency) -> tuple[bool, str, str, str]:
        return (not edge.transformation.direct, _kind(edge), str(edge.input.dataset), edge.input.name)

    return tuple(sorted(edges, key=order))


def _kind(edge: Dependency) -> str:
    how = edge.transformation
    return how.subtype.value + (" masking" if how.masking else "") + (" opaque" if how.opaque else "")


def _parts(dataset: Dataset) -> tuple[str, ...]:
    return tuple(part for part in dataset.name.split("/") if part)


def _branch(
    name: str | None, edges: tuple[Dependency, ...], shown: Mapping[InputField, str], without: str
) -> Iterator[str]:
    yield name or _DATASET
    if not edges:
        yield f"└── {without}"
    for place, edge in enumerate(edges):
        corner = "└──" if place == len(edges) - 1 else "├──"
        yield f"{corner} {_kind(edge):<14} {shown[edge.input]}   {edge.input.dataset}"


def _record(edge: Dependency) -> dict[str, Any]:
    how = edge.transformation
    return {
        "namespace": edge.input.dataset.namespace,
        "name": edge.input.dataset.name,
        "field": edge.input.name,
        "type": how.subtype.type.value,
        "subtype": how.subtype.value,
        "masking": how.masking,
        "opaque": how.opaque,
    }


def _quoted(text: str) -> str:
    return text.replace('"', "#quot;")


def _html_row(name: str | None, edges: tuple[Dependency, ...], shown: Mapping[InputField, str], without: str) -> str:
    label = escape(name) if name else f"<i>{_DATASET}</i>"
    if not edges:
        return f"<tr><td>{label}</td><td></td><td><i>{without}</i></td></tr>"
    cells = [
        f'<td>{_kind(edge)}</td><td title="{escape(str(edge.input.dataset))}">{escape(shown[edge.input])}</td>'
        for edge in edges
    ]
    first = f'<tr><td rowspan="{len(cells)}">{label}</td>{cells[0]}</tr>'
    return first + "".join(f"<tr>{cell}</tr>" for cell in cells[1:])
