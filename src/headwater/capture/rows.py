"""The rows that a tap hands over: one per start and end of a root SQL execution, and per plan whose rows leave it.

A streaming query has rows of its own.
"""

import base64
import json
import zlib
from dataclasses import dataclass
from datetime import datetime
from itertools import chain
from typing import Any

import orjson

from headwater.model import Statistics
from headwater.model.time import MILLISECOND, datetime_of
from headwater.plan import Plan, decode_document

_NODES = '"nodes":[\r'
_TOGETHER = 64


@dataclass(frozen=True, slots=True)
class Scan:
    """One scan of an execution that has ended: where it read, how much, and Iceberg's report of it as JSON."""

    paths: tuple[str, ...]
    statistics: Statistics
    report: str = ""


@dataclass(frozen=True, slots=True)
class ExecutionRow:
    """A root SQL execution starts or ends. ``plan`` comes with the first row that has one.

    Of the kind ``origin`` it is none of these: the rows of ``plan`` are those of the RDD with that id.
    ``stream`` is the run of the streaming query that a row is of: of the kinds ``stream`` (it starts; ``name`` is its
    name, ``description`` its id), ``batch`` (a batch has ended), ``stopped``, or a write inside one of its batches.
    ``began`` is known where start and end come together.
    ``version`` is that of the table after its write, ``previous`` the one before it, where the table counts them.
    ``creates`` says that there was no table yet which it would replace.
    ``written`` and ``scans`` count what it wrote and read, ``commit`` is Iceberg's report of its commit as JSON.
    ``unreadable`` says why there is none, ``command`` then names the operator at its root.
    """

    kind: str
    id: int
    time: datetime
    plan: Plan | None = None
    description: str = ""
    failure: str | None = None
    trace: str = ""
    command: str = ""
    unreadable: str = ""
    began: datetime | None = None
    version: str = ""
    previous: str = ""
    stream: str = ""
    name: str = ""
    creates: bool = False
    written: Statistics | None = None
    scans: tuple[Scan, ...] = ()
    commit: str = ""


def unpack(reply: str) -> str:
    """The text of a reply of the tap, which deflates what is large."""
    return zlib.decompress(base64.b64decode(reply[1:])).decode("utf-8") if reply.startswith("~") else reply


def rows(reply: str) -> list[ExecutionRow]:
    """The rows in a reply of the tap's ``poll``."""
    return [_row(_document(line)) for line in unpack(reply).split("\n")]


def _document(line: str) -> dict[str, Any]:
    """The JSON of a row; of a plan, whose nodes the tap divides by carriage returns, they come a few at a time.

    A wide plan has tens of thousands of lists and dicts, and if all were there at once Python's collector would look
    at everything that the job has.
    """
    if line.count(_NODES) != 1:
        return dict(_loads(line))
    head, _, rest = line.partition("\r")
    nodes, _, tail = rest.rpartition("\r")
    found, each = dict(_loads(head + tail)), nodes.split("\r,") if nodes else []
    parts = (each[place : place + _TOGETHER] for place in range(0, len(each), _TOGETHER))
    found["plan"]["nodes"] = chain.from_iterable(_loads(f"[{','.join(part)}]") for part in parts)
    return found


def _loads(text: str) -> Any:
    try:
        return orjson.loads(text)
    except orjson.JSONDecodeError:  # of numbers that are none, or half a character
        return json.loads(text)


def _row(record: dict[str, Any]) -> ExecutionRow:
    return ExecutionRow(
        kind=record["kind"],
        id=record["id"],
        time=datetime_of(record["time"] * MILLISECOND),
        plan=decode_document(record["plan"]) if "plan" in record else None,
        description=record.get("description", ""),
        failure=record.get("failure"),
        trace=record.get("trace", ""),
        command=record.get("command", ""),
        unreadable=record.get("unreadable", ""),
        version=record.get("version", ""),
        previous=record.get("previous", ""),
        stream=record.get("stream", ""),
        name=record.get("name", ""),
        creates=record.get("creates", False),
        written=Statistics(*record["written"]) if "written" in record else None,
        scans=tuple(map(_scan, record.get("scans", ()))),
        commit=_text_of(record.get("commit")),
    )


def _scan(record: dict[str, Any]) -> Scan:
    return Scan(tuple(record["paths"]), Statistics(*record["counts"]), _text_of(record.get("report")))


def _text_of(report: dict[str, Any] | None) -> str:
    return json.dumps(report) if report else ""


@dataclass(frozen=True, slots=True)
class RddAction:
    """One action on an RDD, by the name of an operator; ``changed`` where a function comes in between.

    ``path`` and ``columns`` are those of the folder it is saved to; None and empty where there is no folder.
    """

    operator: str
    java_rdd: Any
    changed: bool
    path: str | None = None
    columns: tuple[str, ...] = ()


def plan_unseen(action: RddAction, path: str | None) -> Plan:
    """The plan of an action where nothing is known of what the RDD is made of."""
    columns = [["AttributeReference", [], {}, {"id": -2 - n, "name": name}] for n, name in enumerate(action.columns)]
    rows = ["LogicalRDD", [], {"output": list(range(len(columns)))}, {}, 1]
    return decode_document({"nodes": [*columns, rows, [action.operator, [len(columns)], {}, {"path": path}, 1]]})
