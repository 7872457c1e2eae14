"""What a caller may write: only what is in the namespaces of their key, and what nobody shares.

An event of a key with limits is kept with these, so that what it says of others' datasets stays a reference
(`headwater.openlineage.reading.grants`).
"""

from collections.abc import Iterable
from typing import Any

from starlette.exceptions import HTTPException

from headwater.openlineage.reading import Event
from headwater.openlineage.reading.grants import granted
from headwater.server.access import Caller

Json = dict[str, Any]


def of_caller(value: Any, caller: Caller) -> Any:
    """An event's JSON with the limits of the caller's key, where it has some."""
    if caller.sees_all or not isinstance(value, dict):
        return value
    return granted(value, caller.namespaces)


def require_own(caller: Caller, event: Event) -> None:
    """Lets pass an event that writes only what the caller owns: its job, its run, its outputs, its dataset.

    Raises:
        HTTPException: 403; it names what the event would write.
    """
    if caller.sees_all:
        return
    if event.job.namespace:
        require_namespace(caller, event.job.namespace, f"job {event.job.name[:200]!r}")
    for output in event.outputs:
        named = output.description.dataset
        require_namespace(caller, named.namespace, f"dataset {named.name[:200]!r}")


def require_namespace(caller: Caller, namespace: str, what: str = "") -> None:
    """Lets pass who may write to a namespace.

    Raises:
        HTTPException: 403.
    """
    if not caller.sees(namespace):
        about = f" (the {what} is in it)" if what else ""
        raise HTTPException(
            403,
            f"{caller.name} may not write to the namespace {namespace[:200]!r}{about}: its key is for "
            f"{_listed(caller.namespaces)}. Send by a key for that namespace, or name it as an input only.",
        )


def require_everything(caller: Caller, what: str) -> None:
    """Lets pass who may write what all namespaces share.

    Raises:
        HTTPException: 403.
    """
    if not caller.sees_all:
        raise HTTPException(
            403,
            f"{caller.name} may not describe a {what}: all namespaces share it. This needs a key for all of them (*).",
        )


def _listed(patterns: Iterable[str]) -> str:
    return ", ".join(patterns)[:200] or "no namespace"
