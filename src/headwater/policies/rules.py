"""The kinds of rules: each a function from a rule and the lineage of a store to findings."""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property

from sqlalchemy import Connection, select

from headwater.errors import PolicyError
from headwater.model import Job
from headwater.model.nested_fields import Path, nested_name
from headwater.policies.documents import path_lines
from headwater.policies.findings import Finding
from headwater.policies.flows import Flows, TagPath
from headwater.policies.owners import OWNER, owners_of_datasets
from headwater.policies.policy_file import Rule
from headwater.policies.selectors import Names, fits
from headwater.policies.sql_checks import rows_of
from headwater.store import Store, schema
from headwater.store.questions import Bounds, Covered, Direction, coverage, names
from headwater.store.questions.answers import Node
from headwater.store.questions.walk.edges import edges_within
from headwater.store.questions.walk.tag_walk import Arriving
from headwater.yaml_map import nearest

Check = Callable[[Rule, "Lineage"], Iterator[Finding]]


@dataclass(frozen=True)
class Lineage:
    """The lineage of a store as rules look at it; all of one connection, and each answer computed once."""

    store: Store
    connection: Connection
    flows: Flows
    influences: Flows

    @property
    def every(self) -> Names:
        """The names of all columns."""
        return self.flows.every

    def fields_of(self, rule: Rule, key: str) -> set[int]:
        """Return the columns that a rule selects, without those that it excepts."""
        excepted = rule.texts("except")
        return self.every.matching(rule.texts(key)).keys() - (self.every.matching(excepted) if excepted else ())

    def column(self, field: int, path: Path = ()) -> str:
        """Return the full name of a column, or of a field within it.

        ``*`` stands for those of a dataset of which none is known.
        """
        dataset, name = self.every.fields.get(field, (-field, "*"))
        return f"{self.every.datasets[dataset]}.{nested_name((name, *path)) if path else name}"

    @cached_property
    def owners(self) -> Mapping[int, tuple[str, ...]]:
        """The owners of each dataset."""
        return owners_of_datasets(self.connection, self.every)

    def tagged(self, tags: Collection[str]) -> set[int]:
        """Return the columns that have one of some tags, themselves or by their dataset."""
        starts = self.flows.starts
        return {field for tag in self.flows.fitting(tags) if tag in starts for field in starts[tag].columns}

    def owners_of(self, field: int) -> tuple[str, ...]:
        """Return the owners of a column's dataset."""
        return self.owners.get(self.every.fields[field][0] if field > 0 else -field, ())

    def jobs_by_dataset(self) -> Mapping[int, set[int]]:
        """Return the jobs that write each dataset."""
        own, run = schema.run_dataset.c, schema.run.c
        written = select(own.dataset_id, run.job_id).join(schema.run, run.id == own.run_id).where(own.written)
        found: dict[int, set[int]] = {}
        for dataset, job in self.connection.execute(written.distinct()):
            found.setdefault(dataset, set()).add(job)
        return found


def check_rule(rule: Rule, lineage: Lineage) -> list[Finding]:
    """Return the findings of a rule; tags and selectors that fit nothing are findings too, unless it says otherwise.

    Raises:
        PolicyError: a query of the rule cannot be answered.
    """
    return [*(() if rule.may_be_empty else _unmatched(rule, lineage)), *CHECKS[rule.kind](rule, lineage)]


def _unmatched(rule: Rule, lineage: Lineage) -> Iterator[Finding]:
    for word in (*rule.settings.get("tags", ()), *rule.settings.get("tag", ())):
        if rule.kind != "require_tag" and not lineage.flows.fitting([word.text]):
            why = f"no column has the tag {word.text!r}{_why_none(word.text, lineage.flows)}"
            yield Finding(rule, word.text, why, about=f"tag {word.place.line}", word=word)
    for key in ("columns", "reach", "datasets", "writes", "from"):
        for word in rule.settings.get(key, ()):
            match = lineage.every.selected if key in ("columns", "reach") else lineage.every.matching_datasets
            if not match([word.text]):
                why = f"{key}: {word.text!r} fits nothing in the store.{lineage.every.near(word.text)}"
                yield Finding(rule, word.text, why, about="selector", word=word)


