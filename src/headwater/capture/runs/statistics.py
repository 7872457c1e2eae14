"""The end of an execution: how much it read and wrote, and Iceberg's reports, put to the datasets of its statement."""

import json
from collections.abc import Iterable, Sequence
from dataclasses import replace

from headwater.capture.rows import ExecutionRow, Scan
from headwater.model import Dataset, DatasetDescription, Facet, Output, Statement, Statistics
from headwater.openlineage.naming.locations import path_dataset


def with_statistics(statement: Statement, row: ExecutionRow) -> Statement:
    """The statement with the counts of an execution that has ended.

    Spark counts a write for the whole execution: of several outputs none is given a count. The scan of several
    datasets at once is no count of any of them.
    """
    scans = _by_input(statement.inputs, row.scans)
    inputs = tuple(_scanned(seen, scans.get(seen.dataset, ())) for seen in statement.inputs)
    outputs = statement.outputs
    if len(outputs) == 1 and (row.written or row.commit):
        outputs = (_written(outputs[0], row),)
    return replace(statement, inputs=inputs, outputs=outputs)


def _written(output: Output, row: ExecutionRow) -> Output:
    description = replace(output.description, statistics=row.written)
    if row.commit:
        report = Facet("icebergCommitReport", row.commit, "output")
        # The counts of a commit of Iceberg; a summary leaves out what is zero (`SnapshotSummary`)
        counts = json.loads(row.commit)["commitMetrics"]
        names = ("addedRecords", "addedFilesSizeInBytes", "addedDataFiles")
        description = replace(
            description,
            statistics=Statistics(*(counts.get(name, 0) for name in names)),
            facets=(*output.description.facets, report),
        )
    return replace(output, description=description)


def _by_input(inputs: Sequence[DatasetDescription], scans: Iterable[Scan]) -> dict[Dataset, list[Scan]]:
    found: dict[Dataset, list[Scan]] = {}
    for scan in scans:
        dataset = _input_of(scan, [seen.dataset for seen in inputs])
        if dataset:
            found.setdefault(dataset, []).append(scan)
    return found


def _input_of(scan: Scan, inputs: Sequence[Dataset]) -> Dataset | None:
    """The only input that all paths of a scan are of; of a scan without paths, the only input there is."""
    if not scan.paths:
        return inputs[0] if len(inputs) == 1 else None
    found = {_holder(path_dataset(path), inputs) for path in scan.paths}
    return found.pop() if len(found) == 1 else None


def _holder(place: Dataset, inputs: Sequence[Dataset]) -> Dataset | None:
    """The input at a place, or the nearest above it: names of inputs are trimmed, places are not.

    A folder that begins with ``_`` holds no data of a table: Delta reads ``_delta_log`` in scans of its own.
    """
    folders = {one.name.rstrip("/"): one for one in inputs if one.namespace == place.namespace}
    parts = place.name.split("/")
    for end in range(len(parts), 0, -1):
        if (holder := folders.get("/".join(parts[:end]))) is not None:
            return None if any(part.startswith("_") for part in parts[end:]) else holder
    return None


def _scanned(seen: DatasetDescription, scans: Sequence[Scan]) -> DatasetDescription:
    if not scans:
        return seen
    counts = [scan.statistics for scan in scans]
    total = Statistics(
        _sum([one.rows for one in counts]), _sum([one.size for one in counts]), _sum([one.files for one in counts])
    )
    reports = [Facet("icebergScanReport", scan.report, "input") for scan in scans if scan.report]
    return replace(seen, statistics=total, facets=(*seen.facets, *reports[:1]))


def _sum(counts: Iterable[int | None]) -> int | None:
    numbers = [count for count in counts if count is not None]
    return sum(numbers) if numbers else None
