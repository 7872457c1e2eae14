"""A check of a policy against the lineage of a store."""

from collections.abc import Collection
from dataclasses import dataclass, replace
from datetime import date

from headwater.policies.findings import Finding, accept
from headwater.policies.flows import Flows
from headwater.policies.policy_file import Policy, Severity
from headwater.policies.rules import Lineage, check_rule
from headwater.policies.selectors import fits
from headwater.store import Store
from headwater.yaml_map import nearest


@dataclass(frozen=True, slots=True)
class CheckResult:
    """The findings of a check, those that count first; ``notes`` name what holds no more, or fits nothing."""

    policy: Policy
    findings: tuple[Finding, ...]
    notes: tuple[str, ...] = ()

    @property
    def failed(self) -> bool:
        """Whether there is a finding that counts."""
        return any(one.counts for one in self.findings)


def check(
    store: Store, policy: Policy, today: date, *, against: Store | None = None, baseline: Collection[str] = ()
) -> CheckResult:
    """Return the findings of a policy in a store.

    Args:
        store: what is checked; a store that ``headwater plan`` filled is one as well.
        policy: its rules, waivers and tags.
        today: the day by which waivers and breakers expire.
        against: findings that this store has as well do not count: what is left is what a change brings.
        baseline: fingerprints of findings that do not count.

    Raises:
        PolicyError: a query of the policy cannot be answered.
        StoreError: a store cannot be read.
    """
    findings, notes = _findings(store, policy, today)
    if against is not None:
        known = {one.fingerprint for one in _findings(against, policy, today)[0]}
        findings = accept(findings, known, "it was there before")
    findings = accept(findings, baseline, "the baseline has it")
    order = list(Severity)
    ordered = sorted(findings, key=lambda one: (bool(one.accepted), order.index(one.rule.severity), one.rule.name))
    return CheckResult(policy, tuple(ordered), tuple(notes))


def _findings(store: Store, policy: Policy, today: date) -> tuple[list[Finding], list[str]]:
    with store.read() as connection:
        flows = Flows(connection, policy.tags, today)
        lineage = Lineage(store, connection, flows, replace(flows, influence=True, _flows={}))
        found = [_waived(one, policy, today) for rule in policy.rules for one in check_rule(rule, lineage)]
        notes = [str(one) for one in flows.unmatched]
        notes += [f"{one.place}: {one} cuts nothing." for one in flows.unused_breakers()]
    expired = [one for one in policy.tags.breakers if one.expires < today]
    notes += [f"{one.place}: {one} has expired: it holds no more." for one in expired]
    for waiver in policy.waivers:
        if waiver.expires < today:
            notes.append(f"{waiver.place}: the waiver of {waiver.owner} expired on {waiver.expires}: it holds no more.")
        elif not any(fits(waiver.rules, rule.name) for rule in policy.rules):
            near = nearest(waiver.rules[0], [rule.name for rule in policy.rules]) if waiver.rules else ""
            notes.append(f"{waiver.place}: the waiver of {waiver.owner} is for no rule of the policy. {near}")
        elif not any(waiver.accepts(one.rule.name, one.subject, today) for one in found):
            notes.append(f"{waiver.place}: the waiver of {waiver.owner} accepts nothing: remove it.")
    return found, notes


def _waived(finding: Finding, policy: Policy, today: date) -> Finding:
    for one in policy.waivers:
        if one.accepts(finding.rule.name, finding.subject, today):
            return replace(finding, accepted=f"waived by {one.owner} until {one.expires}: {one.reason}")
    return finding
