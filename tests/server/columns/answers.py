"""Answers in few words, so that tests can say what they expect."""

from typing import Any

from fastapi.testclient import TestClient

Json = dict[str, Any]


def answer_to(client: TestClient, question: str) -> Json:
    """The answer of a server to a question below ``/api/v2``."""
    answer = client.get(f"/api/v2/{question}")
    assert answer.status_code == 200, answer.text
    document: Json = answer.json()
    return document


def short(column: Json) -> str:
    """``/data/gold/delays`` and ``avg_delay`` as ``delays.avg_delay``; ``delays.*`` for a whole dataset."""
    return f"{column['name'].rsplit('/', 1)[-1]}.{column.get('field', '*')}"


def steps(hops: list[Json]) -> set[str]:
    """Hops as ``"gold.a <- silver.x AGGREGATION by job"``."""
    return {
        f"{short(hop['output'])} <- {short(hop['input'])} {transformation['subtype']} by {hop['job']['name']}"
        for hop in hops
        for transformation in hop["transformations"]
    }


def reached(graph: Json) -> dict[str, int]:
    """The columns of a walk with their distances."""
    return {short(column): column["distance"] for column in graph["columns"]}


def spelled_out(compact: Json) -> Json:
    """A compact answer in the readable form, its lists in no order."""
    datasets = _by_id(compact["datasets"])
    transformations, jobs = _by_id(compact["transformations"]), _by_id(compact["jobs"])
    columns = {row["id"]: datasets[row["dataset"]] | {"field": row["field"]} for row in rows_of(compact["columns"])}
    together: dict[tuple[int, int, int], list[Json]] = {}
    for edge in rows_of(compact["edges"]):
        together.setdefault((edge["input"], edge["output"], edge["job"]), []).append(
            transformations[edge["transformation"]]
        )
    hops = [
        {
            "input": columns[source],
            "output": columns[output] if output > 0 else datasets[-output],
            "transformations": found,
            "job": jobs[job],
        }
        for (source, output, job), found in together.items()
    ]
    far = [
        columns[row["id"]] | {key: one for key, one in row.items() if key not in ("id", "dataset", "field")}
        for row in rows_of(compact["columns"])
    ]
    return compact_free(compact) | {"columns": far, "hops": hops}


def compact_free(compact: Json) -> Json:
    """The parts that both forms have alike."""
    return {name: compact[name] for name in ("start", "direction", "truncated", "next")}


def view_in_names(view: Json) -> Json:
    """Return a view with names instead of places and ids, its lists in no order."""
    datasets = [{"namespace": one["namespace"], "name": one["name"]} for one in rows_of(view["datasets"])]
    columns = [datasets[one["dataset"]] | {"field": one["field"]} for one in rows_of(view["columns"])]
    focus = view["focus"]
    kinds = rows_of(view["transformations"])
    stale = [one | {"job": view["jobs"]["name"][one["job"]]} for one in rows_of(view["stale"])]
    named = {
        "focus": datasets[focus["dataset"]] if focus["column"] < 0 else columns[focus["column"]],
        "datasets": [{**one, "id": 0} for one in rows_of(view["datasets"])],
        "columns": [
            columns[place] | one | {"id": 0, "dataset": ""} for place, one in enumerate(rows_of(view["columns"]))
        ],
        "edges": [
            {
                "input": columns[edge["input"]],
                "output": columns[edge["output"]] if edge["output"] >= 0 else datasets[-1 - edge["output"]],
                "transformation": _described(kinds[edge["transformation"]], view["descriptions"]),
                "job": view["jobs"]["name"][edge["job"]],
                "stale": stale[edge["stale"]] if edge["stale"] >= 0 else None,
            }
            for edge in rows_of(view["edges"])
        ],
    }
    found: Json = unordered({**named, **{name: view[name] for name in ("asOf", "depth", "truncated")}})
    return found


def _described(kind: Json, descriptions: list[str]) -> Json:
    return kind | {"description": descriptions[kind["description"]] if kind["description"] >= 0 else ""}


def unordered(value: Any) -> Any:
    """The same with its lists sorted, for comparing answers that may come in any order."""
    if isinstance(value, dict):
        return {key: unordered(one) for key, one in value.items()}
    return sorted(map(unordered, value), key=repr) if isinstance(value, list) else value


def rows_of(arrays: Json) -> list[Json]:
    """Return the rows of a table of parallel arrays."""
    return [dict(zip(arrays, row, strict=True)) for row in zip(*arrays.values(), strict=True)]


def _by_id(arrays: Json) -> dict[int, Json]:
    return {row.pop("id"): row for row in rows_of(arrays)}
