"""Texts without secrets: whatever others say is masked here before it is logged, told or kept."""

import re

_NAMES = r"(?:password|passwd|pwd|passphrase|secret|token|credential|(?:access|api|account|private)[_.-]?key)"
# Lengths are bounded, so that a long text costs no more than its length.
_CREDENTIALS = re.compile(r"//(?:[^\s/@:'\"]{0,256}:[^\s'\"]{0,512}|[^/@\s]{0,512})@")
_QUERY = re.compile(r"\?[^\s'\")]+")
_BEARER = re.compile(r"(?i)\b(bearer|basic)\s{1,8}[\w.~+/=-]+")
_VALUE = re.compile(
    rf"(?i)({_NAMES}[\w.-]{{0,64}}['\"`]?\s{{0,8}}(?:=>|[=:])\s{{0,8}})(?:'[^']*(?:'|$)|\"[^\"]*(?:\"|$)|[^\s&;]+)"
)
_LONGEST = 8192


def without_secrets(text: str) -> str:
    """The text without what URLs and headers hold of credentials, and without values of what is named like a secret.

    Of a text of more than 8192 characters the rest is left out.

    >>> without_secrets("POST http://me:pw@host/api?key=1 failed")
    'POST http://…@host/api?… failed'
    >>> without_secrets("no postgresql://me:hunter2@db/x for password=hunter2, token: 'abc'")
    'no postgresql://…@db/x for password=… token: …'
    """
    known = _QUERY.sub("?…", _CREDENTIALS.sub("//…@", text[:_LONGEST]))
    return _VALUE.sub(r"\1…", _BEARER.sub(r"\1 …", known))
