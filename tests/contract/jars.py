"""The classes of Spark's operators and irregular expressions, read from the class files of its jars: no JVM.

``python -m tests.contract.jars`` writes the names in the installed Spark's jars beside this file (``make classes``).
"""

import struct
import sys
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from zipfile import ZipFile

FOLDER = Path(__file__).parent / "classes"
KINDS = ("operators", "expressions")

CATALYST = "org/apache/spark/sql/catalyst/"
OPERATOR = f"{CATALYST}plans/logical/LogicalPlan"
EXPRESSION = f"{CATALYST}expressions/Expression"
IRREGULAR = {
    f"{CATALYST}expressions/{name}"
    for name in (
        "Generator",
        "HigherOrderFunction",
        "PlanExpression",
        "PythonFuncExpression",
        "Unevaluable",
        "UserDefinedExpression",
        "WindowFunction",
        "aggregate/AggregateFunction",
    )
}
"""What makes an expression more than a function of its children's values; ``With`` and its like are Unevaluable."""

MAGIC = bytes.fromhex("cafebabe")
ABSTRACT = 0x0400
# Bytes of each entry of the constant pool after its tag (JVM specification, 4.4); a UTF-8 text brings its own length.
SIZES = {3: 4, 4: 4, 5: 8, 6: 8, 7: 2, 8: 2, 9: 4, 10: 4, 11: 4, 12: 4, 15: 3, 16: 2, 17: 4, 18: 4, 19: 2, 20: 2}
UTF8, LONG, DOUBLE, CLASS = 1, 5, 6, 7


@dataclass(frozen=True, slots=True)
class ClassFile:
    """One class: its name, and those of what it extends and implements, in the JVM's spelling."""

    name: str
    abstract: bool
    parents: tuple[str, ...]


def read_class(content: bytes) -> ClassFile:
    """Read the head of a class file (JVM specification, 4.1).

    Raises:
        ValueError: it is no class file.
    """
    if content[:4] != MAGIC:
        raise ValueError(f"A class file begins with 0xCAFEBABE, but 0x{content[:4].hex()} was met.")
    texts: dict[int, str] = {}
    names: dict[int, int] = {}
    (count,) = struct.unpack_from(">H", content, 8)
    offset, index = 10, 1
    while index < count:
        tag = content[offset]
        if tag == UTF8:
            (length,) = struct.unpack_from(">H", content, offset + 1)
            texts[index] = content[offset + 3 : offset + 3 + length].decode("utf-8", errors="replace")
            offset += 3 + length
        else:
            if tag == CLASS:
                (names[index],) = struct.unpack_from(">H", content, offset + 1)
            offset += 1 + SIZES[tag]
        index += 2 if tag in (LONG, DOUBLE) else 1
    flags, this, parent, interfaces = struct.unpack_from(">4H", content, offset)
    above = (parent, *struct.unpack_from(f">{interfaces}H", content, offset + 8))
    return ClassFile(texts[names[this]], bool(flags & ABSTRACT), tuple(texts[names[one]] for one in above if one))


@cache
def classes(folder: Path) -> Mapping[str, ClassFile]:
    """Every class of Spark's own in the jars of a folder that may be part of a plan, and what those extend."""
    found = {}
    for jar in sorted(folder.glob("spark-*.jar")):
        with ZipFile(jar) as archive:
            for name in archive.namelist():
                if name.endswith(".class") and name.startswith("org/apache/spark/sql/"):
                    one = read_class(archive.read(name))
                    found[one.name] = one
    return found


def below(tops: Iterable[str], known: Mapping[str, ClassFile]) -> set[str]:
    """The classes that extend or implement one of ``tops``, at any distance."""
    children: dict[str, list[str]] = {}
    for one in known.values():
        for parent in one.parents:
            children.setdefault(parent, []).append(one.name)
    found: set[str] = set()
    stack = list(tops)
    while stack:
        for child in children.get(stack.pop(), ()):
            if child not in found:
                found.add(child)
                stack.append(child)
    return found


def names(folder: Path) -> Mapping[str, tuple[str, ...]]:
    """The names, as plans have them, of the concrete operators and irregular expressions in a folder of jars."""
    known = classes(folder)
    found = {
        "operators": below([OPERATOR], known),
        "expressions": below([EXPRESSION], known) & below(IRREGULAR, known),
    }
    return {kind: tuple(sorted(_concrete(found[kind], known))) for kind in KINDS}


def _concrete(found: Iterable[str], known: Mapping[str, ClassFile]) -> Iterator[str]:
    """Without package, and without the ``$`` that ends the class of an object."""
    return (name.rpartition("/")[2].removesuffix("$") for name in set(found) if not known[name].abstract)


def installed() -> tuple[str, Path]:
    """The version of the installed Spark, and its jars."""
    import pyspark

    return pyspark.__version__, Path(pyspark.__file__).parent / "jars"


def written(version: str) -> Mapping[str, tuple[str, ...]]:
    """The names that were written of a version, by kind; those of Spark 4.1 hold for all of its patch releases."""
    return {kind: tuple((FOLDER / version / f"{kind}.txt").read_text().split()) for kind in KINDS}


def main() -> int:
    """Write the names of the installed Spark."""
    version, folder = installed()
    minor = ".".join(version.split(".")[:2])
    for kind, found in names(folder).items():
        path = FOLDER / minor / f"{kind}.txt"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("".join(f"{name}\n" for name in found))
        print(f"Spark {version}: {len(found)} {kind}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
