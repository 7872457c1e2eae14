"""The configuration of an application for OpenLineage: its Spark conf, the environment, openlineage.yml.

The keys are those of the OpenLineage Spark integration ("Spark Config Parameters"), so that a job keeps its
configuration. The Spark conf has precedence over the environment, that over the file. A value that cannot be used
is replaced by its default, and named in ``problems``.
"""

import difflib
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Any, TypeVar
from uuid import UUID

from headwater.errors import SettingError
from headwater.model import Job, Run
from headwater.openlineage.naming.resolvers import ConfiguredNames, Resolver, resolvers_from
from headwater.openlineage.naming.trimming import Trimming, trimming_from
from headwater.openlineage.settings.spark_conf import client_transport, nested, owners_from, tags_from
from headwater.openlineage.writing.facets import FacetSettings
from headwater.redaction import redact

PREFIX = "spark.openlineage."
_MOST = 2**31 - 1
DEFAULT_NAMESPACE = "default"

_Value = TypeVar("_Value")

_USED = (
    "namespace",
    "appName",
    "applicationRunId",
    "parentJobNamespace",
    "parentJobName",
    "parentRunId",
    "rootParentJobNamespace",
    "rootParentJobName",
    "rootParentRunId",
    "disabled",
    "facets.disabled",
    "columnLineage.datasetLineageEnabled",
    "columnLineage.descriptionsEnabled",
    "columnLineage.explicitLineageEnabled",
    "columnLineage.maxEdges",
    "columnLineage.maxDescription",
    "dataset.removePath.pattern",
    "dataset.disabledTrimmers",
    "dataset.trimPatterns",
    "filter.deniedSparkNodes",
    "job.tags",
    "run.tags",
    "jobName.appendDatasetName",
    "jobName.replaceDotWithUnderscore",
)
_USED_PREFIXES = ("transport.", "facets.", "job.owners.", "dataset.namespaceResolvers.")
# Keys of the Spark integration that mean nothing here: one line names those that are set.
_WITHOUT_MEANING = (
    "filter.allowedSparkNodes",
    "circuitBreaker.",
    "timeout.",
    "vendors.",
    "metrics.",
    "capturedProperties",
    "debugFacet",
    "testExtensionProvider",
    "url",
)


@dataclass(frozen=True, slots=True)
class JobNames:
    """How jobs are called: by what they write, or as the OpenLineage Spark integration has it, by the operator.

    ``append_dataset`` puts the last part of the dataset's name behind the operator; ``underscores`` stand for dots.
    """

    append_dataset: bool = True
    underscores: bool = False
    by_operator: bool = False


@dataclass(frozen=True, slots=True)
class Settings:
    """Everything configured that is not left to the OpenLineage client.

    ``app_name`` and ``application_run_id`` are empty where Spark's own are to be used. ``parent`` started the
    application; its own parent is the root. ``denied_nodes`` are classes of logical plans at whose root nothing is
    emitted. ``transport`` has the shape that ``client_targets`` takes.
    """

    namespace: str = DEFAULT_NAMESPACE
    app_name: str = ""
    application_run_id: str = ""
    parent: Run | None = None
    disabled: bool = False
    facets: FacetSettings = field(default_factory=FacetSettings)
    trimming: Trimming = field(default_factory=Trimming)
    names: ConfiguredNames = field(default_factory=ConfiguredNames)
    job_names: JobNames = field(default_factory=JobNames)
    denied_nodes: frozenset[str] = frozenset()
    transport: Mapping[str, Any] = field(default_factory=lambda: MappingProxyType({}))
    problems: tuple[str, ...] = ()


def settings_from(
    spark_conf: Mapping[str, str], environment: Mapping[str, str], config: Mapping[str, Any] | None = None
) -> Settings:
    """The settings of an application; ``config`` is the content of its openlineage.yml. Never raises."""
    return _Reading(spark_conf, environment, config or {}).settings()


