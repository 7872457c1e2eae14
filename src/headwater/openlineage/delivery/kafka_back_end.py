"""Kafka as a back end: an event is delivered once a broker has acknowledged it, not when it is queued."""

from typing import Any, cast

from openlineage.client.transport.kafka import KafkaTransport

from headwater.errors import EventError

_PATIENCE = 10.0


def require_kafka_acknowledgement(transport: KafkaTransport) -> None:
    """Make the transport wait for the broker after each event, and raise when it does not acknowledge."""
    transport.flush = True
    if transport.producer is not None:
        transport.producer = cast(Any, _Producer(transport.producer))


class _Producer:
    """A producer whose ``flush`` raises ConnectionError for a message that is not acknowledged.

    The client logs the error of a delivery and goes on. A message that is given up is taken back, so that it is
    not sent beside the one that is on disk.
    """

    def __init__(self, producer: Any) -> None:
        self._producer = producer
        self._failure: Any = None

    def produce(self, **message: Any) -> None:
        """Queue a message. Raises EventError for one that no broker will ever take."""
        from confluent_kafka import KafkaError, KafkaException

        self._failure = None
        message["on_delivery"] = self._delivered
        try:
            self._producer.produce(**message)
        except KafkaException as error:
            if error.args and error.args[0].code() == KafkaError.MSG_SIZE_TOO_LARGE:
                raise EventError(f"the event is larger than `message.max.bytes` allows: {error}") from error
            raise

    def flush(self, timeout: float = -1) -> int:
        """Wait for the broker, at most ten seconds."""
        left = self._producer.flush(_PATIENCE if timeout < 0 else timeout)
        if left:
            self._producer.purge()
            self._producer.flush(1)
            raise ConnectionError(f"no broker has acknowledged the event within {_PATIENCE:g} s")
        if self._failure is not None:
            raise ConnectionError(str(self._failure))
        return 0

    def _delivered(self, error: Any, _: object) -> None:
        self._failure = error
