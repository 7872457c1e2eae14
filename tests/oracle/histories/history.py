"""A history of jobs, generated one hand-over after the other."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from hypothesis import strategies as st
from tests.oracle import frames, queries
from tests.oracle.expressions import Draw
from tests.oracle.pipelines import Builder, Columns, Step, base

STEPS: Mapping[str, Step] = {**queries.STEPS, **frames.STEPS}
PRELUDES = {**queries.PRELUDES, **frames.PRELUDES}


class History(NamedTuple):
    """Jobs in Python, the last of which writes ``out``; in scope are ``spark``, ``F``, ``folder`` and ``tag``."""

    jobs: tuple[str, ...]
    used: frozenset[str]

    def __str__(self) -> str:
        return "\n".join(f"# job\n{job}" for job in self.jobs)


class Handed(NamedTuple):
    """A dataset that a job has written: Python that reads it, and its columns."""

    reader: str
    columns: Columns


@dataclass(slots=True)
class Chain:
    """A history that grows."""

    draw: Draw
    last: Handed
    jobs: list[str] = field(default_factory=list)
    used: set[str] = field(default_factory=set)

    def one_of(self, *choices: str) -> str:
        """One of these, the first the simplest."""
        return str(self.draw(st.sampled_from(choices)))

    @property
    def opening(self) -> str:
        """Python that makes ``mid`` the view of what was handed on."""
        return f'{self.last.reader}.createOrReplaceTempView("mid")'

    def builder(self) -> Builder:
        """For steps and expressions over what was handed on."""
        return Builder(self.draw, self.last.columns, "mid", used=self.used)

    def place(self) -> str:
        """A name that no other hand-over has, within an f-string."""
        return f"m{len(self.jobs)}_{{tag}}"

    def pipeline(self, most: int = 2) -> tuple[str, Columns]:
        """A job that makes ``df`` of what was handed on, by some generated steps."""
        builder = self.builder()
        for name in self.draw(st.lists(st.sampled_from(tuple(STEPS)), min_size=1, max_size=most)):
            STEPS[name](builder)
            self.used.add(f"step {name}")
        builder.flush()
        preludes = (PRELUDES[name] for name in sorted(builder.prelude))
        return "\n".join((*preludes, self.opening, *builder.lines)), builder.columns

    def hand_on(self, job: str, reader: str, columns: Columns) -> None:
        """Take up a job that has written what ``reader`` reads."""
        self.jobs.append(job)
        self.last = Handed(reader, columns)


Link = Callable[[Chain], None]


@st.composite
def histories(draw: Draw, links: Mapping[str, Link]) -> History:
    """One to four of ``links``, and a last job that writes ``out``."""
    table = draw(st.sampled_from(("customers", "orders", "products")))
    chain = Chain(draw, Handed(f'spark.table("{table}")', base(table)))
    for name in draw(st.lists(st.sampled_from(tuple(links)), min_size=1, max_size=4)):
        links[name](chain)
        chain.used.add(f"link {name}")
    code, _ = chain.pipeline(1)
    chain.jobs.append(f'{code}\ndf.write.parquet(f"{{folder}}/out")')
    return History(tuple(chain.jobs), frozenset(chain.used))
