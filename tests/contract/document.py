"""docs/coverage.md: what headwater does with every operator of Spark, from the tables that decide it.

``python -m tests.contract.document`` writes it (``make coverage``).
"""

import sys
from collections.abc import Iterable, Iterator
from textwrap import wrap

from tests.contract.contract import DISPATCH, TESTS, VERSIONS, State, in_plans, notes, present, state, table

DOCUMENT = TESTS.parent / "docs" / "coverage.md"
HEAD = """# What headwater knows of Spark's operators

Made by `make coverage` from the tables by which extraction works, from the classes in the jars of Spark {versions},
and from the recorded plans of the cases. A test fails when it is out of date, and when a version of Spark brings an
operator that is not here.

An operator that headwater has no rule for is never passed over in silence: each of its output columns depends on every
input column, the edges are marked `opaque`, and the coverage facet of the run names the operator.
"""
SECTIONS = {
    "handled": "Operators with a rule",
    "passes through": "Operators that hand rows on",
    "opaque": "Functions that cannot be looked into",
    "gaps": "Known gaps",
}
OTHERS = {
    "streams": "Streams",
    "commands": "Commands without lineage",
    "scripting": "SQL scripts",
    "unresolved": "Gone after analysis",
    "optimized": "Not there yet in an analyzed plan",
}
EXPRESSIONS = """## Expressions that are more than a function

A function's value depends on its arguments, and needs no rule. These classes of Spark are more than that, or cannot be
evaluated as they stand: generators, aggregates, window functions, subqueries, higher-order functions, functions in
other languages, and what analysis or a command uses.
"""


def document() -> str:
    """The text of the document."""
    parts = [HEAD.format(versions=", ".join(VERSIONS))]
    parts += [_table(section, title) for section, title in SECTIONS.items()]
    parts += [_list("operators", section, f"## {title}") for section, title in OTHERS.items()]
    parts.append(EXPRESSIONS)
    rules = (f"- `{name}`: {found.why}" for name, found in _of("expressions", "handled"))
    parts.append("\n".join(["### With a rule of their own", "", *rules, ""]))
    for section in sorted({found.section for found in table("expressions").values()}):
        parts.append(_list("expressions", section, f"### {section.capitalize()}"))
    return "\n".join(parts).rstrip() + "\n"


def _of(kind: str, section: str) -> Iterator[tuple[str, State]]:
    for name in sorted(present(kind).keys() | DISPATCH[kind].keys()):
        found = state(kind, name)
        if found and found.section == section and "." not in name:
            yield name, found


def _table(section: str, title: str) -> str:
    versions = " | ".join(VERSIONS)
    lines = [f"## {title}", "", f"| operator | what becomes of it | {versions} | shown by |"]
    lines.append("|---|---|" + "---|" * (len(VERSIONS) + 1))
    for name, found in _of("operators", section):
        there = " | ".join("yes" if version in present("operators").get(name, ()) else "" for version in VERSIONS)
        lines.append(f"| `{name}` | {found.why} | {there} | {_shown(name)} |")
    return "\n".join([*lines, ""])


def _shown(name: str) -> str:
    where = notes("others").get(name, "")
    shown = f"`{in_plans()[name]}`" if name in in_plans() else notes("shown").get(name, "")
    return "; ".join(filter(None, (where, shown)))


def _list(kind: str, section: str, title: str) -> str:
    found = list(_of(kind, section))
    if not found:
        return ""
    why = found[0][1].why
    return "\n".join([title, "", f"{why[0].upper()}{why[1:]}.", "", *_names(name for name, _ in found), ""])


def _names(names: Iterable[str]) -> list[str]:
    return wrap(", ".join(f"`{name}`" for name in names), 140, break_long_words=False, break_on_hyphens=False)


def main() -> int:
    """Write the document."""
    DOCUMENT.write_text(document(), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
