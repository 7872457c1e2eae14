"""HTTP back ends: which configuration can be used, and which of their answers acknowledge an event."""

import re
from math import isfinite
from urllib.parse import urlsplit

from openlineage.client.transport.http import HttpTransport
from openlineage.client.transport.http_common import DEFAULT_RETRY_CONFIG
from requests import HTTPError, Response, Session

from headwater.errors import SettingError
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
