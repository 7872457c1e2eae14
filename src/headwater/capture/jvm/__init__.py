"""The part of headwater that runs inside the driver's JVM: Java source, compiled there by Spark's own Janino."""

from importlib.resources import files

SOURCES = (
    "Secrets.java",
    "JsonSecrets.java",
    "Reflection.java",
    "Leaving.java",
    "IcebergReports.java",
    "Tables.java",
    "Altered.java",
    "Before.java",
    "Targets.java",
    "Headers.java",
    "Origins.java",
    "RddAction.java",
    "RddActions.java",
    "Labels.java",
    "FactWriter.java",
    "Procedures.java",
    "Interfaces.java",
    "Context.java",
    "BoundedWriter.java",
    "Facets.java",
    "Answers.java",
    "Asked.java",
    "PlanWriter.java",
    "Streams.java",
    "Statistics.java",
    "Queue.java",
    "LastWords.java",
    "Tap.java",
)
"""In the order in which they are compiled: each may use those before it."""


def source(name: str) -> str:
    """The text of one of SOURCES."""
    return files(__name__).joinpath(name).read_text("utf-8")
