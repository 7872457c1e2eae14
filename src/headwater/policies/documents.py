"""Flows of tags as texts and JSON documents."""

from headwater.answers.documents import Document, of_column, of_hop
from headwater.answers.labels import Labels, readable
from headwater.answers.transformations import transformations_text
from headwater.policies.flows import TagPath
from headwater.store.questions import Hop, PathTransformation


def of_tag_path(tag_path: TagPath) -> Document:
    """Return an arrival of a tag, with the steps that prove it."""
    return {
        "tag": tag_path.tag.tag,
        "value": tag_path.tag.value,
        "column": of_column(tag_path.column),
        "arriving": tag_path.arriving.value,
        "path": [of_hop(hop) for hop in tag_path.steps],
    }


def path_lines(tag_path: TagPath) -> list[str]:
    """Return the steps of a path as lines: from which column, how, and by which job."""
    labels = Labels({tag_path.column.dataset, *(hop.input.dataset for hop in tag_path.steps)})
    ends = [*(hop.input for hop in tag_path.steps[1:]), tag_path.column]
    return [
        f"{labels.column(hop.input)} -> {labels.column(end)}  {_step(hop)}"
        for hop, end in zip(tag_path.steps, ends, strict=True)
    ]


def _step(hop: Hop) -> str:
    how = transformations_text(PathTransformation(kind, hop.whole_dataset) for kind in hop.transformations)
    texts = sorted({kind.description for kind in hop.transformations if kind.description})
    return readable(f"{how}  by {hop.job.name}") + "".join(f"  {readable(text)}" for text in texts)
