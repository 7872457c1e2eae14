"""UUIDs of what has none of its own: the same for the same names, in every store."""

from uuid import NAMESPACE_OID, UUID, uuid5

from headwater.model import Dataset, Job
from headwater.model.name_keys import key_of


def dataset_version(dataset: Dataset, run: str) -> UUID:
    """The version of a dataset that a run wrote; of no run that of a dataset which nothing known has written."""
    return _made_of("dataset version", dataset.namespace, dataset.name, run)


def job_version(job: Job, inputs: frozenset[Dataset], outputs: frozenset[Dataset], location: str) -> UUID:
    """The version of a job that reads and writes these datasets and whose code is at a location."""
    told = [part for some in (inputs, outputs) for one in sorted(some) for part in (one.namespace, one.name)]
    return _made_of("job version", job.namespace, job.name, str(len(inputs)), *told, location)


def job_uuid(job: Job) -> UUID:
    """A job's own."""
    return _made_of("job", job.namespace, job.name)


def _made_of(*parts: str) -> UUID:
    return uuid5(NAMESPACE_OID, key_of(*parts).hex())