class _Reading:
    """Reads one setting after the other, and keeps what was wrong with any."""

    def __init__(
        self, spark_conf: Mapping[str, str], environment: Mapping[str, str], config: Mapping[str, Any]
    ) -> None:
        self._spark = {
            key.removeprefix(PREFIX): str(value).strip() for key, value in spark_conf.items() if key.startswith(PREFIX)
        }
        self._environment = environment
        self._config = config
        self._problems: list[str] = []

    def settings(self) -> Settings:
        trimming = self._trimming()
        settings = Settings(
            namespace=self._text("namespace", "OPENLINEAGE_NAMESPACE", "namespace") or DEFAULT_NAMESPACE,
            app_name=self._spark.get("appName", ""),
            application_run_id=self._parsed("applicationRunId", _uuid, ""),
            parent=self._parent(),
            disabled=self._disabled(),
            facets=self._facets(),
            trimming=trimming,
            names=ConfiguredNames(self._resolvers(), trimming),
            job_names=self._job_names(),
            denied_nodes=frozenset(self._listed("filter.deniedSparkNodes")),
            transport=self._transport(),
        )
        self._report_unknown_keys()
        return replace(settings, problems=tuple(redact(problem) for problem in self._problems))

    def _text(self, key: str, variable: str, in_file: str) -> str:
        known = self._config.get(in_file, "")
        if not isinstance(known, str):
            self._problems.append(f"{in_file} in openlineage.yml: {_shown(known)} was found where a text was expected.")
            known = ""
        return self._spark.get(key) or self._environment.get(variable, "").strip() or known

    def _parsed(self, key: str, parse: Callable[[str], _Value], default: _Value) -> _Value:
        return self._attempt(self._spark.get(key, ""), PREFIX + key, parse, default)

    def _attempt(self, text: str, name: str, parse: Callable[[str], _Value], default: _Value) -> _Value:
        if not text:
            return default
        try:
            return parse(text)
        except SettingError as error:
            self._problems.append(f"{name}: {error} Its default is used.")
            return default

    def _parent(self) -> Run | None:
        parent = self._run_in_conf("parent") or self._run_in_environment("OPENLINEAGE_PARENT_ID")
        root = self._run_in_conf("rootParent") or self._run_in_environment("OPENLINEAGE_ROOT_PARENT_ID")
        if parent is None or root is None or root.id == parent.id:
            return parent
        return replace(parent, parent=root)

    def _run_in_conf(self, which: str) -> Run | None:
        keys = (f"{which}JobNamespace", f"{which}JobName", f"{which}RunId")
        present = [key for key in keys if self._spark.get(key)]
        if not present:
            return None
        missing = [PREFIX + key for key in keys if key not in present]
        run_id = self._parsed(keys[2], _uuid, "")
        if missing:
            self._problems.append(
                f"{PREFIX}{present[0]}: {' and '.join(missing)} must be set too; events have no parent run."
            )
        if missing or not run_id:
            return None
        return Run(run_id, Job(self._spark[keys[0]], self._spark[keys[1]]))

    def _run_in_environment(self, variable: str) -> Run | None:
        return self._attempt(self._environment.get(variable, ""), variable, _run, None)

    def _disabled(self) -> bool:
        in_environment = self._environment.get("OPENLINEAGE_DISABLED", "")
        return self._parsed("disabled", _boolean, default=False) or self._attempt(
            in_environment, "OPENLINEAGE_DISABLED", _boolean, default=False
        )

    def _facets(self) -> FacetSettings:
        default = FacetSettings()
        return FacetSettings(
            self._parsed("columnLineage.datasetLineageEnabled", _boolean, default.dataset_lineage_enabled),
            self._parsed("columnLineage.descriptionsEnabled", _boolean, default.descriptions_enabled),
            self._parsed("columnLineage.maxEdges", _count, default.max_edges),
            self._parsed("columnLineage.maxDescription", _count, default.max_description),
            frozenset(self._disabled_facets()),
            explicit_lineage_enabled=self._parsed(
                "columnLineage.explicitLineageEnabled", _boolean, default.explicit_lineage_enabled
            ),
            job_tags=tags_from(self._spark.get("job.tags", "")),
            run_tags=tags_from(self._spark.get("run.tags", "")),
            owners=owners_from(self._spark),
        )

    def _disabled_facets(self) -> set[str]:
        found = ((re.fullmatch(r"facets\.(.+)\.disabled", key), key) for key in self._spark)
        named = {match[1]: key for match, key in found if match}
        return self._listed("facets.disabled") | {
            name for name, key in named.items() if self._parsed(key, _boolean, default=False)
        }

    def _listed(self, key: str) -> set[str]:
        """The items of ``[a;b]``."""
        listed = self._spark.get(key, "").strip("[]").replace(",", ";").split(";")
        return {name.strip() for name in listed if name.strip()}

    def _resolvers(self) -> tuple[Resolver, ...]:
        prefix = "dataset.namespaceResolvers."
        dotted = {key.removeprefix(prefix): value for key, value in self._spark.items() if key.startswith(prefix)}
        found = {**_mapping(self._in_file("namespace_resolvers")), **nested(dotted)}
        resolvers: list[Resolver] = []
        for name, keys in found.items():
            try:
                resolvers += resolvers_from({name: keys})
            except SettingError as error:
                self._problems.append(f"{PREFIX}{prefix}{name}: {error} It is left out.")
        return tuple(resolvers)

    def _in_file(self, key: str) -> object:
        return _mapping(self._config.get("dataset")).get(key)

    def _job_names(self) -> JobNames:
        default = JobNames()
        return JobNames(
            self._parsed("jobName.appendDatasetName", _boolean, default.append_dataset),
            self._parsed("jobName.replaceDotWithUnderscore", _boolean, default.underscores),
        )

    def _trimming(self) -> Trimming:
        disabled = self._spark.get("dataset.disabledTrimmers") or _joined(self._in_file("disabled_trimmers") or "")
        patterns = [self._spark.get(key, "") for key in ("dataset.removePath.pattern", "dataset.trimPatterns")]
        rules = self._attempt(
            disabled, "dataset.disabledTrimmers", lambda text: trimming_from({"disabled": text}), Trimming()
        )
        with_patterns = self._attempt(
            "\n".join(filter(None, patterns)),
            "dataset.removePath.pattern",
            lambda text: trimming_from({"patterns": text}),
            Trimming(),
        )
        return Trimming(rules.disabled, with_patterns.patterns)

    def _transport(self) -> Mapping[str, Any]:
        keys = {
            key.removeprefix("transport."): value for key, value in self._spark.items() if key.startswith("transport.")
        }
        return MappingProxyType({"transport": client_transport(keys)} if keys else {})

    def _report_unknown_keys(self) -> None:
        without = [PREFIX + key for key in sorted(self._spark) if key.startswith(_WITHOUT_MEANING)]
        if without:
            self._problems.append(f"there is no use for {', '.join(without)}; what is set there has no effect.")
        for key in sorted(self._spark):
            if key not in _USED and not key.startswith((*_USED_PREFIXES, *_WITHOUT_MEANING)):
                near = difflib.get_close_matches(key, _USED, n=1)
                hint = f"did you mean {PREFIX}{near[0]}?" if near else "leave it out, or see the documentation."
                self._problems.append(f"{PREFIX}{key} is no setting that headwater knows; {hint}")


