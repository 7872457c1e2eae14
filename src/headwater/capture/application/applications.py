"""The applications that are being watched: one agent per SparkContext, begun and ended here."""

import logging
import os
import sys
import threading
from collections.abc import Callable, Collection
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from openlineage.client.uuid import generate_new_uuid

from headwater import __version__
from headwater.capture.application.agent import Agent
from headwater.capture.application.destinations import destination, undelivered, whereabouts
from headwater.capture.application.last_words import last_words
from headwater.capture.application.taps import new_listener, spark_conf, spark_version
from headwater.capture.guard import guarded, warn_once
from headwater.capture.hooks.boundaries import watch_boundaries
from headwater.capture.runs.executions import Executions
from headwater.capture.settings import CaptureSettings, extensions_of
from headwater.extract import ExtractSettings
from headwater.model import Engine, Job, Run, RunState
from headwater.openlineage.delivery import Delivery, read_config
from headwater.openlineage.settings import Settings, settings_from
from headwater.openlineage.writing.facets import FacetSettings
from headwater.redaction import redact

_LOG = logging.getLogger("headwater")
_lock = threading.Lock()
_agents: dict[int, tuple[Any, Agent, Delivery, CaptureSettings]] = {}
_held: list[tuple[Agent, Delivery, CaptureSettings]] = []
_undo: list[Callable[[], None]] = []


def begin(context: Any, settings: CaptureSettings, setting_names: Collection[str] = ()) -> None:
    """Watch a SparkContext; one that is watched already is left as it is.

    Args:
        context: the SparkContext, or what stands for one behind a client of Spark Connect.
        settings: how it is to be watched.
        setting_names: the settings that somebody named: a line says which of them do not count, as others do already.

    Raises:
        CaptureError: the tap cannot be made.
        SettingError: a destination cannot be used.
    """
    with _lock:
        if id(context) in _agents:
            warn_of_other_settings(context, settings, setting_names)
            return
        config = read_config(Path(settings.config)) if settings.config else {}
        client = settings_from(spark_conf(context), os.environ, config)
        for problem in client.problems:
            warn_once(problem, f"headwater: {problem}")
        if client.disabled:
            _LOG.info("headwater is off: it is disabled in the configuration")
            return
        requested, settings, facets = settings, *_with_descriptions(settings, client)
        if not _undo:
            _undo.append(watch_boundaries(agent_of))
        tap = new_listener(context, settings)
        executions = Executions(
            _application(context, client),
            Engine("spark", spark_version(context), __version__),
            _extraction(settings, client),
            settings.reads,
            job_names=replace(client.job_names, by_operator=settings.job_names == "operator"),
            denied_nodes=client.denied_nodes,
        )
        sink = destination(settings, client.transport or config)
        words = partial(last_words, settings, client.transport or config)
        agent = Agent(tap, sink, executions, facets, words)
        tap.connect()
        agent.start()
        _agents[id(context)] = (context, agent, sink, requested)
    _LOG.info("headwater watches %s", executions.application.job.name)


def agent_of(context: Any) -> Agent | None:
    """The agent that watches a SparkContext, None where nobody does."""
    found = _agents.get(id(context))
    return found[1] if found else None


def delivered_store(context: Any, seconds: float = 5.0) -> str | None:
    """The store of a SparkContext's lineage, with what has been written so far in it; None where nobody watches it."""
    found = _agents.get(id(context))
    if found is None:
        return None
    _, agent, sink, settings = found
    with guarded("delivering what was written"):
        agent.catch_up(seconds)
        sink.wait(seconds)
    return settings.store or None


def warn_of_other_settings(context: Any, settings: CaptureSettings, setting_names: Collection[str]) -> None:
    """Say in one line which of some settings do not count for a SparkContext that is watched already."""
    found = _agents.get(id(context))
    if found is None:
        return
    _, agent, _, present = found
    others = [name for name in sorted(setting_names) if getattr(settings, name) != getattr(present, name)]
    if others:
        requested, now = (", ".join(f"{name}={getattr(one, name)!r}" for name in others) for one in (settings, present))
        _LOG.warning(
            "headwater: %s is watched already, with %s; %s counts for sessions to come only. "
            "To change it, call headwater.detach(spark) first.",
            agent.application_name,
            redact(now),
            redact(requested),
        )


def end(context: Any, state: RunState = RunState.COMPLETE, error: str = "", *, held: bool = False) -> None:
    """Stop watching a SparkContext, after all that happened has been delivered; others are left as they are.

    ``held`` leaves the end of the application's own run to end_all().
    """
    with _lock:
        found = _agents.pop(id(context), None)
    if found is None:
        return
    _, agent, sink, settings = found
    with guarded("ending the capture"):
        agent.stop(state, settings.flush_seconds, error, held=held)
        if held:
            _held.append((agent, sink, settings))
        else:
            _say(agent, sink, settings)


def end_all(state: RunState = RunState.COMPLETE, error: str = "", *, status_unseen: bool = False) -> None:
    """Stop watching everything; with ``status_unseen`` the program exits by a status that is known after it only."""
    agents = [agent for _, agent, *_ in _agents.values()]
    for context, *_ in list(_agents.values()):
        end(context, state, error)
    while _held:
        agent, sink, settings = _held.pop(0)
        with guarded("ending the capture"):
            agent.finish(state, settings.flush_seconds, error)
            _say(agent, sink, settings)
    for agent in agents if status_unseen else ():
        with guarded("leaving the exit status to the JVM"):
            agent.fail_after_exit()
    while _undo:
        _undo.pop()()


def _with_descriptions(settings: CaptureSettings, client: Settings) -> tuple[CaptureSettings, FacetSettings]:
    """The length of expression texts: headwater's own setting, else what the Spark conf says."""
    length, facets = settings.description_length, client.facets
    if length is None:
        length = facets.max_description if facets.descriptions_enabled else 0
    return replace(settings, description_length=length), replace(
        facets, descriptions_enabled=length > 0, max_description=length
    )


def _extraction(settings: CaptureSettings, client: Settings) -> ExtractSettings:
    masking = frozenset(name.lower() for name in settings.masking_functions)
    return ExtractSettings(masking, client.trimming, extensions_of(settings), client.names)


def _application(context: Any, client: Settings) -> Run:
    name = client.app_name or str(context.appName)
    run_id = client.application_run_id or str(generate_new_uuid())
    return Run(run_id, Job(redact(client.namespace), redact(name)), client.parent)


def _say(agent: Agent, sink: Delivery, settings: CaptureSettings) -> None:
    """One line: what was captured, where it is, and what could not be delivered."""
    if settings.quiet or sys.stderr is None:
        return
    seen = whereabouts(settings, sink, agent.last_output) if agent.last_output else ""
    line = f"{agent.summary()}{undelivered(sink)}{seen}"
    print(f"headwater: {line}", file=sys.stderr, flush=True)
