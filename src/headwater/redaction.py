"""Redaction: secrets are masked here in every text that leaves, whoever wrote it.

Events, the log, the spool, the command line and the problems of the HTTP API use this one module. Each pattern bounds
what it looks at or consumes it, so that a text costs no more than its length. Names stay: a column may be ``token``.
"""

import re
from collections.abc import Mapping
from typing import Any

MASK = "…"

# Words of a key that holds a secret, wherever they are in it: AWS_SECRET_ACCESS_KEY, fs.azure.account.key.x.
_KEY = (
    r"(?:passw(?:or)?d|passphrase|passcode|pwd|secret|token(?!iz)|credential|jaas[_.-]?config|webhook"
    r"|(?:access|api|account|private|shared|signing|encryption|master|storage|subscription|function|sas|ssh)[_.-]?key"
    r"|(?:access|amz|goog)[_.-]?signature|(?:(?<![A-Za-z])|(?<=-D))(?:pass|sig|auth|code_verifier)(?![A-Za-z])"
    r"|(?:db|user|my)pass(?![A-Za-z]))"
)
_NAMED = re.compile(_KEY, re.IGNORECASE)
_REST_OF_KEY = r"[\w.-]{0,64}"
_QUOTED = r"""'(?:[^'\\]|\\.|'')*+(?:'|\Z)|"(?:[^"\\]|\\.|"")*+(?:"|\Z)"""
# A text inside a JSON string: its quotes are escaped.
_ESCAPED = (
    r"""(?P<slashes>\\{1,8})(?P<quote>['"])(?:(?!(?<!\\)(?P=slashes)(?P=quote)).)*+(?:(?P=slashes)(?P=quote)|\Z)"""
)
_BLOCK = r"[|>][-+0-9]{0,2}[ \t]{0,64}\r?\n[ \t]++[^\n]*+(?:\n[ \t]++[^\n]*+)*+"
_TYPE = r"(?:string|int(?:eger)?|bigint|long|double|float|boolean|binary|date|timestamp|decimal|array|map|struct)\b"
# What is masked already stays as it is: this may see the text for the second time.
_MASKED = r"""['\"]?\*\*\*|…(?:[\s&;<)}\],@'\"]|\Z)"""
_CLOSED = r"""(?:\\{0,8}['"`])?\]?"""
# Between a key and its value: a = b, a: b, a => b, a%3Db, <a>b, "name": "a", "value": "b", <name>a</name><value>b.
_BETWEEN = (
    rf"""{_CLOSED}(?:\s{{0,8}}(?:=>|->|:=|={{1,2}}|:|%3[Dd]|%3[Aa])\s{{0,8}}"""
    r"""|\s{0,8},\s{0,8}\\{0,8}['"]?value\\{0,8}['"]?\s{0,8}[:=]\s{0,8}"""
    r"""|(?:</name>\s{0,64}<value)?>)"""
)
_VALUE = re.compile(
    rf"({_KEY}{_REST_OF_KEY}(?<!\.scala)(?<!\.java){_BETWEEN})(?!{_MASKED}|{_TYPE})"
    rf"(?:{_QUOTED}|{_ESCAPED}|{_BLOCK}|\{{[^}}]*+(?:\}}|\Z)|\[[^\]]*+(?:\]|\Z)|[^\s&;<]++)",
    re.IGNORECASE | re.DOTALL,
)
# IDENTIFIED BY 'x', password 'x', option("password", "x"), (fs.s3a.secret.key,x) as Scala prints a pair.
_QUOTED_VALUE = re.compile(
    rf"((?:{_KEY}{_REST_OF_KEY}{_CLOSED}\s{{0,8}}(?:[,\s]|=>|[=:])|\bidentified\s{{1,8}}(?:by|as))\s{{0,8}})"
    rf"(?!{_MASKED}|['\"]value['\"]\s{{0,8}}[:=])(?:{_QUOTED})",
    re.IGNORECASE | re.DOTALL,
)
_PAIR = re.compile(rf"(\([\w.-]{{0,64}}?{_KEY}{_REST_OF_KEY},)(?!{_MASKED})[^)]++", re.IGNORECASE)
# A line of a configuration has its value to the end, and further where it is folded.
_LINE = re.compile(
    rf"(^(?P<indent>[ \t]{{0,64}})(?:export[ ])?[\w.-]{{0,64}}?{_KEY}{_REST_OF_KEY}[ \t]{{0,8}}[=:][ \t]{{0,8}})"
    rf"(?!['\"\s|>]|{_MASKED}|{_TYPE})[^\n]++(?:\n(?P=indent)[ \t]{{1,64}}(?!at |\.\.\. )[^\n]++)*+",
    re.IGNORECASE | re.MULTILINE,
)
_FLAG = re.compile(
    rf"((?<![\w-])--?[\w.-]{{0,64}}?{_KEY}{_REST_OF_KEY}\s{{1,8}})(?!-|{_MASKED})(?:{_QUOTED}|\S++)",
    re.IGNORECASE | re.DOTALL,
)
_USER_FLAG = re.compile(
    rf"""((?<![\w-])(?:-u|--user|--proxy-user)[\s=]{{1,8}})(?!{_MASKED})(?:{_QUOTED}|[^\s:]{{0,128}}:\S++)""", re.DOTALL
)
_HEADER = re.compile(
    r"""((?:proxy-)?authorization\\{0,8}['"]?\s{0,8}[:=]\s{0,8}\\{0,8}['"]?(?:[A-Za-z][\w-]{0,32}\s{1,8})?+|(?:set-)?cookie\\{0,8}['"]?\s{0,8}:\s{0,8}\\{0,8}['"]?)"""
    r"""(?!…|\*\*\*)[^\s"'\\](?:[^\n"'\\,]*+)""",
    re.IGNORECASE,
)
_BEARER = re.compile(
    r"\b(bearer\s{1,8})[\w.~+/=-]++|\b((?:basic|negotiate)\s{1,8})(?=[\w.~+/=-]{8})[\w.~+/=-]++", re.IGNORECASE
)
_PEM = re.compile(
    r"-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----.*?(?:-----END [A-Z0-9 ]{0,40}-----|\Z)", re.DOTALL
)
_TOKENS = re.compile(
    r"(?<![\w-])(?:(?:AKIA|ASIA|AROA|AIDA|AGPA|ANPA)[A-Z0-9]{16}|eyJ[\w-]{6,}+\.[\w-]{4,}+(?:\.[\w-]*+){0,3}"
    r"|gh[pousr]_\w{20,}+|github_pat_\w{20,}+|glpat-[\w-]{20,}+|xox[abeoprs]-[\w-]{10,}+|AIza[\w-]{30,}+"
    r"|dapi[0-9a-f]{32}(?:-\d)?|sk-[\w-]{20,}+|sk_(?:live|test)_\w{16,}+|hf_\w{30,}+|npm_\w{30,}+|pypi-[\w-]{50,}+"
    r"|hw_[0-9a-f]{12}_[0-9a-f]{64})(?![\w-])"
)
_ORACLE = re.compile(r"(\bjdbc:oracle:\w{1,16}:)([^\s'\"<>`]++)", re.IGNORECASE)
_URL = re.compile(r"//[^\s'\"<>`]++")
_QUERY = re.compile(r"\?[A-Za-z_][\w.%~\[\]-]{0,128}=[^\s'\"<>`)]*+")
# Of these the part before "@" is a container.
_CONTAINERS = ("abfs:", "abfss:", "wasb:", "wasbs:")
_PORT = re.compile(r"[^:]*:\d{1,5}(?:,[^:]*:\d{1,5})*")
_COLUMNS = re.compile("field|column", re.IGNORECASE)


