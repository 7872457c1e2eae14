"""Typed expressions, made of the forms by filling their holes."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from hypothesis import strategies as st
from tests.oracle.forms import FORMS, LITERALS, Forms

Draw = Callable[..., Any]

SCALARS = ("int", "double", "string", "boolean", "date", "timestamp")
TYPES = (*SCALARS, "strings", "ints", "map", "struct")
HOLE = re.compile(r"\{(\w+)\}")


@dataclass(frozen=True, slots=True)
class Writer:
    """Writes expressions over some columns: ``columns`` as SQL by type; ``used`` collects the forms that were taken.

    ``unique`` are columns that together put rows into an order without ties, as far as anything does.
    """

    draw: Draw
    columns: Mapping[str, tuple[str, ...]]
    unique: tuple[str, ...]
    used: set[str]

    def column(self, kind: str) -> str:
        """A column of that type, or a literal where there is none."""
        return str(self.draw(st.sampled_from(self.columns.get(kind) or LITERALS[kind])))

    def value(self, kind: str, depth: int = 1, tables: tuple[Forms, ...] = (FORMS,)) -> str:
        """An expression of that type, at most ``depth`` forms deep, the outermost from ``tables``."""
        forms = [form for table in tables for form in table.get(kind, ())]
        if not forms or (tables == (FORMS,) and self._is_leaf(kind, depth)):
            return self.column(kind)
        form = self.draw(st.sampled_from(forms))
        self.used.add(form)
        return HOLE.sub(lambda hole: self._fill(hole[1], depth - 1), form)

    def _is_leaf(self, kind: str, depth: int) -> bool:
        """Whether to take a column: where there is none of that type, a form may still lead to one."""
        return depth <= 0 or (kind in self.columns and self.draw(st.integers(0, 2)) == 0)

    def scalar(self) -> str:
        """A column that can be compared and ordered."""
        known = [kind for kind in SCALARS if kind in self.columns]
        return self.column(self.draw(st.sampled_from(known or SCALARS)))

    def total(self) -> str:
        """An order without ties."""
        first = self.scalar()
        return ", ".join(dict.fromkeys((first, *self.unique)))

    def _fill(self, hole: str, depth: int) -> str:
        if hole == "scalar":
            return self.scalar()
        if hole == "total":
            return self.total()
        if hole == "number":
            return str(self.draw(st.sampled_from(LITERALS["int"])))
        kind = self.draw(st.sampled_from([kind for kind in TYPES if kind in self.columns])) if hole == "any" else hole
        return self.value(kind, depth)
