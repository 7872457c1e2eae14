"""Permissions to write: a caller writes only to the namespaces of their key, and to nothing that all share.

An event of a key with limits is stored with these, so that its statements about datasets of others stay references
(`headwater.openlineage.reading.grants`).
"""

from collections.abc import Iterable
from typing import Any

from starlette.exceptions import HTTPException

from headwater.openlineage.reading import Event
from headwater.openlineage.reading.grants import granted
from headwater.server.auth.access import Caller

Json = dict[str, Any]


def with_grant(value: Any, caller: Caller) -> Any:
    """Return an event's JSON with the limits of the caller's key, if it has any."""
    if caller.sees_all or not isinstance(value, dict):
        return value
    return granted(value, caller.namespaces)


def require_own(caller: Caller, event: Event) -> None:
    """Refuse an event whose job, run, outputs or dataset the caller may not write.

    Raises:
        HTTPException: 403; it names the job or dataset.
    """
    if caller.sees_all:
        return
    if event.job.namespace:
        require_namespace(caller, event.job.namespace, f"job {event.job.name[:200]!r}")
    for output in event.outputs:
        named = output.description.dataset
        require_namespace(caller, named.namespace, f"dataset {named.name[:200]!r}")


def require_namespace(caller: Caller, namespace: str, within: str = "") -> None:
    """Refuse a caller who may not write to a namespace.

    Raises:
        HTTPException: 403.
    """
    if not caller.sees(namespace):
        about = f" (the {within} is in it)" if within else ""
        raise HTTPException(
            403,
            f"{caller.name} may not write to the namespace {namespace[:200]!r}{about}: its key is for "
            f"{_joined(caller.namespaces)}. Send by a key for that namespace, or name it as an input only.",
        )


def require_every_namespace(caller: Caller, kind: str) -> None:
    """Refuse a caller who may not write what all namespaces share.

    Raises:
        HTTPException: 403.
    """
    if not caller.sees_all:
        raise HTTPException(
            403,
            f"{caller.name} may not describe a {kind}: all namespaces share it. This needs a key for all of them (*).",
        )


def _joined(patterns: Iterable[str]) -> str:
    return ", ".join(patterns)[:200] or "no namespace"
