"""A case: code that makes one dataset, and the lineage that dataset must have.

    # title: explode derives the new column from the array
    # spark: 4.0+
    CREATE TABLE out USING parquet AS SELECT id, explode(tags) AS tag FROM customers
    ---
    id  <- IDENTITY customers.id
    tag <- TRANSFORMATION customers.tags
    *   <- FILTER customers.tags

Headers: ``title``; ``spark``, the first version it is for; ``conf: key=value``, may repeat; ``language: python``, where
``spark``, ``F``, ``T``, ``Window`` and ``path`` (a fresh folder) are in scope; ``lineage: df``, which checks that
DataFrame and writes nothing; ``output``, the dataset that the last writing statement makes (``out``); ``order: any``,
where Spark leaves the columns' order open. SQL statements end with ``;`` at the end of a line.

Below a second ``---`` is the lineage of fields within columns, of a case that has any: a line for each output field,
``items.price <- IDENTITY orders.items.price``.
"""

import os
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from difflib import unified_diff
from pathlib import Path
from typing import TypeVar

from tests.extract.edge_text import CaseError, Edges, edges_of, read, render

from headwater.model import ColumnLineage, Gap

_Any = TypeVar("_Any")

FOLDER = Path(__file__).resolve().parents[1] / "cases"
HEADERS = {"title", "spark", "conf", "language", "lineage", "output", "order"}
HEADER = re.compile(r"# (?P<key>[a-z]+): (?P<value>.*\S)\s*")
VERSION = re.compile(r"(\d+)\.(\d+)\+")


@dataclass(frozen=True, slots=True)
class Case:
    """One case file. ``frame`` is the name of the DataFrame to look at, empty when the case writes ``output``."""

    family: str
    name: str
    title: str
    code: str
    expected: Edges
    python: bool = False
    frame: str = ""
    output: str = "out"
    ordered: bool = True
    since: tuple[int, int] = (0, 0)
    conf: tuple[tuple[str, str], ...] = ()
    nested: str = ""

    def __str__(self) -> str:
        return f"{self.family}/{self.name}"

    @property
    def statements(self) -> tuple[str, ...]:
        """The SQL statements, without their semicolons."""
        return tuple(filter(None, (part.strip() for part in re.split(r";\s*$", self.code, flags=re.MULTILINE))))

    def is_for(self, version: str) -> bool:
        """True when the case holds on that version of Spark.

        >>> Case("f", "n", "t", "", Edges(), since=(4, 0)).is_for("3.5.9")
        False
        """
        return reaches(version, self.since)


def cases(folder: Path = FOLDER) -> tuple[Case, ...]:
    """Every case below the folder, by family and name.

    Raises:
        CaseError: one of the files cannot be read.
    """
    return tuple(map(load, sorted(folder.glob("*/*.case"))))


def some(found: Sequence[_Any], every: int) -> Sequence[_Any]:
    """Each third case, say, because to run all takes long; all of them with EVERY_CASE in the environment."""
    return found if os.environ.get("EVERY_CASE") else found[::every]


def load(path: Path) -> Case:
    """The case in a file.

    Raises:
        CaseError: the file cannot be read; the message begins with its family and name.
    """
    try:
        return parse(path.read_text(encoding="utf-8"), path.parent.name, path.stem)
    except CaseError as fault:
        raise CaseError(f"{path.parent.name}/{path.name}: {fault}") from None


def parse(text: str, family: str = "", name: str = "") -> Case:
    """The case that a text describes.

    Raises:
        CaseError: a part is missing, a header is unknown or repeated, or the lineage cannot be read.
    """
    above, divider, below = text.partition("\n---\n")
    if not divider:
        raise CaseError("There is no line `---`; expected code above it and lineage below it.")
    headers, conf, code = _headers(above)
    below, _, nested = below.partition("\n---\n")
    if not code or "title" not in headers:
        raise CaseError("A case needs `# title: ...` and code; add what is missing.")
    return Case(
        family=family,
        name=name,
        title=headers["title"],
        code=code,
        expected=read(below),
        python=headers.get("language") == "python",
        frame=headers.get("lineage", ""),
        output=headers.get("output", "out"),
        ordered=headers.get("order") != "any",
        since=since(headers),
        conf=conf,
        nested=nested.strip(),
    )


def _headers(above: str) -> tuple[dict[str, str], tuple[tuple[str, str], ...], str]:
    headers: dict[str, str] = {}
    conf: list[tuple[str, str]] = []
    lines = above.splitlines()
    while lines and (found := HEADER.fullmatch(lines[0])):
        key, value = found["key"], found["value"]
        if key not in HEADERS or key in headers:
            raise CaseError(f"The header `{key}` is unknown or repeated; expected each of {sorted(HEADERS)} once.")
        if key == "conf":
            setting, _, wanted = value.partition("=")
            conf.append((setting, wanted))
        else:
            headers[key] = value
        lines.pop(0)
    return headers, tuple(conf), "\n".join(lines).strip()


def since(headers: Mapping[str, str]) -> tuple[int, int]:
    """The first version of Spark that a case is for. Raises CaseError for what is no version."""
    if "spark" not in headers:
        return (0, 0)
    if not (found := VERSION.fullmatch(headers["spark"])):
        raise CaseError(f"Cannot read the version {headers['spark']!r}; expected one like 4.0+.")
    return int(found[1]), int(found[2])


def reaches(version: str, first: tuple[int, int]) -> bool:
    """True for a version of Spark that is the first one or a later one."""
    major, minor = version.split(".")[:2]
    return (int(major), int(minor)) >= first


def difference(case: Case, lineage: ColumnLineage, gaps: Iterable[Gap] = ()) -> str:
    """A unified diff of the expected lineage and the one found; empty when they are equal."""
    wanted = render(case.expected, ordered=case.ordered).splitlines(keepends=True)
    found = render(edges_of(lineage, gaps), ordered=case.ordered).splitlines(keepends=True)
    return "".join(unified_diff(wanted, found, "expected", "found", n=0))
