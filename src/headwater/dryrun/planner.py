"""Dry runs of several jobs, each with what a store knows of those before it."""

import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from headwater.dryrun.dry_run import Checkout, Options, dry_run
from headwater.dryrun.report import DryRun
from headwater.dryrun.schemas import stored_schemas
from headwater.dryrun.shared_jvm import shared_jvms
from headwater.openlineage.writing.events import to_json
from headwater.store import Store, open_store
from headwater.store.catalog.datasets import schemas


@dataclass(frozen=True, slots=True)
class Planner:
    """Runs jobs dry, one after the other, each with what a store knows of those before; made by `planner`."""

    _store: Store
    _options: Options

    def plan(self, job: Path, arguments: Sequence[str], checkout: Checkout | None = None) -> DryRun:
        """Run a job as `dry_run` does, and store its lineage."""
        with self._store.read() as connection:
            known = stored_schemas(schemas(connection))
        options = replace(self._options, schemas={**known, **self._options.schemas}, checkout=checkout)
        found = dry_run(job, arguments, options)
        self._store.ingest(map(to_json, found.events))
        return found


@contextmanager
def planner(store: str, options: Options) -> Iterator[Planner]:
    """Have jobs planned into a store, a file or a database URL, in as few JVMs as may be."""
    with (
        tempfile.TemporaryDirectory(prefix="headwater-plan-", ignore_cleanup_errors=True) as folder,
        open_store(store) as opened,
        shared_jvms(Path(folder)) as jvms,
    ):
        yield Planner(opened, replace(options, jvms=jvms))
