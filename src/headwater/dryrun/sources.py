"""The code of a job: a Python file, SQL files, or the cells of a notebook, each with its own lines."""

import ast
import json
import re
import shlex
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import CodeType

from headwater.dryrun import dbt
from headwater.dryrun.pipelines import libraries, specification
from headwater.errors import SettingError

ENDINGS = (".py", ".sql", ".ipynb")
REFUSE = "__headwater_refuse__"
"""The function that a line of a notebook calls which is for its server, not for Python."""

_DATABRICKS = "# Databricks notebook source"
_COMMAND = re.compile(r"^# COMMAND -+\n", re.MULTILINE)
_MAGIC = re.compile(r"^# MAGIC ?", re.MULTILINE)
_SERVER_LINE = re.compile(r"^(\s*)([%!].*)$", re.MULTILINE)
_PERCENT = re.compile(r"^# %%(.*)$", re.MULTILINE)
_COMMENTED = re.compile(r"^# ?", re.MULTILINE)
_COMMENTED_LINE = re.compile(r"^# ?([%!]\w)", re.MULTILINE)
_PERCENT_SQL = re.compile(r"\s*(sql\b|.*\[sql\]|.*language=.sql)")
_SESSION = "SparkSession.builder"
_SQL_CELL = re.compile(r"\A\s*%{1,2}sql\b")


@dataclass(frozen=True, slots=True)
class Part:
    """Code that is run as one; ``name`` is its file, of a cell with its number (``daily.ipynb#3``)."""

    name: str
    text: str
    sql: bool = False

    def code(self) -> CodeType:
        """The code, with the lines of the text.

        Raises:
            SyntaxError: it is no Python.
        """
        if self.sql:
            return compile(_sql_calls(self.text), self.name, "exec")
        return compile(self.text, self.name, "exec")


def is_script(job: Path) -> bool:
    """Whether a job is a Python file that is run as it is, not a notebook."""
    if job.suffix != ".py":
        return False
    text = job.read_text("utf-8", "replace")
    return not text.startswith(_DATABRICKS) and not _PERCENT.search(text)


def makes_session(parts: Iterable[Part]) -> bool:
    """Whether a notebook makes its own session, so that the settings of that count."""
    return any(_SESSION in one.text for one in parts if not one.sql)


def parts(job: Path) -> list[Part]:
    """The parts of a job in the order in which they run; of a folder those of its SQL files by name.

    A folder may be a project of dbt that is compiled, or one of Spark's pipelines.

    Raises:
        SettingError: it is no such file, or a notebook that cannot be read.
    """
    if job.is_dir() and (job / dbt.PROJECT).is_file():
        model = f"{REFUSE}('a model in Python')"
        return [Part(name, text or model, sql=bool(text)) for name, text in dbt.compiled(job)]
    if job.is_dir() and (file := specification(job)):
        return [Part(str(one), one.read_text("utf-8"), one.suffix == ".sql") for one in libraries(file)]
    if job.is_dir():
        files = sorted(job.rglob("*.sql"))
        if not files:
            raise SettingError(f"There is no SQL file in {job}; expected files that end in .sql.")
        return [one for file in files for one in parts(file)]
    if not job.is_file() or job.suffix not in ENDINGS:
        raise SettingError(f"There is no job at {job}; expected a file that ends in {', '.join(ENDINGS)}, or a folder.")
    if job.suffix == ".sql":
        return [Part(str(job), job.read_text("utf-8"), sql=True)]
    if is_script(job):
        return [Part(str(job), job.read_text("utf-8"))]
    text = job.read_text("utf-8")
    if job.suffix == ".ipynb":
        texts = _notebook(job)
    else:
        texts = _commands(text) if text.startswith(_DATABRICKS) else _percent_cells(text)
    return [_cell(f"{job}#{number}", text) for number, text in texts]


