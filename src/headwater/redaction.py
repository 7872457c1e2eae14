"""Redaction: secrets are masked here in every text that leaves, whoever wrote it.

Events, the log, the spool, the command line and the problems of the HTTP API use this one module. Each pattern bounds
what it looks at or consumes it, so that a text costs no more than its length. Names stay: a column may be ``token``.
"""

import sys
from collections.abc import Collection, Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING or sys.version_info >= (3, 11, 5):
    import re
else:  # before, `re` ends possessive groups too early (cpython issue 106052), and secrets would stay
    import regex as re

MASK = "…"

# As it is, decomposed, without its tilde, and escaped as JSON, YAML, Python and addresses do.
_ENYE = (
    r"(?:ñ|n(?:\u0303|\\{1,8}u0303|%(?:25){0,3}cc%(?:25){0,3}83)?"
    r"|\\{1,8}(?:u00[df]1|x[df]1)|%(?:25){0,3}c3%(?:25){0,3}[b9]1)"
)
# Words of a key that holds a secret, wherever they are in it: AWS_SECRET_ACCESS_KEY, fs.azure.account.key.x.
_KEY = (
    rf"(?:passw(?:or)?[dt]|passphrase|passcode|pwd|kennwort|contrase{_ENYE}a|secret|token(?!iz)|credential"
    r"|jaas[_.-]?config|webhook|client_assertion(?!_)"
    r"|(?:access|api|account|private|shared|signing|encryption|hmac|master|storage|subscription|function|license|fernet"
    r"|sas|ssh)[ _.-]?key|(?:access|amz|goog)[_.-]?signature|(?<=&)(?:signature|key|code)(?==)"
    r"|(?:(?<![A-Za-z])|(?<=-D))(?:pass|pw|psw|pword|otp|sig|auth|salt|code_verifier)(?![A-Za-z])|(?:db|user|my)pass(?![A-Za-z]))"
)
_NAMED = re.compile(_KEY, re.IGNORECASE)
_REST_OF_KEY = r"[\w.-]{0,64}"
_QUOTED = r"""'(?:[^'\\]|\\.|'')*+(?:'|\Z)|"(?:[^"\\]|\\.|"")*+(?:"|\Z)"""
# A text inside a JSON string: its quotes are escaped.
_ESCAPED = (
    r"""(?P<slashes>\\{1,8})(?P<quote>['"])(?:(?!(?<!\\)(?P=slashes)(?P=quote)).)*+(?:(?P=slashes)(?P=quote)|\Z)"""
)
_ENTITY = r"&(?:quot|apos|#3[49]);"
_IN_ENTITIES = rf"{_ENTITY}(?:(?!{_ENTITY}).)*+(?:{_ENTITY}|\Z)"
_IN_XML = r"<!\[CDATA\[(?:(?!\]\]>).)*+(?:\]\]>|\Z)"
_IN_BRACES = r"\{(?:[^{}]++|\{(?:[^{}]++|\{[^{}]*+\})*+\})*+(?:\}|\Z)"
_BLOCK = r"[|>][-+0-9]{0,2}[ \t]{0,64}\r?\n[ \t]++[^\n]*+(?:\n[ \t]++[^\n]*+)*+"
_TYPE = r"(?:string|int(?:eger)?|bigint|long|double|float|boolean|binary|date|timestamp|decimal|array|map|struct)\b"
# What is masked already stays as it is: this may see the text for the second time.
_MASKED = r"""['\"]?\*\*\*|…(?:[\s&;<)}\],|@/'\"]|\Z)"""
_MARK = rf"""(?:\\{{0,8}}(?:['"`]|u002[27])|{_ENTITY}|%(?:25){{0,3}}2[27])?"""  # a quote, however it is escaped
_CLOSED = rf"{_MARK}\]?"
_COLON = r"(?:=>|->|:=|={1,2}|:|\uff1a|\\{1,8}u003[ad]|%(?:25){0,3}3[ad])"
# Between a key and its value: a = b, a: b, a => b, a%3Db, <a>b, "name": "a", "value": "b", <name>a</name><value>b.
_BETWEEN = (
    rf"""{_CLOSED}(?:\s{{0,64}}{_COLON}\s{{0,8}}"""
    rf"""|(?:\s{{0,8}},|\s)\s{{0,64}}{_MARK}value{_MARK}\s{{0,8}}[:=]\s{{0,8}}"""
    r"""|(?:</name>\s{0,64}(?:<\w{1,32}>[^<]{0,256}</\w{1,32}>\s{0,64}){0,3}<value)?>)"""
)
_VALUE = re.compile(
    rf"({_KEY}{_REST_OF_KEY}(?<!\.scala)(?<!\.java){_BETWEEN})(?!{_MASKED}|{_TYPE})"
    rf"(?:{_QUOTED}|{_ESCAPED}|{_IN_ENTITIES}|{_IN_XML}|{_BLOCK}|{_IN_BRACES}|\[[^\]]*+(?:\]|\Z)|[^\s&;<]++)",
    re.IGNORECASE | re.DOTALL,
)
# The other way round: "value": "b", "name": "a".
_VALUE_FIRST = re.compile(
    rf"""(\bvalue{_MARK}\s{{0,8}}[:=]\s{{0,8}})(?!{_MASKED})"""
    rf"""(?:\\{{0,8}}['"](?:[^'"\\]|\\[^'"\\]){{0,256}}+\\{{0,8}}['"]|[^\s,'"}}\\]{{1,256}}+)"""
    rf"""(?=\s{{0,8}},\s{{0,8}}{_MARK}(?:name|key){_MARK}\s{{0,8}}[:=]\s{{0,8}}{_MARK}[\w.-]{{0,64}}?{_KEY})""",
    re.IGNORECASE,
)
# IDENTIFIED BY 'x', password 'x', option("password", "x"), setPassword("x").
_QUOTED_VALUE = re.compile(
    rf"((?:{_KEY}{_REST_OF_KEY}{_CLOSED}\s{{0,8}}(?:[,\s(]|=>|[=:])|\bidentified\s{{1,8}}(?:by|as))\s{{0,8}})"
    rf"(?!{_MASKED}|['\"]value['\"]\s{{0,8}}[:=])r?(?:{_QUOTED})",
    re.IGNORECASE | re.DOTALL,
)
# Scala prints a pair as (fs.s3a.secret.key,x).
_PAIR = re.compile(rf"(\([\w.-]{{0,64}}?{_KEY}{_REST_OF_KEY},)(?!{_MASKED})[^)]++", re.IGNORECASE)
# A line of a configuration has its value to the end, and further where it is folded.
_LINE = re.compile(
    rf"""(^(?P<indent>[ \t]{{0,64}})(?:export[ ]|['"])?[\w.-]{{0,64}}?{_KEY}{_REST_OF_KEY}['"]?"""
    r"[ \t]{0,64}[=:][ \t]{0,8})"
    rf"(?!['\"\s|>]|{_MASKED}|{_TYPE})[^\n]++(?:\n(?P=indent)[ \t]{{1,64}}(?!at |\.\.\. )[^\n]++)*+",
    re.IGNORECASE | re.MULTILINE,
)
# A line of spark-defaults.conf, and a row of what SET shows.
_DEFAULT = re.compile(
    rf"(^[ \t|]{{0,64}}(?=\w{{1,64}}\.)[\w.-]{{0,128}}?{_KEY}{_REST_OF_KEY}[ \t|]{{1,64}})(?![ \t|]|{_MASKED})"
    r"[^\s|]++(?=[ \t|]{0,64}\r?$)",
    re.IGNORECASE | re.MULTILINE,
)
_FLAG = re.compile(
    rf"((?<![\w-])--?[\w.-]{{0,64}}?{_KEY}{_REST_OF_KEY}(?:\s{{1,8}}|,\s{{0,8}}))(?!-|{_MASKED})(?:{_QUOTED}|\S++)",
    re.IGNORECASE | re.DOTALL,
)
_SAID = "provided|given|supplied|used|value|is|was"
# In a sentence a word is only taken for a secret after a colon, or where it has letters and digits.
_PROSE = re.compile(
    rf"({_KEY}{_REST_OF_KEY}(?:(?:\s(?:{_SAID})){{1,2}}:\s{{1,4}}|(?:\s(?:{_SAID})){{0,2}}\s{{1,4}}"
    rf"(?=[a-z]{{0,64}}\d)(?=\d{{0,64}}[a-z])(?=[^\s'\",;().]{{8}}))['\"]?)(?!{_MASKED})[^\s'\",;()]++",
    re.IGNORECASE,
)
_USER_FLAG = re.compile(
    rf"""((?<![\w-])(?:-u[\s=]{{0,8}}|(?:--user|--proxy-user)[\s=]{{1,8}}))(?!{_MASKED})(?:{_QUOTED}|[^\s:]{{0,128}}:\S++)""",
    re.DOTALL,
)
# Of these programs -p is a password.
_SHORT_FLAG = re.compile(
    r"(\b(?:sshpass|mysql\w{0,8}|mariadb|sqlcmd|bcp|docker login)(?=\s)(?:(?!\s-p)[^\n|]){0,128}?\s-p\s?)"
    rf"(?!{_MASKED})\S++",
    re.IGNORECASE,
)
_PARAMETER = r"""(?:=\\{0,8}"[^"\n]*+"|[^\n"'\\,])*+"""
_HEADER = re.compile(
    r"""((?:proxy-)?authorization\\{0,8}['"]?\s{0,8}[:=]\s{0,8}\\{0,8}['"]?(?:[A-Za-z][\w-]{0,32}\s{1,8})?+|(?:set-)?cookie\\{0,8}['"]?\s{0,8}:\s{0,8}\\{0,8}['"]?)"""
    rf"""(?!…|\*\*\*)[^\s"'\\]{_PARAMETER}(?:,\s{{0,8}}(?=[\w-]{{1,32}}=){_PARAMETER})*+""",
    re.IGNORECASE,
)
_BEARER = re.compile(
    r"\b(bearer\s{1,8})[\w.~+/=-]++|\b((?:basic|negotiate)\s{1,8})(?=[\w.~+/=-]{8})[\w.~+/=-]++", re.IGNORECASE
)
_PEM = re.compile(
    r"-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----.*?(?:-----END [A-Z0-9 ]{0,40}-----|\Z)"
    r"|(?<=Private-Lines: )\d{1,3}\s(?:[\w+/=]++\s)*+",
    re.DOTALL,
)
# What shows itself as a secret, by what is in each of them.
_TOKEN_SHAPES = {
    **dict.fromkeys(
        ("AKIA", "ASIA", "AROA", "AIDA", "AGPA", "ANPA"),
        r"(?:AKIA|ASIA|AROA|AIDA|AGPA|ANPA)[A-Z0-9]{16}(?:[\s:,;|'\"]{1,8}[A-Za-z0-9+/]{40}(?![\w+/]))?",
    ),
    "eyJ": r"eyJ[\w-]{6,}+\.[\w-]{4,}+(?:\.[\w-]*+){0,3}",
    **dict.fromkeys(("ghp_", "gho_", "ghu_", "ghs_", "ghr_"), r"gh[pousr]_\w{20,}+"),
    "github_pat_": r"github_pat_\w{20,}+",
    **dict.fromkeys(("glpat", "glsa", "gldt", "glrt"), r"gl(?:pat|sa|dt|rt)[-_][\w-]{20,}+"),
    "xox": r"xox[abeoprs]-[\w-]{10,}+",
    "xapp-": r"xapp-[\w-]{10,}+",
    "AIza": r"AIza[\w-]{30,}+",
    "ya29.": r"ya29\.[\w-]{20,}+",
    "GOCSPX-": r"GOCSPX-[\w-]{20,}+",
    "dapi": r"dapi[0-9a-f]{32}(?:-\d)?",
    "sk-": r"sk-[\w-]{20,}+",
    **dict.fromkeys(("k_live_", "k_test_"), r"[rs]k_(?:live|test)_\w{16,}+"),
    "whsec_": r"whsec_\w{20,}+",
    "hf_": r"hf_\w{30,}+",
    "npm_": r"npm_\w{30,}+",
    "pypi-": r"pypi-[\w-]{50,}+",
    "dckr_pat_": r"dckr_pat_[\w-]{20,}+",
    "ATATT3": r"ATATT3[\w=-]{20,}+",
    "SG.": r"SG\.[\w-]{16,}+\.[\w-]{16,}+",
    **dict.fromkeys(("hvs.", "hvb.", "hvr."), r"hv[sbr]\.[\w-]{20,}+"),
    "dp.": r"dp\.\w{2,8}\.\w{30,}+",
    "bot": r"bot\d{6,12}:[\w-]{30,}+",
    "Q~": r"[\w.~]{3}[78]Q~[\w.~-]{31,34}",
    "MII": r"MII[A-Za-z0-9+/]{40,}+={0,2}(?:(?:\\n|\r?\n)[A-Za-z0-9+/]{16,}+={0,2})*+",
    "==": r"[A-Za-z0-9+/]{86}==",
    "hw_": r"hw_[0-9a-f]{12}_[0-9a-f]{64}",
}
_TOKENS = re.compile(rf"(?<![\w-])(?:{'|'.join(dict.fromkeys(_TOKEN_SHAPES.values()))})(?![\w-])")
_ORACLE = re.compile(r"""(\bjdbc:oracle:\w{1,16}:)((?:"[^"\s]{0,128}"|[^\s'"<>`])++)""", re.IGNORECASE)
_URL = re.compile(r"//[^\s'\"<>`]++")
_QUERY = re.compile(r"\?[A-Za-z_][\w.%~\[\]-]{0,128}=[^\s'\"<>`)]*+")
_WEBHOOK = re.compile(r"(\bhooks\.slack\.com/\w{1,16}/|/webhook(?:s|b2)?/)(?!…)[^\s'\"<>`)]++", re.IGNORECASE)
# User and password where the URL is escaped, has characters that end it, is cut off, or has no scheme.
_OTHER_USERS = re.compile(
    r"((?:%(?:25){0,3}2f){2})(?:(?!%(?:25){0,3}(?:2f|40))[^\s'\"<>&]){1,256}+(?=%(?:25){0,3}40)"
    r"|(\\{1,8}/\\{1,8}/)(?:[^\s@'\"<>\\/:]{0,128}:(?!\d{1,5}\\{0,8}/)[^\s@'\"<>]{1,256}|[^\s@'\"<>\\/:]{1,128})(?=@)"
    r"|(//(?=[^\s/?#@:'\"<>]{0,128}:(?!\d{1,5}(?:\D|\Z))\S))[^\n@/]{1,128}(?=@[\w.-])"
    r"|(//[^\s/?#@:'\"<>]{1,128}:)(?!\d{1,5}(?:\W|\Z))[^\s@/]{1,128}\Z"
    r"|((?<![\w/.:-])[\w.+-]{1,64}:)[^\s:@/'\"]{1,128}(?=@[\w.-]{1,128}(?::\d{2,5}\b|/))",
    re.IGNORECASE,
)
# Of these the part before "@" is a container.
_CONTAINERS = ("abfs:", "abfss:", "wasb:", "wasbs:")
_PORT = re.compile(r"[^:]*:\d{1,5}(?:,[^:]*:\d{1,5})*")
_COLUMNS = re.compile("field|column", re.IGNORECASE)
_COMMENT = r"--[^\n]*+|/\*(?:(?!\*/).)*+(?:\*/|\Z)"
_LITERAL = re.compile(rf"{_QUOTED}|{_COMMENT}", re.DOTALL)
_SETTING = re.compile(
    rf"(\A\s{{0,64}}set\s{{1,8}}`?[\w.-]{{0,64}}?{_KEY}{_REST_OF_KEY}`?\s{{0,8}}=\s{{0,8}}+)(?!{_MASKED})[^\n]++",
    re.IGNORECASE,
)
# The key of an encryption is an argument without a name.
_ENCRYPTION = re.compile(
    rf"\b(?:(?:try_)?aes|pgp_sym)_(?:en|de)crypt(?:_bytea)?\s{{0,8}}\((?:{_QUOTED}|[^()'\"]++|\((?:{_QUOTED}|[^()'\"]++|\([^()]*+\))*+\))*+",
    re.IGNORECASE | re.DOTALL,
)
_LITERALS = re.compile(_QUOTED, re.DOTALL)
# A quote in a name between backticks or in a comment begins no literal.
_NAME_OR_LITERAL = re.compile(rf"(`(?:[^`]|``)*+(?:`|\Z)|{_COMMENT})|{_QUOTED}", re.DOTALL)
# One of these is in whatever may hold a secret or a literal, other than what `_SETTING` is for.
_MARKS = ("'", '"', "`", ":", "@", "%", "?", "--", "//", "/*", *_TOKEN_SHAPES)
# Whether a literal of SQL is worth a look; most are shorter than a name with a value.
_SHORT = 8
_HINT = re.compile(rf"{_KEY}|authorization|cookie|bearer|basic|negotiate| -[up]|--user", re.IGNORECASE)