def redact(text: str) -> str:
    """Return the text without the secrets of URLs, headers, options, keys and values that are named like one.

    >>> redact("POST http://me:pw@host/api?key=1 failed")
    'POST http://…@host/api?… failed'
    >>> redact("no postgresql://me:hunter2@db/x for password=hunter2, token: 'abc'")
    'no postgresql://…@db/x for password=… token: …'
    >>> redact("cannot resolve column `token`; did you mean `password_hash`?")
    'cannot resolve column `token`; did you mean `password_hash`?'
    """
    text = _HEADER.sub(rf"\1{MASK}", _statement(text))
    text = _USER_FLAG.sub(rf"\1{MASK}", _BEARER.sub(lambda found: f"{found[1] or found[2]}{MASK}", text))
    if _NAMED.search(text) is None:
        return text
    for pattern in (_LINE, _VALUE, _PAIR, _FLAG):
        text = pattern.sub(rf"\1{MASK}", text)
    return text


def redact_sql(text: str) -> str:
    """Return a statement without the secrets of its literals; what is not quoted is an expression and stays.

    >>> redact_sql("select token = t.token from t options (password 'x', url 'jdbc:postgresql://u:p@h/db')")
    "select token = t.token from t options (password …, url 'jdbc:postgresql://…@h/db')"
    """
    return _statement(text)


