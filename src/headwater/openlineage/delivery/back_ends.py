"""Back ends: which of the answers of an HTTP server acknowledge an event, and when one of Kafka is delivered.

With Kafka an event is delivered once a broker has acknowledged it, not when it is queued.
"""

import re
from math import isfinite
from typing import Any, cast
from urllib.parse import urlsplit

from openlineage.client.transport.http import HttpTransport
from openlineage.client.transport.http_common import DEFAULT_RETRY_CONFIG
from openlineage.client.transport.kafka import KafkaTransport
from requests import HTTPError, Response, Session

from headwater.errors import EventError, SettingError
from headwater.redaction import redact

# Answers that are about the event and will be the same next time; all others are about the configuration or the moment.
_FINAL = frozenset({400, 409, 413, 422})
# What nginx, Apache and Go answer with 400 to http:// where https:// is meant.
_HTTP_FOR_HTTPS = re.compile(r"plain HTTP|HTTP request to an HTTPS", re.IGNORECASE)
# With these the method and the body stay as they are (RFC 9110, 15.4); with the others a POST becomes a GET.
_REDIRECTS = frozenset({307, 308})
# The spool is the retry; the client's default of five would hold the end of a job for nine seconds.
_RETRY = {"total": 1, "backoff_factor": 0, "allowed_methods": ["POST"]}
_DAY = 86_400


def require_acknowledgement(transport: HttpTransport) -> None:
    """Make the transport raise for each answer that is neither a success nor repeats the POST elsewhere.

    Raises:
        SettingError: no request can be made of its URL or timeout.
    """
    _require_url(transport.url)
    transport.timeout = _timeout(transport.timeout)
    if transport.config.retry == DEFAULT_RETRY_CONFIG:
        transport.config.retry = dict(_RETRY)
    session = transport.config.session or Session()
    session.hooks["response"].append(_refuse_other_answers)
    transport.session = session


def status_of(error: Exception) -> int | None:
    """The status of the answer that the error is about, None of another error."""
    status = getattr(getattr(error, "response", None), "status_code", None)
    return status if isinstance(status, int) else None


def is_final(error: Exception) -> bool:
    """Whether the answer is about the event, and will be the same next time."""
    return status_of(error) in _FINAL and not _HTTP_FOR_HTTPS.search(answer_text(error))


def answer_text(error: Exception) -> str:
    """The beginning of the answer that the error is about."""
    return str(getattr(getattr(error, "response", None), "text", ""))[:4096]


def _require_url(url: str) -> None:
    parts = urlsplit(url)
    try:
        usable = parts.port != 0 and bool((parts.hostname or "").encode("idna"))
    except ValueError:
        usable = False
    if not usable or parts.scheme not in {"http", "https"} or re.search(r"\s", parts.netloc):
        raise SettingError(f"its URL is {redact(url)!r}; expected http://HOST:PORT or https://HOST")


def _timeout(seconds: object) -> float:
    try:
        number = float(str(seconds))
    except ValueError:
        number = 0.0
    if not isfinite(number) or not 0 < number <= _DAY:
        raise SettingError(f"its timeout is {redact(repr(seconds))}; expected seconds above 0, at most {_DAY}")
    return number


def _refuse_other_answers(response: Response, *_: object, **__: object) -> None:
    status = response.status_code
    if not 200 <= status < 300 and status not in _REDIRECTS:
        place = response.headers.get("Location", "")
        moved = f"; the back end is at {redact(place)}: correct its URL" if response.is_redirect else ""
        raise HTTPError(f"it answered {status}{moved}", response=response)


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
