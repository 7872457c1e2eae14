"""The facts of a plan that ``toJSON`` loses, asked of the JVM call by call: where nothing can be compiled there."""

import contextlib
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from headwater.plan import Column, Facts, LeafKey

_SEPARATOR = "\0"
_PLACES = ("path", "url", "dbtable", "table")
_INNER = ("query", "plan", "source")


def facts_of(execution: Any, plan: Any) -> Facts:
    """The facts about an analyzed plan; what cannot be asked is left out."""
    return Facts(_command(execution, plan), dict(_leaves(plan)), tuple(_output(plan)), _session(execution))


def class_of(thing: Any) -> str:
    """The class of an object in the JVM, without its package."""
    return str(thing.getClass().getName()).rpartition(".")[2]


def attempt(question: Callable[[], Any]) -> Any:
    """The answer, or None where this class or version of Spark has none."""
    with contextlib.suppress(Exception):
        return question()
    return None


def non_empty(facts: dict[str, Any]) -> dict[str, Any]:
    """The facts without those that nothing is known of."""
    return {key: value for key, value in facts.items() if value not in (None, "", {}, [], ())}


def _command(execution: Any, plan: Any) -> dict[str, Any]:
    names = attempt(lambda: plan.outputColumnNames().mkString(_SEPARATOR))
    return non_empty(
        {
            "outputPath": attempt(lambda: plan.outputPath().toString()),
            "mode": attempt(lambda: plan.mode().name()),
            "outputColumnNames": tuple(names.split(_SEPARATOR)) if names else (),
            "catalogTable": attempt(lambda: table_facts(execution, plan.catalogTable().get())),
            "options": options_of(attempt(plan.options), _PLACES),
            "storage": non_empty({"location": attempt(lambda: plan.storage().locationUri().get().toString())}),
            "userSpecifiedColumns": _view_columns(plan),
            **{
                key: attempt(lambda key=key: table_facts(execution, getattr(plan, key)()))  # type: ignore[misc]
                for key in ("table", "tableDesc")
            },
        }
    )


def table_facts(execution: Any, table: Any) -> dict[str, Any]:
    """The identifier, and where its rows are or will be."""
    identifier = table.identifier()
    location = attempt(lambda: table.storage().locationUri().get().toString())
    if location is None and attempt(lambda: table.tableType().name()) == "MANAGED":
        state = execution.sparkSession().sessionState()
        location = attempt(lambda: state.catalog().defaultTablePath(identifier).toString())
    return non_empty({"identifier": tuple(_parts(identifier)), "location": location})


def _parts(identifier: Any) -> Iterator[str]:
    for part in ("catalog", "database"):
        found = attempt(lambda part=part: getattr(identifier, part)().get())  # type: ignore[misc]
        if found:
            yield str(found)
    yield str(identifier.table())


def options_of(options: Any, places: Iterable[str]) -> dict[str, str]:
    """Those that say where data is; every other may be a secret. Scala's maps have Option, Java's null."""

    def value(key: str) -> Any:
        found = options.get(key)
        return found if found is None or isinstance(found, str) else str(found.get())

    return non_empty({key: attempt(lambda key=key: value(key)) for key in places})  # type: ignore[misc]


def _view_columns(plan: Any) -> tuple[tuple[str], ...]:
    columns = attempt(plan.userSpecifiedColumns)
    if columns is None:
        return ()
    return tuple((str(columns.apply(place)._1()),) for place in range(columns.size()))


def _leaves(plan: Any) -> Iterator[tuple[LeafKey, dict[str, Any]]]:
    for one in _plans(plan):
        leaves = one.collectLeaves()
        for place in range(leaves.size()):
            leaf = leaves.apply(place)
            facts = _leaf(leaf)
            if facts:
                yield _key(leaf), facts


def _plans(plan: Any) -> Iterator[Any]:
    """The plan, those of its subqueries, and those that a command keeps beside its children."""
    subqueries = attempt(plan.subqueriesAll)
    inner = (attempt(lambda key=key: getattr(plan, key)()) for key in _INNER)  # type: ignore[misc]
    for one in (plan, *inner):
        if one is None or attempt(one.collectLeaves) is None:
            continue
        yield one
        subqueries = attempt(one.subqueriesAll)
        if subqueries is not None:
            yield from (subqueries.apply(place) for place in range(subqueries.size()))


def _key(leaf: Any) -> LeafKey:
    output = leaf.output()
    return class_of(leaf), tuple(int(output.apply(place).exprId().id()) for place in range(output.size()))


def _leaf(leaf: Any) -> dict[str, Any]:
    kind = class_of(leaf)
    if kind == "LogicalRelation":
        table = attempt(lambda: leaf.catalogTable().get())
        location = attempt(lambda: table.storage().locationUri().get().toString())
        return non_empty({"relation": _relation(leaf.relation()), "catalogTable": non_empty({"location": location})})
    if kind == "DataSourceV2Relation":
        return non_empty({"table": _table(leaf.table()), **_owner(leaf)})
    if kind == "HiveTableRelation":
        location = attempt(lambda: leaf.tableMeta().storage().locationUri().get().toString())
        return non_empty({"tableMeta": non_empty({"location": location})})
    return {}


def _relation(relation: Any) -> dict[str, Any]:
    paths = attempt(lambda: relation.location().rootPaths().mkString(_SEPARATOR))
    return non_empty(
        {
            "class": class_of(relation),
            "paths": tuple(paths.split(_SEPARATOR)) if paths else (),
            "url": attempt(lambda: relation.jdbcOptions().url()),
            "table": attempt(lambda: relation.jdbcOptions().tableOrQuery()),
        }
    )


def _table(table: Any) -> dict[str, Any]:
    paths = attempt(lambda: table.paths().mkString(_SEPARATOR))
    return non_empty(
        {
            "class": class_of(table),
            "name": attempt(table.name),
            "location": attempt(lambda: table.properties().get("location")),
            "paths": tuple(paths.split(_SEPARATOR)) if paths else (),
        }
    )


def _owner(leaf: Any) -> dict[str, Any]:
    identifier = attempt(lambda: leaf.identifier().get())
    parts = (*attempt(lambda: tuple(identifier.namespace())), identifier.name()) if identifier is not None else ()
    name = attempt(lambda: leaf.catalog().get().name())
    return {"identifier": non_empty({"parts": parts}), "catalog": non_empty({"name": name})}


def _output(plan: Any) -> Iterator[Column]:
    """The columns of the query: a command has none of its own."""
    query = next((found for key in _INNER if (found := attempt(lambda key=key: getattr(plan, key)()))), plan)  # type: ignore[misc]
    output = attempt(query.output)
    for place in range(output.size() if output is not None else 0):
        column = output.apply(place)
        yield Column(int(column.exprId().id()), str(column.name()), str(column.dataType().catalogString()))


def _session(execution: Any) -> dict[str, Any]:
    state = execution.sparkSession().sessionState()
    return non_empty(
        {
            "catalog": attempt(lambda: state.catalogManager().currentCatalog().name()),
            "database": attempt(lambda: state.catalog().getCurrentDatabase()),
            "warehouse": attempt(lambda: state.conf().warehousePath()),
            "catalogImplementation": attempt(lambda: state.conf().getConfString("spark.sql.catalogImplementation")),
            "metastore": attempt(lambda: state.conf().getConfString("spark.sql.hive.metastore.uris"))
            or attempt(lambda: state.newHadoopConf().get("hive.metastore.uris")),
        }
    )
