"""What may be asked: the parameters that routes share."""

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from headwater.errors import QuestionError
from headwater.model import Subtype
from headwater.server.settings import ServerSettings
from headwater.store import Store
from headwater.store.questions import Bounds, EdgeType, Exact, Name, moment_of

Kind = Literal["DIRECT", "INDIRECT"]
Drawn = Literal["json", "csv", "mermaid", "dot", "graphml"]
Tabular = Literal["json", "csv"]


class Parameters(BaseModel):
    """Parameters of a query; one that is not known is refused, because it would silently not filter."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class Then(Parameters):
    """When."""

    as_of: str | None = Field(
        None, description="The lineage of another time: ISO 8601, or the id of a run for the moment its lineage held."
    )

    def moment(self, store: Store) -> int | None:
        """The moment that was asked for, None for now.

        Raises:
            QuestionError: it is no moment.
            UnknownName: it is the id of no run.
        """
        return None if self.as_of is None else moment_of(store, self.as_of)


class Named(Parameters):
    """What."""

    column: str | None = Field(None, description="Any ending of the name of a column or a dataset that fits only one.")
    namespace: str | None = Field(None, description="With `dataset` (and `field`): the exact name, found quickest.")
    dataset: str | None = None
    field: str | None = Field(None, description="Without it the question is about the whole dataset.")

    def name(self) -> Name:
        """The name that was asked for.

        Raises:
            QuestionError: no name, or two.
        """
        exact = self.namespace is not None and self.dataset is not None
        if exact and self.column is None:
            return Exact(self.namespace or "", self.dataset or "", self.field or "")
        if self.column is None or self.namespace is not None or self.dataset is not None or self.field is not None:
            raise QuestionError("Expected either column=…, or namespace=…&dataset=…, with &field=… for a column.")
        return self.column


class Paged(Parameters):
    """How much of it."""

    limit: int | None = Field(None, ge=1, description="So many on a page; without it the whole answer.")
    cursor: str | None = Field(None, description="`next` of the page before.")


class Bounded(Then):
    """Which edges to follow, and how far."""

    type: Kind | None = Field(None, description="DIRECT: only what carries the value; INDIRECT: what influences it.")
    subtype: list[Subtype] = Field([], description="Only edges of these subtypes.")
    masking: bool | None = Field(None, description="Only edges that mask, or only such that do not.")
    job: list[str] = Field([], description="Only edges of these jobs: NAME or NAMESPACE/NAME.")
    within: list[str] = Field([], description="Only edges that stay in these namespaces; `*` stands for anything.")
    depth: int | None = Field(None, ge=1, description="So many steps at most.")
    columns: int | None = Field(None, ge=1, description="So many columns at most, about; never more than the server's.")
    guess: bool = Field(False, description="Also what nobody told: that what a run read went into what it wrote.")
    seconds: float | None = Field(None, gt=0, description="So long at most; never longer than the server's limit.")

    def bounds(self, store: Store, limits: ServerSettings) -> Bounds:
        """The bounds of a walk; limits can be lowered by what is asked for, not raised."""
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
        )
