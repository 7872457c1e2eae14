"""Delivery of events to back ends, files and functions, at least once, from files on disk.

An event goes from `Delivery` to the `Outbox` of each target, from there into its `Spool`, which holds files locked by
one process, and from these to the target.
"""

from headwater.openlineage.delivery.delivery import Delivery, spool_key
from headwater.openlineage.delivery.outbox import Counts
from headwater.openlineage.delivery.spool import DeliveryOutcome, DeliveryResult
from headwater.openlineage.delivery.targets import (
    ClientTarget,
    FileTarget,
    SinkTarget,
    Target,
    UnusableTarget,
    address_of,
    client_targets,
    config_path,
    read_config,
    unusable_targets,
)

__all__ = [
    "ClientTarget",
    "Counts",
    "Delivery",
    "DeliveryOutcome",
    "DeliveryResult",
    "FileTarget",
    "SinkTarget",
    "Target",
    "UnusableTarget",
    "address_of",
    "client_targets",
    "config_path",
    "read_config",
    "spool_key",
    "unusable_targets",
]
