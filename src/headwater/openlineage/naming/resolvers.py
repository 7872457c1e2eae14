"""Other names for datasets that a configuration asks for: namespace resolvers, and a part of the path removed.

The keys are those of the OpenLineage Spark integration (``dataset.namespaceResolvers``,
``dataset.removePath.pattern``): a cluster of several hosts is one namespace.
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from headwater.errors import SettingError
from headwater.model import Dataset
from headwater.openlineage.naming.trimming import Trimming, removed_path

_TYPES = ("hostList", "pattern", "patternGroup")


@dataclass(frozen=True, slots=True)
class Resolver:
    """Puts ``name`` in the place of what ``pattern`` finds in a namespace, or the match's own ``group``.

    Namespaces of other schemes than ``scheme`` are left alone; an empty one is any.
    """

    name: str
    pattern: re.Pattern[str]
    scheme: str = ""
    group: str = ""

    def resolve(self, namespace: str) -> str:
        """The namespace with the resolved name; itself where nothing matches.

        >>> Resolver("cluster", re.compile("host[12]")).resolve("kafka://host2:9092")
        'kafka://cluster:9092'
        """
        start = len(namespace.partition("://")[0]) + 3 if "://" in namespace else 0
        found = self.pattern.search(namespace, start)
        if found is None or (self.scheme and not namespace.startswith(f"{self.scheme}://")):
            return namespace
        resolved = (found[self.group] or "") if self.group else self.name
        return namespace[: found.start()] + resolved + namespace[found.end() :]


@dataclass(frozen=True, slots=True)
class ConfiguredNames:
    """Every rule that a configuration has for the names of datasets."""

    resolvers: tuple[Resolver, ...] = ()
    removed: Trimming = field(default_factory=Trimming)

    def other_names(self, datasets: Iterable[Dataset]) -> dict[Dataset, Dataset]:
        """The datasets whose names are others by these rules, each with its name."""
        if not self.resolvers and not self.removed.patterns:
            return {}
        names = {dataset: self._name(dataset) for dataset in datasets}
        return {former: name for former, name in names.items() if former != name}

    def _name(self, dataset: Dataset) -> Dataset:
        resolved = (resolver.resolve(dataset.namespace) for resolver in self.resolvers)
        namespace = next((one for one in resolved if one != dataset.namespace), dataset.namespace)
        return replace(removed_path(dataset, self.removed), namespace=namespace)


def resolvers_from(configuration: Mapping[str, Any]) -> tuple[Resolver, ...]:
    """The resolvers of a configuration: by the name that each resolves to, its ``type`` and the keys of that type.

    Raises:
        SettingError: a type that nobody knows, a key that is missing, or a pattern that is no regular expression.

    >>> resolvers_from({"shop": {"type": "hostList", "hosts": "[db1;db2]"}})[0].resolve("postgres://DB2:5432")
    'postgres://shop:5432'
    """
    return tuple(_resolver(name, keys) for name, keys in sorted(configuration.items()))


def _resolver(name: str, keys: object) -> Resolver:
    if not isinstance(keys, Mapping) or keys.get("type") not in _TYPES:
        raise SettingError(f"The namespace resolver {name!r} has no type of {', '.join(_TYPES)}.")
    scheme = str(keys.get("schema") or "")
    if keys["type"] == "hostList":
        hosts = _items(_needed(name, keys, "hosts"))
        return Resolver(name, re.compile(rf"(?<![\w.-])(?:{'|'.join(map(re.escape, hosts))})(?![\w.-])", re.I), scheme)
    pattern = _pattern(name, str(_needed(name, keys, "regex")))
    if keys["type"] == "pattern":
        return Resolver(name, pattern, scheme)
    group = str(_needed(name, keys, "matchingGroup"))
    if group not in pattern.groupindex:
        raise SettingError(f"The namespace resolver {name!r} has no group {group!r} in its regex.")
    return Resolver(name, pattern, scheme, group)


def _needed(name: str, keys: Mapping[str, Any], key: str) -> Any:
    if not keys.get(key):
        raise SettingError(f"The namespace resolver {name!r} is of the type {keys['type']}: it needs {key!r}.")
    return keys[key]


def _items(listed: object) -> list[str]:
    """The items of a list of a YAML file, or of ``[a;b]`` in a Spark conf."""
    texts = listed if isinstance(listed, list) else re.split(r"[;,]", str(listed).strip("[] "))
    return [str(text).strip() for text in texts if str(text).strip()]


def _pattern(name: str, text: str) -> re.Pattern[str]:
    try:
        # Java writes a named group without the P.
        return re.compile(re.sub(r"\(\?<(?![=!])", "(?P<", text))
    except re.error as error:
        raise SettingError(f"The regex of the namespace resolver {name!r} cannot be used: {error}.") from error
