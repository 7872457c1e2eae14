"""``make bench-peers``: the project's own cases under headwater and under the openlineage-spark jar, side by side.

Each agent gets a Spark application of its own, and both are judged by the same reading of the events that they write.
Prints how many cases are exact, and writes docs/peers.md with every difference, who is right and why (the words are
in ``bench/peers.toml``). Ends with 1 when a difference has no explanation.
"""

import argparse
import json
import subprocess
import sys
import tempfile
import tomllib
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from fnmatch import fnmatch
from pathlib import Path
from typing import Any

from tests.extract.case_file import Case, cases

from bench.figures import table
from bench.peer_edges import Found, Score, score
from bench.session import JAR

AGENTS = ("headwater", "jar")
DOCUMENT = Path(__file__).parents[1] / "docs" / "peers.md"
EXPLANATIONS = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))["difference"]
SHOWN = 3  # edges of a difference that are written out

Scores = Mapping[str, Score | None]
"""For each agent what it told of a case; None where the case could not run under it."""


def judged(folder: Path, agent: str, known: Mapping[str, Case]) -> dict[str, Score | None]:
    """The score of each case that an application has run."""
    ran = json.loads((folder / "ran.json").read_text(encoding="utf-8"))
    lines = (folder / "events.ndjson").read_text(encoding="utf-8").splitlines()
    events = [(_seconds(event["eventTime"]), event) for event in map(json.loads, lines)]
    found: dict[str, Score | None] = {}
    for name, one in ran.items():
        own = [event for at, event in events if one["began"] <= at <= one["ended"]]
        found[name] = None if one["error"] else score(known[name], own)
    return found


def _seconds(time: str) -> float:
    return datetime.fromisoformat(time).timestamp()


def run(agent: str, folder: Path, chosen: Sequence[str]) -> None:
    """Run the cases under an agent; what Spark says goes to a file of the folder.

    Raises:
        SystemExit: the application failed; the message has the end of its log.
    """
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / "log.txt").open("w") as log:
        done = subprocess.run(
            [sys.executable, "-m", "bench.peer_run", agent, str(folder), *chosen], stderr=log, check=False
        )
    if done.returncode:
        raise SystemExit(
            f"The application under {agent} failed; its log ends:\n{(folder / 'log.txt').read_text()[-3000:]}"
        )


def explanation(name: str) -> Mapping[str, Any] | None:
    """Who is right about a case, and why; None when nobody wrote it."""
    return next((one for one in EXPLANATIONS if any(fnmatch(name, pattern) for pattern in one["cases"])), None)


def document(found: Mapping[str, Scores], titles: Mapping[str, str]) -> str:
    """The text of docs/peers.md."""
    compared = {name: scores for name, scores in found.items() if all(scores[agent] for agent in AGENTS)}
    differing = {name: scores for name, scores in compared.items() if not all(_exact(scores, a) for a in AGENTS)}
    parts = [INTRODUCTION.format(jar=JAR, compared=len(compared), left=len(found) - len(compared))]
    parts += [counts(compared), "## Where the jar differs\n", *_reasons(differing)]
    parts += ["## Every difference\n", _differences(differing, titles), ""]
    return "\n\n".join(parts)


def counts(compared: Mapping[str, Scores]) -> str:
    """How many cases of each family each agent has exactly, in all edges and in the DIRECT ones."""
    families = sorted({name.partition("/")[0] for name in compared})
    groups = {family: [s for name, s in compared.items() if name.startswith(f"{family}/")] for family in families}
    rows = [_count_row(family, group) for family, group in groups.items()]
    rows.append(_count_row("all", list(compared.values())))
    head = ["family", "cases", *(f"{agent} {what}" for what in ("exact", "direct", "silent") for agent in AGENTS)]
    return table(head, rows)


def _count_row(title: str, group: Sequence[Scores]) -> list[str]:
    numbers = [
        sum(1 for scores in group if (one := scores[agent]) and getattr(one, what))
        for what in ("exact", "direct", "silent")
        for agent in AGENTS
    ]
    return [title, str(len(group)), *map(str, numbers)]


def _exact(scores: Scores, agent: str) -> bool:
    one = scores[agent]
    return one is not None and one.exact


def _reasons(differing: Mapping[str, Scores]) -> Iterator[str]:
    found = Counter(_title(name) for name in differing)
    for one in EXPLANATIONS:
        if found[one["title"]]:
            cases = "1 case" if (number := found[one["title"]]) == 1 else f"{number} cases"
            yield f"**{one['title']}** ({cases}). Right: {one['right']}. {one['why'].strip()}"


def _title(name: str) -> str:
    one = explanation(name)
    return one["title"] if one else "unexplained"


def _differences(differing: Mapping[str, Scores], titles: Mapping[str, str]) -> str:
    rows = []
    for name, scores in differing.items():
        for agent in AGENTS:
            one = scores[agent]
            if one and not one.exact:
                rows.append([f"{name}: {titles[name]}", agent, _edges(one.missing), _edges(one.extra), _title(name)])
    head = ["case", "who", "missing", "too many", "why"]
    lines = [head, ["---"] * len(head), *([_cell(cell) for cell in row] for row in rows)]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def _edges(edges: Found) -> str:
    listed = [f"{column} <- {kind}{'!' * mask} {field}" for column, kind, field, mask in sorted(edges)]
    more = f" and {len(listed) - SHOWN} more" if len(listed) > SHOWN else ""
    return "; ".join(listed[:SHOWN]) + more


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("\n", " ")


INTRODUCTION = """\
# Beside openlineage-spark

<!-- Written by `make bench-peers`; the words are in `bench/peers.toml`. -->

The project's own cases, each run in a Spark application under headwater and in one under `{jar}`. Both are judged by
their events and by the same code (`bench/peer_edges.py`); what only one of them could say does not count: the mark of
opaque edges, columns without an edge, upper and lower case. {compared} cases could be run under both, {left} could not
(a frame whose columns cannot be written to a file, mostly). *Exact* is every edge and no other, *direct* the same for
DIRECT edges only, *silent* no columnLineage facet at all. The cases are ours: the table shows where the two differ, not
how often they do in the world. What an edge means is said in [lineage.md](lineage.md)."""


def main() -> int:
    """Run, print, write."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "cases", nargs="*", help="families or family/name; all by default, and docs/peers.md is written"
    )
    parser.add_argument(
        "--keep", type=Path, help="a folder for the events; with events of an earlier run these are read"
    )
    options = parser.parse_args()
    known = {str(case): case for case in cases()}
    with tempfile.TemporaryDirectory() as temporary:
        folder = options.keep or Path(temporary)
        for agent in AGENTS:
            if not (folder / agent / "ran.json").exists():
                run(agent, folder / agent, options.cases)
        by_agent = {agent: judged(folder / agent, agent, known) for agent in AGENTS}
    found = {name: {agent: by_agent[agent].get(name) for agent in AGENTS} for name in by_agent["headwater"]}
    text = document(found, {name: case.title for name, case in known.items()})
    print(text)
    if not options.cases:
        DOCUMENT.write_text(text, encoding="utf-8")
    return 1 if "unexplained" in text else 0


if __name__ == "__main__":
    sys.exit(main())
