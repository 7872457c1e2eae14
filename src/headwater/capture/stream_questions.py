"""The plan of a streaming query, asked of the JVM one call at a time: only where nothing can be compiled there."""

from collections.abc import Callable, Iterator
from typing import Any

from headwater.capture.questions import asked, class_of, facts_of, known, options_of, table_facts
from headwater.plan import Facts, LeafKey, Plan, decode_tojson

_PLACES = ("path", "topic", "subscribe", "subscribePattern", "assign", "kafka.bootstrap.servers")


def plan_of(query: Any, jvm: Any) -> Plan:
    """The plan of a StreamExecution, with its sink at the root; what cannot be asked is left out."""
    plan = _field(query, "plan")
    facts = facts_of(query, plan)
    sink, conf = plan.sink(), query.sparkSession().sessionState().newHadoopConf()

    def qualified(path: Any) -> str | None:
        """As Hadoop names it: a stream keeps the path that the user gave."""
        given = jvm.org.apache.hadoop.fs.Path(str(path))
        return str(given.getFileSystem(conf).makeQualified(given).toString())

    root = {
        "sink": known(
            {"class": class_of(sink).rstrip("$"), "path": asked(lambda: qualified(_field(sink, "path").toString()))}
        ),
        "catalogTable": asked(lambda: table_facts(query, plan.catalogTable().get())),
    }
    leaves = {**facts.leaves, **dict(_sources(query, plan, qualified))}
    session = {**facts.session, "options": options_of(_field(query, "extraOptions"), _PLACES)}
    return decode_tojson(str(plan.toJSON()), Facts({**facts.root, **known(root)}, leaves, facts.output, session))


def _sources(query: Any, plan: Any, qualified: Callable[[Any], str | None]) -> Iterator[tuple[LeafKey, dict[str, Any]]]:
    leaves = plan.collectLeaves()
    for leaf in map(leaves.apply, range(leaves.size())):
        output = leaf.output()
        key = (class_of(leaf), tuple(int(output.apply(place).exprId().id()) for place in range(output.size())))
        if key[0] == "StreamingRelation":
            yield key, {"dataSource": _data_source(query, leaf.dataSource(), qualified)}
        elif key[0] == "StreamingRelationV2":
            yield key, {"extraOptions": options_of(leaf.extraOptions(), _PLACES)}


def _data_source(query: Any, source: Any, qualified: Callable[[Any], str | None]) -> dict[str, Any]:
    options = options_of(source.options(), _PLACES)
    table = asked(lambda: table_facts(query, source.catalogTable().get()))
    path = asked(lambda: qualified(options["path"]))
    return known({"path": path, "options": options, "catalogTable": table})


def _field(value: Any, name: str) -> Any:
    """A private field, of the class or of those above it."""
    kind = value.getClass()
    while kind is not None:
        found = next((field for field in kind.getDeclaredFields() if field.getName() == name), None)
        if found is not None:
            found.setAccessible(True)
            return found.get(value)
        kind = kind.getSuperclass()
    return None
