"""Names of Kafka topics, by the OpenLineage naming specification ("Kafka")."""

import json
from collections.abc import Mapping

from headwater.model import Dataset

_DEFAULT_PORT = "9092"


def kafka_namespace(servers: str) -> str:
    """``kafka://host:port`` of the first server in ``kafka.bootstrap.servers``, as the Spark integration has it.

    >>> kafka_namespace("SASL_SSL://b1:9093,SASL_SSL://b2:9093")
    'kafka://b1:9093'
    """
    first = servers.split(",", maxsplit=1)[0].strip().rpartition("://")[2].rpartition("@")[2].strip("/")
    host, colon, port = first.rpartition(":")
    if not colon or not port.isdigit():
        host, port = first, _DEFAULT_PORT
    return f"kafka://{host}:{port}"


def kafka_topics(options: Mapping[str, str | None]) -> tuple[Dataset, ...]:
    """The topics that the options of a reader (``subscribe``, ``assign``) or writer (``topic``) name; empty for none.

    Args:
        options: those of Spark's Kafka source, in lower case.

    >>> kafka_topics({"kafka.bootstrap.servers": "b:9092", "subscribe": "orders, returns"})[1]
    Dataset(namespace='kafka://b:9092', name='returns')
    """
    namespace = kafka_namespace(options.get("kafka.bootstrap.servers") or "")
    names = [
        options.get("topic") or "",
        *(options.get("subscribe") or "").split(","),
        *_assigned(options.get("assign")),
    ]
    return tuple(Dataset(namespace, name.strip()) for name in dict.fromkeys(names) if name.strip())


def _assigned(text: str | None) -> tuple[str, ...]:
    """The topics of ``assign``, which is JSON: ``{"orders":[0,1]}``."""
    try:
        found = json.loads(text) if text else {}
    except ValueError:
        return ()
    return tuple(found) if isinstance(found, dict) else ()
