"""The ``spark.openlineage.transport`` keys of the Spark integration, in the words of the Python client."""

import re
from collections.abc import Mapping
from typing import Any


def client_transport(keys: Mapping[str, str]) -> dict[str, Any]:
    """The transport that dotted keys describe, in the shape of openlineage.yml.

    >>> client_transport({"type": "http", "url": "http://host", "auth.type": "api_key", "timeoutInMillis": "500"})
    {'auth': {'type': 'api_key'}, 'type': 'http', 'url': 'http://host', 'timeout': 0.5}
    """
    return _in_python_words(nested(keys))


def nested(keys: Mapping[str, str]) -> dict[str, Any]:
    """The values of dotted keys as mappings within mappings.

    >>> nested({"shop.type": "hostList", "shop.hosts": "[a]"})
    {'shop': {'hosts': '[a]', 'type': 'hostList'}}
    """
    found: dict[str, Any] = {}
    for key, value in sorted(keys.items()):
        _put(found, key.split("."), value)
    return found


def _put(found: dict[str, Any], path: list[str], value: str) -> None:
    for key in path[:-1]:
        inner = found.get(key)
        if not isinstance(inner, dict):
            inner = found[key] = {}
        found = inner
    found[path[-1]] = value


def _in_python_words(transport: Mapping[str, Any]) -> dict[str, Any]:
    """The Java client counts time-outs in milliseconds, and calls the path of a file ``location``."""
    written = dict(transport)
    milliseconds = str(written.pop("timeoutInMillis", ""))
    if milliseconds:  # what is no number is told of where the transport is made
        written["timeout"] = int(milliseconds) / 1000 if re.fullmatch(r"[0-9]{1,9}", milliseconds) else milliseconds
    if written.get("type") == "file" and "location" in written:
        written |= {"log_file_path": written.pop("location"), "append": True}
    children = written.get("transports")
    if isinstance(children, Mapping):
        written["transports"] = {name: _in_python_words(one) for name, one in children.items()}
    return written
