"""The configuration of OpenLineage that an application has: Spark conf, environment, openlineage.yml."""

from headwater.openlineage.settings.settings import DEFAULT_NAMESPACE, PREFIX, JobNames, Settings, settings_from

__all__ = ["DEFAULT_NAMESPACE", "PREFIX", "JobNames", "Settings", "settings_from"]