def _why_none(tag: str, flows: Flows) -> str:
    """Return the end of a sentence on a tag that is on no column: its selectors fit nothing, or it is not known."""
    names = {one.name: one.place for one in flows.file.tags}
    own = [str(place) for name, place in names.items() if fits([tag], name.tag) or fits([tag], str(name))]
    if own:
        return f": what is declared for it at {', '.join(own)} fits nothing in the store."
    known = sorted({str(one) for one in (*flows.tags, *names)})
    return f". {nearest(tag, known) if known else 'The store has no tags.'}"


def _forbid(rule: Rule, lineage: Lineage) -> Iterator[Finding]:
    """Find tags that arrive at columns where they must not, and tagged columns that are there."""
    kinds = [Arriving(one) for one in rule.texts("arriving") or (Arriving.VALUE.value,)]
    targets = lineage.every.selected(rule.texts("reach"), rule.texts("except"))
    targets = replace(targets, columns=targets.columns | lineage.every.matching_whole(rule.texts("reach")))
    flows = lineage.influences if Arriving.INFLUENCE in kinds else lineage.flows
    for tag in flows.fitting(rule.texts("tags")):
        for node in sorted(one for one in flows.tagged(tag) if targets.has(one)):
            yield _found(rule, lineage, node, f"{tag} is on this column", str(tag))
        for one in flows.paths(tag, kinds, targets.has):
            start = one.steps[0].input
            how = "" if one.arriving is Arriving.VALUE else f" ({one.arriving.value})"
            why = f"{tag} arrives here{how} from {start}"
            yield _arrival(rule, lineage, one, why)


def _found(rule: Rule, lineage: Lineage, node: Node, why: str, about: str = "") -> Finding:
    return Finding(rule, lineage.column(*node), why, (), about, lineage.owners_of(node[0]))


def _arrival(rule: Rule, lineage: Lineage, tag_path: TagPath, why: str) -> Finding:
    """Return a finding that the path of a tag proves."""
    return replace(
        _found(rule, lineage, tag_path.column.node, why, str(tag_path.tag)), path=tuple(path_lines(tag_path))
    )


def _require_owner(rule: Rule, lineage: Lineage) -> Iterator[Finding]:
    own = lineage.tagged([OWNER])
    for field in sorted(lineage.fields_of(rule, "columns") - own):
        if not lineage.owners_of(field):
            yield _found(rule, lineage, (field, ()), "nobody owns it: no ownership facet, no tag owner=NAME")


def _require_tag(rule: Rule, lineage: Lineage) -> Iterator[Finding]:
    tags = rule.texts("tags")
    for field in sorted(lineage.fields_of(rule, "columns") - lineage.tagged(tags)):
        yield _found(rule, lineage, (field, ()), f"it has none of the tags {', '.join(tags)}")


def _require_coverage(rule: Rule, lineage: Lineage) -> Iterator[Finding]:
    """Find outputs whose lineage is missing or partial, or opaque unless ``opaque: true`` allows that."""
    selected = lineage.every.matching_datasets(rule.texts("datasets"))
    for one in coverage(lineage.store):
        opaque = one.covered is Covered.OPAQUE and rule.flag("opaque")
        if one.output is not None and one.output.id in selected and one.covered is not Covered.FULL and not opaque:
            gaps = tuple(f"{gap.kind} {gap.what}: {gap.why}" for gap in one.gaps)
            why = f"its lineage by the job {one.job.name} is {one.covered.value}"
            yield Finding(rule, str(one.output), why, gaps, one.job.name, lineage.owners.get(one.output.id, ()))


def _forbid_opaque(rule: Rule, lineage: Lineage) -> Iterator[Finding]:
    """Find steps that nobody can see into and that read a column at which the value of a tag arrives."""
    edges = edges_within(lineage.connection, Bounds(guess=True))
    for tag in lineage.flows.fitting(rule.texts("tags")):
        flow = lineage.flows.of(tag)
        values = {flow.place(one)[0] for one in flow.arrived[Arriving.VALUE].now}
        down = Direction.DOWN
        links = [*edges.of_fields(down, values).links, *edges.of_datasets(down, values).links]
        of_links = names.transformations(lineage.connection, {link[2] for link in links})
        unseen = {link for link in links if of_links[link[2]].opaque or of_links[link[2]].guess}
        jobs = names.jobs(lineage.connection, {link[3] for link in unseen})
        found: dict[tuple[int, int], set[int]] = {}
        for source, output, _, job in unseen:
            dataset = -output if output < 0 else lineage.every.fields[output][0]
            found.setdefault((dataset, job), set()).add(source)
        for (dataset, job), sources in sorted(found.items()):
            if dataset in lineage.every.datasets:
                read = tuple(f"reads {lineage.column(one)}" for one in sorted(sources) if one in lineage.every.fields)
                why = f"{jobs[job].name} makes it in a step that nobody can see into, and reads {tag}"
                subject = str(lineage.every.datasets[dataset])
                yield Finding(rule, subject, why, read, f"{tag} {jobs[job].name}", lineage.owners.get(dataset, ()))


