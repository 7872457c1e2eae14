"""Events from a Kafka topic, as the Kafka transport of the OpenLineage client sends them: one event a message."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self
from urllib.parse import urlsplit

from headwater.errors import SettingError

if TYPE_CHECKING:
    from confluent_kafka import Message

SCHEME = "kafka://"
_AT_ONCE = 500
"""Messages in one transaction of the store."""

_WAIT, _ANSWER = 1.0, 15.0  # seconds


class Topic:
    """A topic, read by a group. Messages that the group has committed do not come again.

    Raises:
        SettingError: the address cannot be read, the client is not installed, or no broker has the topic.
    """

    def __init__(self, address: str, group: str, settings: Mapping[str, str]) -> None:
        self._brokers, self._name = _parts(address)
        self._group = group
        self._client = _client(
            {
                "auto.offset.reset": "earliest",
                **settings,
                "bootstrap.servers": self._brokers,
                "group.id": group,
                "enable.auto.commit": False,  # only what is durable in the store is committed
                "enable.partition.eof": True,
            }
        )
        self._check()
        self._client.subscribe([self._name])

    def __str__(self) -> str:
        return f"the topic {self._name} at {self._brokers} as the group {self._group}"

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._client.close()

    def batches(self, until_end: bool = False) -> Iterator[list[tuple[str, bytes]]]:
        """Return messages with their origin, some hundred at a time; for ever, or until the end of the topic.

        Raises:
            SettingError: the broker no longer lets this client read.
        """
        ended: set[int] = set()
        while not (until_end and ended and len(ended) == len(self._client.assignment())):
            messages = self._client.consume(_AT_ONCE, _WAIT)
            events = self._events(messages, ended)
            if events:
                yield events

    def commit(self) -> None:
        """Commit the offsets of the batches returned so far."""
        self._client.commit(asynchronous=False)

    def _events(self, messages: Sequence["Message"], ended: set[int]) -> list[tuple[str, bytes]]:
        found = []
        for message in messages:
            if (fault := message.error()) is not None:
                if fault.name() != "_PARTITION_EOF":
                    raise SettingError(f"{self} cannot be read: {fault.str()}.")
                ended.add(message.partition() or 0)
                continue
            ended.discard(message.partition() or 0)
            if (text := message.value()) is not None:  # a deletion, in a topic that is compacted
                found.append((f"{self._name}, partition {message.partition()}, offset {message.offset()}", text))
        return found

    def _check(self) -> None:
        from confluent_kafka import KafkaException

        try:
            known = self._client.list_topics(self._name, _ANSWER).topics[self._name]
        except KafkaException as fault:
            raise SettingError(
                f"No Kafka broker answers at {self._brokers} ({fault.args[0].str()}): expected {SCHEME}HOST:PORT/TOPIC;"
                " where brokers ask for more, put the client's settings into a file and name it by --kafka-properties."
            ) from fault
        if known.error is not None:
            raise SettingError(f"{self._brokers} has no topic {self._name!r} to read: {known.error.str()}.")


def properties(file: Path | None) -> dict[str, str]:
    """The settings in a file of lines ``key=value``, ``#`` before what is none.

    Raises:
        SettingError: the file cannot be read, or one of its lines.
    """
    if file is None:
        return {}
    try:
        lines = [line.strip() for line in file.read_text().splitlines()]
    except OSError as fault:
        raise SettingError(f"{file} cannot be read ({fault.strerror}): expected settings of librdkafka.") from fault
    pairs = [line.partition("=") for line in lines if line and not line.startswith("#")]
    if any(not equals for _, equals, _ in pairs):
        raise SettingError(f"{file} has a line without '=': expected settings of librdkafka, one key=value a line.")
    return {key.strip(): value.strip() for key, _, value in pairs}


def _parts(address: str) -> tuple[str, str]:
    parts = urlsplit(address)
    name = parts.path.strip("/")
    if not parts.netloc or not name or "/" in name:
        raise SettingError(f"Cannot read {address!r}: expected {SCHEME}HOST:PORT[,HOST:PORT…]/TOPIC.")
    return parts.netloc, name


def _client(settings: dict[str, Any]) -> Any:
    try:
        from confluent_kafka import Consumer, KafkaException
    except ImportError as fault:
        raise SettingError("To read a topic, install the client for Kafka: pip install 'headwater[kafka]'.") from fault
    try:
        return Consumer(settings, logger=_quiet())
    except KafkaException as fault:
        raise SettingError(f"The settings for Kafka cannot be used: {fault.args[0].str()}.") from fault


def _quiet() -> Any:
    """Return a logger without output: librdkafka logs every connection that it retries."""
    import logging

    logger = logging.getLogger("headwater.kafka")
    logger.addHandler(logging.NullHandler())
    logger.propagate = False
    return logger
