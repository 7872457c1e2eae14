"""Names of Java that PySpark looks up, each once for a JVM.

For each column that a query makes PySpark asks the JVM what ``functions`` is, and Java looks through all jars for
classes of that name in each package that is imported: a tenth of the CPU of many small queries.
"""

from collections.abc import Callable
from typing import Any

from py4j.java_gateway import JavaClass, JavaMember, JavaPackage, JVMView

Lookup = Callable[[Any, str], Any]


def look_up_once() -> None:
    """Have each view, package and class of Java keep what was found in it by name, until its JVM ends."""
    for owner in (JVMView, JavaPackage, JavaClass):
        if not hasattr(owner.__getattr__, "is_once"):
            owner.__getattr__ = _once(owner.__getattr__)


def _once(look_up: Lookup) -> Lookup:
    def found(owner: Any, name: str) -> Any:
        one = look_up(owner, name)
        if _lasts(one):
            vars(owner)[name] = one  # which Python asks before it calls this function
        return one

    found.is_once = True  # type: ignore[attr-defined]
    return found


def _lasts(one: Any) -> bool:
    """Whether a name means this for good: a class may come with a jar, which until then is taken for a package."""
    return isinstance(one, (JavaClass, JavaMember)) or (isinstance(one, JavaPackage) and one._fqn.islower())