def _notebook(file: Path) -> Iterator[tuple[int, str]]:
    try:
        cells = json.loads(file.read_text("utf-8"))["cells"]
        for number, cell in enumerate(cells, 1):
            if cell["cell_type"] == "code":
                yield number, "".join(cell["source"])
    except (ValueError, KeyError, TypeError) as error:
        raise SettingError(
            f"{file} is no notebook ({type(error).__name__}: {error}); expected that of Jupyter."
        ) from error


def _commands(text: str) -> Iterator[tuple[int, str]]:
    """The cells of a notebook of Databricks that is a Python file; other languages are in comments."""
    for number, cell in enumerate(_COMMAND.split(text), 1):
        code = cell.replace(_DATABRICKS, "", 1) if number == 1 else cell
        magic = code.lstrip().startswith("# MAGIC ")
        yield number, _MAGIC.sub("", code) if magic else code


def _percent_cells(text: str) -> Iterator[tuple[int, str]]:
    """The cells of a Python file with ``# %%`` before each; what is no Python is in comments."""
    first, *others = _PERCENT.split(text)
    yield 1, first
    for number, (header, cell) in enumerate(zip(others[::2], others[1::2], strict=True), 2):
        if _PERCENT_SQL.match(header):
            yield number, f"%%sql{_COMMENTED.sub('', cell)}"
        elif not re.search(r"\[(markdown|md|raw)\]", header):
            yield number, _COMMENTED_LINE.sub(r"\1", cell)


def _cell(name: str, text: str) -> Part:
    if _SQL_CELL.match(text):
        return Part(name, _SQL_CELL.sub("", text), sql=True)
    if re.match(r"\s*%(md|%markdown|%html)\b", text):
        return Part(name, "")
    return Part(name, _SERVER_LINE.sub(lambda line: f"{line[1]}{REFUSE}({line[2]!r})", text))


def _sql_calls(text: str) -> ast.Module:
    """A call of ``spark.sql`` for each statement, on the line where it begins."""
    calls = []
    for line, statement in statements(text):
        call = ast.parse(f"spark.sql({statement!r})").body[0]
        for node in ast.walk(call):
            if hasattr(node, "lineno"):
                node.lineno = node.end_lineno = line  # type: ignore[attr-defined]
        calls.append(call)
    return ast.Module(calls, [])


def statements(text: str) -> Iterator[tuple[int, str]]:
    """The SQL statements of a text, each with the line where it begins; a script (BEGIN … END) is one.

    >>> list(statements("SELECT ';';\\n\\n-- one\\nSELECT 2"))
    [(1, "SELECT ';'"), (4, 'SELECT 2')]
    """
    from sqlglot import TokenType  # jobs in Python need it not
    from sqlglot.dialects import Spark

    tokens = Spark().tokenize(text)
    if tokens and tokens[0].token_type is TokenType.BEGIN:
        yield tokens[0].line, text[tokens[0].start :].rstrip().removesuffix(";")
        return
    begin = 0
    for place, token in enumerate(tokens):
        if token.token_type is TokenType.SEMICOLON:
            yield from _statement(text, tokens[begin:place])
            begin = place + 1
    yield from _statement(text, tokens[begin:])


def _statement(text: str, tokens: Sequence[object]) -> Iterator[tuple[int, str]]:
    if tokens:
        first, last = tokens[0], tokens[-1]
        yield first.line, text[first.start : last.end + 1]  # type: ignore[attr-defined]


def job_words(text: str) -> list[str]:
    """Return the file and the arguments of a job that is written as on a command line.

    >>> job_words("daily.py --day '1 May'")
    ['daily.py', '--day', '1 May']

    Raises:
        SettingError: there are none, or quotes are not closed.
    """
    try:
        words, fault = shlex.split(text), "it is empty"
    except ValueError as error:
        words, fault = [], str(error)
    if not words:
        raise SettingError(f"The job {text!r} cannot be read ({fault}): expected FILE ARGS, quoted as in a shell.")
    return words
