"""``tags``: which tags columns and datasets have, who put them, and where they flow; and changes of them.

What flows is `headwater.policies.flows` without a file of tags: breakers, and orders of values, are in such files.
"""

from typing import Annotated

from fastapi import Query, Response
from pydantic import BaseModel, ConfigDict, Field
from starlette.exceptions import HTTPException

from headwater.answers.documents import Document, of_column, of_start
from headwater.model.time import iso
from headwater.policies.assignments import TaggedName, add_tag, remove_tag, tagged_names
from headwater.policies.documents import of_tag_path
from headwater.policies.flows import Flows
from headwater.policies.selectors import SelectedColumns
from headwater.policies.tag_file import TagName
from headwater.server.auth.access import Scope, require_namespace
from headwater.server.columns.query_params import AsOfParams, NameParams
from headwater.server.columns.replies import LineageQuestion, Reply, answered, json_reply, question_router
from headwater.server.columns.schemas import ColumnName, DatasetName, Hop, Start
from headwater.server.openapi import Schema
from headwater.server.server import Writer
from headwater.store.questions import Column, ExactName, names
from headwater.store.questions.lookup.find import find, within
from headwater.store.questions.walk.tag_walk import Arriving

router = question_router()
MOST = 1000

_TAG = Field(min_length=1, max_length=500, pattern=r"^[^=\x00-\x1f]+$", description="The name of the tag.")
_VALUE = Field("", max_length=500, pattern=r"^[^\x00-\x1f]*$", description="Its value; empty for none.")


class TagsParameters(NameParams):
    """A column, or a dataset with its columns; without a name the whole store."""


class Place(BaseModel):
    """A dataset, or a column of it, by its whole name, and a tag."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    namespace: str
    dataset: str
    field: str = Field("", description="Without it the tag is on the whole dataset.")
    tag: str = _TAG

    @property
    def name(self) -> ExactName:
        """The name of what has the tag."""
        return ExactName(self.namespace, self.dataset, self.field)


class NewTag(Place):
    """A tag to put on a column or a dataset."""

    value: str = _VALUE


class FlowParameters(AsOfParams):
    """A tag and what to follow."""

    tag: str = _TAG
    value: str = _VALUE
    influence: bool = Field(False, description="Also over INDIRECT edges.")
    guess: bool = Field(True, description="Through runs that say nothing of columns, as if all were read.")
    limit: int = Field(200, ge=1, le=MOST, description="The largest number of arrivals of each kind: the nearest.")


class ArrivingParameters(NameParams, AsOfParams):
    """The column at which tags arrive."""

    influence: bool = Field(False, description="Also over INDIRECT edges.")
    guess: bool = Field(True, description="Through runs that say nothing of columns, as if all were read.")


class TagOn(Schema):
    """A tag on a column or a dataset; ``source`` is API (people), FILE, or the producer of an event."""

    on: Start
    tag: str
    value: str
    source: str
    at: str


class TagList(Schema):
    """The tags; ``writable`` says whether the caller's key may change some."""

    tags: list[TagOn]
    writable: bool


class Arrival(Schema):
    """A column at which a tag arrives, with the steps that lead there; the field ``*`` stands for unknown columns."""

    tag: str
    value: str
    column: ColumnName
    arriving: Arriving
    path: list[Hop]


class Reached(Schema):
    """The numbers of columns at which a tag arrives."""

    value: int
    masked: int
    influence: int


class TagFlow(Schema):
    """Where a tag is, and where it arrives: the nearest, of as many as ``reached`` counts."""

    starts: list[ColumnName]
    reached: Reached
    arrivals: list[Arrival]


class ArrivingTags(Schema):
    """The tags that arrive at a column."""

    column: ColumnName | DatasetName
    arrivals: list[Arrival]


@router.get("/tags", response_model=TagList)
@answered(of_events=False)
def tags(query: Annotated[TagsParameters, Query()], question: LineageQuestion) -> Reply:
    """List the tags of columns and datasets, with who put them and when."""
    named = query.name() if query.model_fields_set else None
    found = tagged_names(question.store, named, question.sees)
    shown = [_of_tag(question.redacted(one)) for one in found if not question.redaction.hides(one.on)]
    return json_reply({"tags": shown, "writable": question.caller.scope >= Scope.WRITE})


@router.post("/tags", response_model=TagOn, operation_id="put_tag", status_code=201, responses={304: {}})
def put(body: NewTag, caller: Writer, question: LineageQuestion) -> Response:
    """Put a tag on a column, or on all columns of a dataset; it stays until somebody takes it off."""
    require_namespace(caller, body.namespace)
    on = add_tag(question.store, body.name, TagName(body.tag, body.value))
    (placed,) = [
        one
        for one in tagged_names(question.store, body.name)
        if one.on == on and one.tag.tag.casefold() == body.tag.casefold()
    ]
    content = json_reply(_of_tag(question.redacted(placed))).content
    return Response(content, 201, media_type="application/json")


@router.delete("/tags", response_model=None, operation_id="remove_tag", status_code=204)
def remove(query: Annotated[Place, Query()], caller: Writer, question: LineageQuestion) -> Response:
    """Take a tag off, whoever put it; one of an event comes again with the next event that has it."""
    require_namespace(caller, query.namespace)
    if not remove_tag(question.store, query.name, query.tag):
        raise HTTPException(404, f"It has no tag {query.tag!r}.")
    return Response(status_code=204)


@router.get("/tags/flow", response_model=TagFlow)
@answered(of_events=False)
def flow(query: Annotated[FlowParameters, Query()], question: LineageQuestion) -> Reply:
    """Follow a tag to the columns at which it arrives: by value, masked, or by influence, each with the path to it."""
    tag = TagName(query.tag, query.value)
    at = query.moment(question.store)
    with question.store.read() as connection:
        flows = Flows(connection, guess=query.guess, influence=query.influence, as_of=at, sees=question.sees)
        found = list(flows.paths(tag, tuple(Arriving), most=query.limit))
        nodes = sorted(flows.tagged(tag))[:MOST]
        columns = names.columns(connection, {column for column, _ in nodes})
        starts = [within(connection, columns[node[0]], node) for node in nodes]
        counts = {kind.value: len(flows.of(tag).reached(kind)) for kind in Arriving}
    document = {
        "starts": [of_column(question.redacted(one)) for one in starts],
        "reached": counts,
        "arrivals": [of_tag_path(question.redacted(one)) for one in found],
    }
    return json_reply(document)


@router.get("/tags/arriving", response_model=ArrivingTags)
@answered(of_events=False)
def arriving(query: Annotated[ArrivingParameters, Query()], question: LineageQuestion) -> Reply:
    """List the tags that arrive at a column or at the columns of a dataset, each with the path to it."""
    at = query.moment(question.store)
    with question.store.read() as connection:
        about = find(connection, query.name(), sees=question.sees, nested=True)
        columns = [about] if isinstance(about, Column) else names.current_columns(connection, about)
        around = SelectedColumns.of(one.node for one in columns).has
        flows = Flows(connection, guess=query.guess, influence=query.influence, as_of=at, sees=question.sees)
        found = [one for tag in flows.tags for one in flows.paths(tag, tuple(Arriving), around)]
    shown = [of_tag_path(question.redacted(one)) for one in found]
    return json_reply({"column": of_start(question.redacted(about, about)), "arrivals": shown})


def _of_tag(tagged: TaggedName) -> Document:
    tag = {"tag": tagged.tag.tag, "value": tagged.tag.value, "source": tagged.source, "at": iso(tagged.at)}
    return {"on": of_start(tagged.on), **tag}
