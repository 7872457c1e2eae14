"""Values of Spark's conf that are more than one text: transports, owners and tags of jobs and runs.

The keys are those of the Spark integration, the result has the words of the Python client.
"""

import re
from collections.abc import Mapping
from typing import Any

from headwater.openlineage.writing.facets import Tag
from headwater.redaction import MASK, is_secret, redact

_BETWEEN_TAGS = re.compile(r"(?<!\\);")
_BETWEEN_PARTS = re.compile(r"(?<!\\):")


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


def _put(tree: dict[str, Any], path: list[str], value: str) -> None:
    for key in path[:-1]:
        inner = tree.get(key)
        if not isinstance(inner, dict):
            inner = tree[key] = {}
        tree = inner
    tree[path[-1]] = value


def _in_python_words(transport: Mapping[str, Any]) -> dict[str, Any]:
    """The Java client counts time-outs in milliseconds, and calls the path of a file ``location``."""
    written = dict(transport)
    milliseconds = str(written.pop("timeoutInMillis", ""))
    if milliseconds:  # one that is no number is refused where the transport is made
        written["timeout"] = int(milliseconds) / 1000 if re.fullmatch(r"[0-9]{1,9}", milliseconds) else milliseconds
    if written.get("type") == "file" and "location" in written:
        written |= {"log_file_path": written.pop("location"), "append": True}
    children = written.get("transports")
    if isinstance(children, Mapping):
        written["transports"] = {name: _in_python_words(one) for name, one in children.items()}
    return written


def tags_from(text: str) -> tuple[Tag, ...]:
    r"""The tags ``key``, ``key:value`` or ``key:value:source`` with semicolons between; a backslash escapes both.

    >>> [(tag.key, tag.value, tag.source) for tag in tags_from(r"nightly;env:prod;team:a\:b:HR")]
    [('nightly', 'true', 'CONFIG'), ('env', 'prod', 'CONFIG'), ('team', 'a:b', 'HR')]
    """
    return tuple(_tag(one) for one in _BETWEEN_TAGS.split(text.strip().strip("[]")) if one.strip())


def _tag(text: str) -> Tag:
    parts = [re.sub(r"\\([:;])", r"\1", part).strip() for part in _BETWEEN_PARTS.split(text)]
    if len(parts) > 1 and is_secret(parts[0]):
        parts[1] = MASK
    return Tag(*map(redact, parts[:3]))


def owners_from(keys: Mapping[str, str]) -> tuple[tuple[str, str], ...]:
    """The owners of keys ``job.owners.<type>``, as (type, name).

    >>> owners_from({"job.owners.team": "Sales", "job.tags": "a"})
    (('team', 'Sales'),)
    """
    prefix = "job.owners."
    return tuple(
        (key.removeprefix(prefix), redact(name)) for key, name in sorted(keys.items()) if key.startswith(prefix)
    )
