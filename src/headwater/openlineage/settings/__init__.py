"""The configuration of OpenLineage that an application has: Spark conf, environment, openlineage.yml."""

from headwater.openlineage.settings.settings import JobNames, Settings, settings_from

__all__ = ["JobNames", "Settings", "settings_from"]
