"""The lines of a plan's text as a tree (Spark's ``TreeNode.generateTreeString``)."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from headwater.errors import PlanError

_MARK = re.compile(r"^(?:(?P<indent>[ :]*?)(?P<mark>[+:]- ))?(?P<text>.*)$", re.DOTALL)
_TYPE = (
    r"(?:bigint|binary|boolean|date|double|float|int|smallint|string|timestamp(?:_ntz)?|tinyint|variant|void"
    r"|(?:array|map|struct)<.*>|(?:char|decimal|varchar)\([\d,]+\)|interval [a-z ]+)"
)
_SCHEMA = re.compile(rf"[^\[(]*?: \w|.*: {_TYPE}$")
# Before an operator's name stands "'" while it is unresolved, and "~" where it is of a stream.
_INNER = 3


# Not frozen: a tree grows while its lines are read.
@dataclass(slots=True, eq=False)
class Line:
    """One operator: its text, its children, and the plans of its subqueries or of the command's query."""

    text: str
    column: int
    children: list["Line"] = field(default_factory=list)
    inner: list["Line"] = field(default_factory=list)

    @property
    def name(self) -> str:
        """The operator's name: the first word."""
        return re.split(r"[ \[(]", self.text, maxsplit=1)[0]

    @property
    def rest(self) -> str:
        """The text after the name."""
        return self.text[len(self.name) :].strip()


def analyzed_plan(explained: str) -> str:
    """The analyzed plan in the text of ``EXPLAIN EXTENDED``.

    Raises:
        PlanError: there is none, because the analysis failed.

    >>> analyzed_plan("== Analyzed Logical Plan ==\\na: int\\nProject [a#1]\\n\\n== Opt")
    'a: int\\nProject [a#1]'
    """
    _, found, after = explained.partition("== Analyzed Logical Plan ==\n")
    text = after.partition("\n\n== ")[0].strip("\n")
    if not found or re.match(r"\S*(Exception|Error)\b", text):
        raise PlanError(f"EXPLAIN EXTENDED was expected to show an analyzed plan; met {explained[:200]!r}.")
    return text


def result_columns(text: str) -> tuple[tuple[str, str], ...]:
    """Name and type of each column of the result, which stand above an analyzed plan; none where they do not.

    >>> result_columns("id: int, at: decimal(10,2)\\nProject [id#1, at#2]")
    (('id', 'int'), ('at', 'decimal(10,2)'))
    """
    first, _, rest = text.partition("\n")
    if not rest or not _is_schema(first):
        return ()
    found = [part.rpartition(": ") for part in re.split(r", (?![^<(]*[>)])", first)]
    return tuple((name, kind) for name, _, kind in found)


def schema_types(text: str) -> dict[str, str]:
    """The types by name of what stands in a ``struct<…>``; empty when the text is none.

    >>> schema_types("id:bigint,s:struct<a:int,b:string>")
    {'id': 'bigint', 's': 'struct<a:int,b:string>'}
    """
    fields = schema_fields(text)
    return dict(fields) if all(kind for _, kind in fields) else {}


def schema_fields(text: str) -> list[tuple[str, str]]:
    """Name and type of each field of what stands in a ``struct<…>``; a type is empty where the text is none.

    >>> schema_fields("a:int,a:map<int,string>")
    [('a', 'int'), ('a', 'map<int,string>')]
    """
    found: list[str] = []
    depth = 0
    for part in re.split(r"(?<=[<>(),])|(?=[<>(),])", text):
        depth += (part in ("<", "(")) - (part in (">", ")"))
        if part == "," and not depth:
            found.append("")
        else:
            found[-1:] = ["".join((*found[-1:], part))]
    return [(name, kind) for name, _, kind in (one.partition(":") for one in found if one)]


def tree(text: str) -> Line:
    """The tree of an analyzed plan; above it may stand a line with the columns of the result.

    Raises:
        PlanError: the lines are no tree.
    """
    root: Line | None = None
    open_lines: list[Line] = []
    for indent, mark, content in _lines(text):
        column = indent + len(mark)
        if not mark:
            if (
                root is None
                or not open_lines
                or (root.text and not root.children and not root.inner and _is_schema(root.text))
            ):
                root = Line(content.removeprefix("~"), 0)
                open_lines = [root]
            else:
                open_lines[-1].text += "\n" + content
            continue
        while open_lines and open_lines[-1].column > indent:
            open_lines.pop()
        if not open_lines:
            raise PlanError(f"A plan's lines are a tree, but this one has nothing above it: {content[:100]!r}.")
        line = Line(content.removeprefix("~"), column)
        parent = open_lines[-1]
        (parent.inner if indent - parent.column == _INNER else parent.children).append(line)
        open_lines.append(line)
    if root is None:
        raise PlanError("A plan has at least one line; met an empty text.")
    return root


def with_transposed(root: Line, texts: Iterable[str]) -> Line:
    """The tree with the plans of ``texts`` below its ``Transpose``, which have their rows alone."""
    stack, rest = [root], iter(texts)
    while stack:
        line = stack.pop()
        if line.name == "Transpose" and not line.children and (text := next(rest, None)) is not None:
            line.children.append(tree(text))
        stack += reversed([*line.children, *line.inner])
    return root


def _lines(text: str) -> Iterator[tuple[int, str, str]]:
    for line in text.split("\n"):
        found = _MARK.match(line)
        assert found is not None  # the pattern takes any line
        yield len(found["indent"] or ""), found["mark"] or "", found["text"]


def _is_schema(text: str) -> bool:
    """The line ``id: int, max(name): string`` above the plan of a query."""
    return _SCHEMA.match(text) is not None
