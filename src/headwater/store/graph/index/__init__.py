"""The current edges in memory, for walks that need not ask the database (docs/decisions/0072)."""

from importlib.util import find_spec

from headwater.errors import SettingError

OPTION = "headwater_index"
"""The execution option by which a connection knows the `headwater.store.graph.index.memory.EdgeIndex` of its store."""


def require_arrays() -> None:
    """Looks whether edges can be kept in memory.

    Raises:
        SettingError: numpy is not installed.
    """
    if find_spec("numpy") is None:
        raise SettingError(
            "Keeping edges in memory needs a package that is not installed (numpy). "
            "Install it with: pip install 'headwater[index]'"
        )