def redact_json(value: Any) -> Any:
    """Return a JSON value of the same shape without secrets: values of keys that are named like one, and texts.

    Keys below ``fields`` and ``columns`` are names of columns, and a type names fields too.

    >>> redact_json({"conf": {"api_key": 7, "url": "http://u:p@h"}, "fields": [{"name": "token", "type": "string"}]})
    {'conf': {'api_key': '…', 'url': 'http://…@h'}, 'fields': [{'name': 'token', 'type': 'string'}]}
    """
    return _redacted(value, secret=False, of_columns=False)


def is_secret(name: str) -> bool:
    """Whether a key or an option is named like what holds a secret."""
    return _NAMED.search(name) is not None


def _statement(text: str) -> str:
    """Mask what shows itself as a secret, or is part of a URL, whatever stands before it."""
    text = _TOKENS.sub(MASK, _PEM.sub(MASK, text))
    text = _QUERY.sub(f"?{MASK}", _ORACLE.sub(_without_oracle_user, text))
    if "//" in text:
        whole = text
        text = _URL.sub(lambda found: _without_user(found, whole), whole)
    return _QUOTED_VALUE.sub(rf"\1{MASK}", text) if "'" in text or '"' in text else text


def _without_oracle_user(found: re.Match[str]) -> str:
    user, at, place = found[2].rpartition("@")
    return f"{found[1]}{MASK}@{place}" if at and user else found[0]


def _without_user(found: re.Match[str], text: str) -> str:
    """A URL without user and password, which may hold slashes that nobody escaped."""
    rest = found[0][2:]
    authority = re.split(r"[/?#]", rest, maxsplit=1)[0]
    if "@" not in rest or ("@" not in authority and (":" not in authority or _PORT.fullmatch(authority))):
        return found[0]
    scheme = text[max(0, found.start() - 6) : found.start()].lower()
    if ":" not in rest.rpartition("@")[0] and scheme.endswith(_CONTAINERS):
        return found[0]
    half = ":" in authority.rpartition("@")[0] or "@" not in authority
    place = rest.rpartition("@")[2] if half else authority.rpartition("@")[2] + rest[len(authority) :]
    return f"//{MASK}@{place}"


def _redacted(value: Any, *, secret: bool, of_columns: bool) -> Any:
    if isinstance(value, Mapping):
        return _redacted_object(value, secret=secret, of_columns=of_columns)
    if isinstance(value, list | tuple):
        return [_redacted(one, secret=secret, of_columns=False) for one in value]
    if secret and isinstance(value, str | int | float) and not isinstance(value, bool):
        return MASK if value != "***" else value
    return redact(value) if isinstance(value, str) else value


def _redacted_object(value: Mapping[str, Any], *, secret: bool, of_columns: bool) -> dict[str, Any]:
    pair = any(isinstance(value.get(key), str) and is_secret(value[key]) for key in ("name", "key"))
    found: dict[str, Any] = {}
    for key, one in value.items():
        named = secret or (not of_columns and is_secret(key)) or (pair and key == "value")
        is_type = isinstance(one, str) and not named and key.lower().endswith("type")
        below_columns = _COLUMNS.search(key) is not None
        shown = one if is_type else _redacted(one, secret=named, of_columns=below_columns)
        found[key if of_columns else redact(key)] = shown
    return found