def redact(text: str) -> str:
    """Return the text without the secrets of URLs, headers, options, keys and values that are named like one.

    >>> redact("POST http://me:pw@host/api?key=1 failed")
    'POST http://…@host/api?… failed'
    >>> redact("no postgresql://me:hunter2@db/x for password=hunter2, token: 'abc'")
    'no postgresql://…@db/x for password=… token: …'
    >>> redact("cannot resolve column `token`; did you mean `password_hash`?")
    'cannot resolve column `token`; did you mean `password_hash`?'
    """
    text = _statement(_HEADER.sub(rf"\1{MASK}", text))
    text = _BEARER.sub(lambda found: f"{found[1] or found[2]}{MASK}", text)
    flags, named = (_USER_FLAG, _SHORT_FLAG), (_LINE, _DEFAULT, _VALUE, _VALUE_FIRST, _PAIR, _FLAG, _PROSE)
    for pattern in flags if _NAMED.search(text) is None else (*flags, *named):
        text = pattern.sub(rf"\1{MASK}", text)
    return text


def redact_sql(text: str) -> str:
    """Return a statement without the secrets of its literals; what is not quoted is an expression and stays.

    >>> redact_sql("select token = t.token from t options (password 'x', url 'jdbc:postgresql://u:p@h/db')")
    "select token = t.token from t options (password …, url 'jdbc:postgresql://…@h/db')"
    """
    text = _SETTING.sub(rf"\1{MASK}", _statement(text))
    return _LITERAL.sub(_without_secrets, text)


