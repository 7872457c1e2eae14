"""Flows of tags as texts and JSON documents."""

from headwater.answers.documents import Document, of_column, of_hop
from headwater.answers.labels import Labels, readable
from headwater.answers.transformations import transformations_text
from headwater.policies.flows import TagPath
from headwater.store.questions import Hop, PathTransformation


def of_tag_path(one: TagPath) -> Document:
    """Return an arrival of a tag, with the steps that prove it."""
    return {
        "tag": one.tag.tag,
        "value": one.tag.value,
        "column": of_column(one.column),
        "arriving": one.arriving.value,
        "path": [of_hop(hop) for hop in one.steps],
    }


def path_lines(one: TagPath) -> list[str]:
    """Return the steps of a path as lines: from which column, how, and by which job."""
    labels = Labels({one.column.dataset, *(hop.input.dataset for hop in one.steps)})
    ends = [*(hop.input for hop in one.steps[1:]), one.column]
    return [
        f"{labels.column(hop.input)} -> {labels.column(end)}  {_step(hop)}"
        for hop, end in zip(one.steps, ends, strict=True)
    ]


def _step(hop: Hop) -> str:
    how = transformations_text(PathTransformation(kind, hop.whole_dataset) for kind in hop.transformations)
    texts = sorted({kind.description for kind in hop.transformations if kind.description})
    return readable(f"{how}  by {hop.job.name}") + "".join(f"  {readable(text)}" for text in texts)
