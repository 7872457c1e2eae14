"""The conditions of bounds on edges: of which transformations and of which jobs these are."""

from dataclasses import dataclass

from sqlalchemy import ColumnElement, Connection, or_, select

from headwater.errors import UnknownName
from headwater.model import Subtype
from headwater.model.names import key_of
from headwater.store import schema
from headwater.store.questions.answers import Bounds, EdgeType, Sees
from headwater.store.read_model.presence import once

_TRANSFORMATION = schema.transformation
_JOB = schema.job


def kinds(bounds: Bounds) -> list[ColumnElement[bool]]:
    """The conditions of bounds on the transformation of an edge."""
    found: list[ColumnElement[bool]] = []
    if bounds.edge_type is EdgeType.DIRECT:
        found.append(_TRANSFORMATION.c.type == "DIRECT")
    if bounds.subtypes:
        found.append(_TRANSFORMATION.c.subtype.in_([one.value for one in bounds.subtypes]))
    if bounds.masking is not None:
        found.append(_TRANSFORMATION.c.masking.is_(bounds.masking))
    return found


def transformations(connection: Connection, bounds: Bounds) -> frozenset[int] | None:
    """Return the transformations of the edges that bounds let through, None for all."""
    if not kinds(bounds):
        return None
    of_kind = _Transformations(bounds.edge_type, bounds.subtypes, bounds.masking)
    return once(connection, of_kind)


@dataclass(frozen=True)
class _Transformations:
    """The conditions on transformations: equal ones are one question to a connection."""

    edge_type: EdgeType | None
    subtypes: frozenset[Subtype]
    masking: bool | None

    def __call__(self, connection: Connection) -> frozenset[int]:
        bounds = Bounds(self.edge_type, subtypes=self.subtypes, masking=self.masking)
        return frozenset(connection.execute(select(_TRANSFORMATION.c.id).where(*kinds(bounds))).scalars())


def has_opaque(connection: Connection) -> bool:
    """Whether a value may come to all columns of a dataset alike: by a function that cannot be looked into."""
    return once(connection, _has_opaque)


def _has_opaque(connection: Connection) -> bool:
    opaque = select(_TRANSFORMATION.c.id).where(_TRANSFORMATION.c.type == "DIRECT", _TRANSFORMATION.c.opaque).limit(1)
    return connection.execute(opaque).first() is not None


def job_ids(connection: Connection, name: str, sees: Sees = None) -> list[int]:
    """The jobs of a name that the bounds may name, with or without its namespace in front."""
    cuts = [place for place, char in enumerate(name) if char == "/"]
    whole = [key_of(name[:cut], name[cut + 1 :]) for cut in cuts]
    called = select(_JOB.c.id, _JOB.c.namespace).where(or_(_JOB.c.name == name, _JOB.c.key.in_(whole)))
    found = [row.id for row in connection.execute(called) if sees is None or sees(row.namespace)]
    if not found:
        raise UnknownName(f"No job is named {name[:200]!r}: expected a job's name, or NAMESPACE/NAME.")
    return found
