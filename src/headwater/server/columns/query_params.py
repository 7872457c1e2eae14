"""The query parameters that routes share."""

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from headwater.errors import QuestionError
from headwater.model import Subtype
from headwater.server.settings import ServerSettings
from headwater.store import Store
from headwater.store.questions import Bounds, EdgeType, ExactName, Name, moment_of

Kind = Literal["DIRECT", "INDIRECT"]
Drawn = Literal["json", "csv", "mermaid", "dot", "graphml"]
Tabular = Literal["json", "csv"]


class QueryParams(BaseModel):
    """Parameters of a query; an unknown one is refused, because it would silently not filter."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class AsOfParams(QueryParams):
    """The moment of the lineage."""

    as_of: str | None = Field(
        None,
        description="The lineage of another moment: ISO 8601, or the id of a run for the moment from which on its "
        "lineage was current.",
    )

    def moment(self, store: Store) -> int | None:
        """Return the moment in microseconds since 1970, None for now.

        Raises:
            QuestionError: the text is neither a moment nor an id.
            UnknownName: no run has the id.
        """
        return None if self.as_of is None else moment_of(store, self.as_of)


class NameParams(QueryParams):
    """The column or dataset that a question is about."""

    column: str | None = Field(None, description="Any ending of the name of a column or a dataset that only one has.")
    namespace: str | None = Field(None, description="With `dataset` (and `field`): the exact name, found quickest.")
    dataset: str | None = None
    field: str | None = Field(None, description="Without it the question is about the whole dataset.")

    def name(self) -> Name:
        """Return the name.

        Raises:
            QuestionError: no name, or two.
        """
        exact = self.namespace is not None and self.dataset is not None
        if exact and self.column is None:
            return ExactName(self.namespace or "", self.dataset or "", self.field or "")
        if self.column is None or self.namespace is not None or self.dataset is not None or self.field is not None:
            raise QuestionError("Expected either column=…, or namespace=…&dataset=…, with &field=… for a column.")
        return self.column


class PageParams(QueryParams):
    """A page of the answer."""

    limit: int | None = Field(None, ge=1, description="The number of items on a page; without it the whole answer.")
    cursor: str | None = Field(None, description="`next` of the page before.")


class BoundsParams(AsOfParams):
    """The edges to follow, and how far."""

    type: Kind | None = Field(
        None, description="DIRECT: only edges that carry the value; INDIRECT: those that influence it."
    )
    subtype: list[Subtype] = Field([], description="Only edges of these subtypes.")
    masking: bool | None = Field(None, description="Only edges that mask, or only edges that do not.")
    job: list[str] = Field([], description="Only edges of these jobs: NAME or NAMESPACE/NAME.")
    within: list[str] = Field([], description="Only edges that stay in these namespaces; `*` stands for anything.")
    depth: int | None = Field(None, ge=1, description="The largest number of steps.")
    columns: int | None = Field(
        None, ge=1, description="About the largest number of columns; never more than the server's limit."
    )
    guess: bool = Field(
        False, description="Also follow guesses: that a run without column lineage made its outputs from its inputs."
    )
    nested: bool = Field(
        False,
        description="Follow fields within columns leaf by leaf, where events know them; "
        "a question about one does so anyway.",
    )
    seconds: float | None = Field(None, gt=0, description="The longest time; never longer than the server's limit.")

    def bounds(self, store: Store, limits: ServerSettings) -> Bounds:
        """Return the bounds of a walk; parameters can lower the limits, not raise them."""
        return Bounds(
            edge_type=EdgeType(self.type.lower()) if self.type is not None else None,
            as_of=self.moment(store),
            depth=min(self.depth or limits.depth_limit, limits.depth_limit),
            columns=min(self.columns or limits.node_limit, limits.node_limit),
            seconds=min(self.seconds or limits.time_limit, limits.time_limit),
            subtypes=frozenset(self.subtype),
            masking=self.masking,
            jobs=tuple(self.job),
            namespaces=tuple(self.within),
            guess=self.guess,
            nested=self.nested,
        )