def redact_literals(text: str) -> str:
    """Return a statement or an expression with a mask in place of each quoted literal, however it is cut off.

    Such a literal may be a secret or somebody's name; names of columns and numbers stay.

    >>> redact_literals("CASE WHEN (owner = 'Jane Doe') THEN `it's` * 1.1D ELSE concat(a, 'x")
    "CASE WHEN (owner = '…') THEN `it's` * 1.1D ELSE concat(a, '…'"
    """
    if hold_no_literals((text,)):
        return text
    return _NAME_OR_LITERAL.sub(lambda found: found[1] or f"'{MASK}'", redact_sql(text))


def hold_no_literals(texts: Collection[str]) -> bool:
    """Whether there is nothing for `redact_literals` in any of the texts: one look at the thousands of a wide frame.

    >>> hold_no_literals(("(a + 1)", "upper(b)")), hold_no_literals(("(a + 1)", "concat(b, 'x')"))
    (True, False)
    """
    together = "\0".join(texts)
    return not any(map(together.__contains__, _MARKS)) and not any(map(_SETTING.match, texts))


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
        whole = _WEBHOOK.sub(rf"\1{MASK}", text)
        text = _URL.sub(lambda found: _without_user(found, whole), whole)
    if "@" in text or "%" in text or "//" in text:
        text = _OTHER_USERS.sub(lambda found: f"{next(filter(None, found.groups()))}{MASK}", text)
    if "'" not in text and '"' not in text:
        return text
    text = _ENCRYPTION.sub(lambda found: _LITERALS.sub(MASK, found[0]), text)
    return _QUOTED_VALUE.sub(rf"\1{MASK}", text)


def _without_secrets(match: re.Match[str]) -> str:
    """A literal or a comment of SQL, whose text anybody may have written."""
    text = match[0]
    if len(text) < _SHORT or _HINT.search(text) is None:
        return text
    return f"{text[0]}{redact(text[1:-1])}{text[-1]}" if text[0] in "'\"" and text[-1] == text[0] else redact(text)


def _without_oracle_user(match: re.Match[str]) -> str:
    user, at, place = match[2].rpartition("@")
    return f"{match[1]}{MASK}@{place}" if at and user else match[0]


def _without_user(match: re.Match[str], text: str) -> str:
    """A URL without user and password, which may hold slashes that nobody escaped."""
    rest = match[0][2:]
    authority = re.split(r"[/?#]", rest, maxsplit=1)[0]
    if "@" not in rest or ("@" not in authority and (":" not in authority or _PORT.fullmatch(authority))):
        return match[0]
    scheme = text[max(0, match.start() - 6) : match.start()].lower()
    if ":" not in rest.rpartition("@")[0] and scheme.endswith(_CONTAINERS):
        return match[0]
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