def _retention(rule: Rule, lineage: Lineage) -> Iterator[Finding]:
    """Find columns that are retained longer than a column that they are made of, or without a class."""
    (tag,) = rule.texts("tag")
    order = lineage.flows.file.order(tag)
    if not order:
        raise PolicyError(f"{rule.place}: the file of tags has no order of {tag!r}: list its values, shortest first.")
    datasets = lineage.every.matching_datasets(rule.texts("datasets") or ("*",))
    own: dict[Node, str] = {}
    for one in lineage.flows.fitting([tag]):
        own |= dict.fromkeys(lineage.flows.tagged(one), one.value)
    for one in lineage.flows.fitting([tag]):
        for path in lineage.flows.paths(one, (Arriving.VALUE,)):
            mine = own.get(path.column.node, own.get((path.column.node[0], ())))
            shorter = mine is not None and _rank(order, mine) <= _rank(order, one.value)
            if path.column.dataset.id in datasets and not shorter:
                why = f"it has {tag}={mine}" if mine is not None else f"it has no {tag}"
                yield _arrival(rule, lineage, path, f"{why}, and is made of what has {one}")


def _rank(order: tuple[str, ...], value: str) -> int:
    return order.index(value) if value in order else len(order)


def _separate(rule: Rule, lineage: Lineage) -> Iterator[Finding]:
    """Find applications that write both what one selector and what the other selects."""
    by_dataset = lineage.jobs_by_dataset()
    jobs = names.jobs(lineage.connection, set().union(*by_dataset.values()))
    of_job = names.applications(lineage.connection, jobs)
    sides = [
        _writers(lineage.every.matching_datasets(rule.texts(key)), by_dataset, of_job) for key in ("writes", "from")
    ]
    for application in sorted(sides[0].keys() & sides[1].keys(), key=lambda one: (one.namespace, one.name)):
        written = sides[0][application] | sides[1][application]
        lines = tuple(f"writes {name}" for name in sorted(str(lineage.every.datasets[one]) for one in written))
        yield Finding(rule, f"{application.namespace}/{application.name}", "one job writes both", lines)


def _writers(
    datasets: Iterable[int], by_dataset: Mapping[int, set[int]], of_job: Mapping[int, Job]
) -> dict[Job, set[int]]:
    found: dict[Job, set[int]] = {}
    for dataset in datasets:
        for job in by_dataset.get(dataset, ()):
            application = Job(of_job[job].namespace, of_job[job].name)
            found.setdefault(application, set()).add(dataset)
    return found


def _inventory(rule: Rule, lineage: Lineage) -> Iterator[Finding]:
    """List every column with a tag, or at which it arrives: records of processing, lists for erasure."""
    kinds = (Arriving.VALUE, Arriving.MASKED)
    for tag in lineage.flows.fitting(rule.texts("tags")):
        for node in sorted(lineage.flows.tagged(tag)):
            if node[0] in lineage.every.fields and lineage.every.fields[node[0]][0] in lineage.every.datasets:
                yield _found(rule, lineage, node, f"{tag}: tagged", str(tag))
        for one in lineage.flows.paths(tag, kinds):
            why = f"{tag}: {one.arriving.value} from {one.steps[0].input}"
            yield _arrival(rule, lineage, one, why)


def _sql(rule: Rule, lineage: Lineage) -> Iterator[Finding]:
    """Make a finding of each row of a query: its first column is the subject, the others say why."""
    (query,) = rule.settings["query"]
    for subject, *rest in rows_of(lineage.connection, query):
        why = ", ".join(f"{name} {value}" for name, value in rest) or "the query has this row"
        yield Finding(rule, str(subject[1]), why, about=why)


CHECKS: Mapping[str, Check] = {
    "forbid": _forbid,
    "require_owner": _require_owner,
    "require_tag": _require_tag,
    "require_coverage": _require_coverage,
    "forbid_opaque": _forbid_opaque,
    "retention": _retention,
    "separate": _separate,
    "inventory": _inventory,
    "sql": _sql,
}
