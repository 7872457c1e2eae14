"""Column-level lineage for PySpark: watch a job, ask where a column comes from.

>>> import headwater
>>> headwater.attach(spark)          # doctest: +SKIP
>>> headwater.lineage(df).roots("x")  # doctest: +SKIP
"""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from headwater.capture.attach import attach, detach
    from headwater.capture.frames import FrameLineage, lineage

__version__ = "0.1.0"

__all__ = ["FrameLineage", "__version__", "attach", "detach", "lineage"]

_HOMES = {"attach": "attach", "detach": "attach", "lineage": "frames", "FrameLineage": "frames"}


def __getattr__(name: str) -> Any:
    """The public names, loaded when they are used: a command line that only asks needs no capture."""
    if name not in _HOMES:
        raise AttributeError(f"module 'headwater' has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(f"headwater.capture.{_HOMES[name]}"), name)


def load_ipython_extension(shell: Any) -> None:
    """``%load_ext headwater``: watch every Spark session of the notebook, the running one too."""
    from headwater.capture.attach import attach_notebook

    attach_notebook()


def unload_ipython_extension(shell: Any) -> None:
    """``%unload_ext headwater``."""
    from headwater.capture.attach import detach

    detach()
