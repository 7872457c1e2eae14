"""Query parameters: pages and moments; and the redaction for a caller."""

from typing import Annotated
from uuid import UUID
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from fastapi import Depends, Query
from sqlalchemy import Connection
from starlette.exceptions import HTTPException

from headwater.answers.redaction import Redaction
from headwater.model import Dataset
from headwater.model.time import parse_iso
from headwater.server.auth.access import Caller
from headwater.store.catalog import name_ids
from headwater.store.questions import names
from headwater.store.read_model.pages import Page
from headwater.store.read_model.visibility import Sees

MOST = 1_000
"""Rows of one page."""

LAST = 2**31 - 1


def _page(limit: Annotated[int, Query(ge=0, le=MOST)] = 100, offset: Annotated[int, Query(ge=0, le=LAST)] = 0) -> Page:
    return Page(limit, offset)


ThePage = Annotated[Page, Depends(_page)]
"""``limit`` (100, at most 1,000) and ``offset`` (0)."""


def sight(caller: Caller) -> Sees:
    """Return the function that says whether a caller may see a namespace, None for all."""
    return caller.sight


def redaction_of(caller: Caller, connection: Connection | None = None) -> Redaction:
    """Return the redaction of documents for a caller; the connection, while open, serves to find other names."""

    def other_names(dataset: Dataset) -> tuple[Dataset, ...]:
        id_ = name_ids.dataset_id(connection, dataset) if connection is not None else None
        return () if connection is None or id_ is None else names.datasets(connection, [id_])[id_].aliases

    return Redaction(sight(caller), caller.secret, other_names)


def uuid_of(text: str) -> UUID | None:
    """Return the UUID in a path, None when the text is not one."""
    try:
        return UUID(text)
    except ValueError:
        return None


def moment_of(text: str | None, name: str) -> int | None:
    """Return the moment of a parameter in ISO 8601, None without one.

    Raises:
        HTTPException: 400, when the text is not such a moment.
    """
    if not text:
        return None
    try:
        # An unquoted plus sign arrives as a space.
        return parse_iso(text.replace(" 0", "+0") if "T" in text else text)
    except ValueError:
        raise HTTPException(
            400, f"{name} is {text[:50]!r}: expected an ISO 8601 time such as 2026-01-31T09:30:00Z."
        ) from None


def zone_of(name: str | None) -> ZoneInfo:
    """Return the time zone with a name of the IANA database, UTC without one.

    Raises:
        HTTPException: 400, when no time zone has the name.
    """
    try:
        return ZoneInfo(name or "UTC")
    except (ZoneInfoNotFoundError, ValueError, OSError):
        raise HTTPException(
            400, f"timezone is {(name or '')[:50]!r}: expected a name such as Europe/Lisbon or UTC."
        ) from None