def _shown(value: object) -> str:
    """The value as a message may have it."""
    text = redact(repr(value))
    return text if len(text) <= 80 else f"{text[:80]}…"


def _uuid(text: str) -> str:
    try:
        return str(UUID(text))
    except ValueError:
        raise SettingError(f"{_shown(text)} is no UUID, as the id of a run must be.") from None


def _boolean(text: str) -> bool:
    if text.strip().lower() not in {"true", "false"}:
        raise SettingError(f"{_shown(text)} was found where true or false was expected.")
    return text.strip().lower() == "true"


def _count(text: str) -> int:
    if not text.isascii() or not text.isdigit() or len(text) > 10 or int(text) > _MOST:
        raise SettingError(f"{_shown(text)} was found where a whole number was expected, {_MOST} at most.")
    return int(text)


def _run(text: str) -> Run:
    """``namespace/job name/run id``; the name may hold slashes."""
    rest, _, run_id = text.strip().rpartition("/")
    namespace, _, name = rest.partition("/")
    if not namespace or not name:
        raise SettingError(f"{_shown(text)} was found where <job namespace>/<job name>/<run id> was expected.")
    return Run(_uuid(run_id), Job(namespace, name))


def _mapping(value: object) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}


def _joined(names: object) -> str:
    return ";".join(map(str, names)) if isinstance(names, list) else str(names)
