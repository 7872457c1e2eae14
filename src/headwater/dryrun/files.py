"""Files that a job reads by their path: those that are not there, and those that it has itself written without rows."""

from collections.abc import Callable, Mapping
from typing import Any

from headwater.dryrun.actions import wrap_methods
from headwater.dryrun.places import place
from headwater.dryrun.report import Findings
from headwater.dryrun.schemas import Schema, Schemas, path_key

_FORMATS = ("csv", "json", "orc", "parquet", "text", "xml")
_JSON_TYPES = {
    "binary": "string",
    "date": "string",
    "timestamp": "string",
    "timestamp_ntz": "string",
    "float": "double",
}
_JSON_TYPES |= dict.fromkeys(("byte", "short", "integer"), "long")
_HEADER, _INFER = "header", "inferschema"
_OPTIONS: Mapping[str, Callable[..., dict[str, Any]]] = {
    "format": lambda source: {"format": source},
    "mode": lambda saveMode: {"mode": saveMode},  # noqa: N803 - the name that PySpark has
    "option": lambda key, value: {key: value},
    "options": lambda **options: options,
    "schema": lambda schema: {"schema": schema},
}
"""Methods of readers and writers, and what their arguments set."""


class Files:
    """Sets the schema of a path that Spark cannot find out, from start() on."""

    def __init__(self, findings: Findings, schemas: Schemas) -> None:
        self._findings = findings
        self._known: dict[str, Schema] = {name: one for name, one in schemas.items() if "/" in name}
        self._written: dict[str, Any] = {}

    def start(self) -> None:
        """Begin; PySpark is imported by this."""
        from pyspark.sql import DataFrameReader, DataFrameWriter

        for kind in (DataFrameReader, DataFrameWriter):
            _wrap(kind, dict.fromkeys(_OPTIONS, _recording))
        _wrap(DataFrameReader, dict.fromkeys(("load", *_FORMATS), self._reading))
        _wrap(DataFrameWriter, dict.fromkeys(("save", *_FORMATS), self._writing))

    def _reading(self, original: Any) -> Any:
        def read(reader: Any, *args: Any, **kwargs: Any) -> Any:
            noted = _noted(reader) | {name.lower(): value for name, value in kwargs.items()}
            named = {"format": "parquet", **_named_format(original), **noted}
            if not noted.get("schema") and named["format"] in _FORMATS:
                for path in _paths(args, kwargs):
                    self._prepare(reader, path, named)
            return original(reader, *args, **kwargs)

        return read

    def _prepare(self, reader: Any, path: str, noted: Mapping[str, Any]) -> None:
        written, known = self._written.get(path_key(path)), self._known.get(path_key(path))
        if written is not None:
            schema = inferred(written, str(noted["format"]), noted)
            if schema is not None:
                reader.schema(schema)
        elif known is not None and not _exists(reader._spark, path):
            _file_system(reader._spark, path).mkdirs(reader._spark._jvm.org.apache.hadoop.fs.Path(path))
            reader.schema(known.lines.replace("\n", ","))
            self._findings.answer(place(), "read", f"a schema that is known of {path}, which is not there")

    def _writing(self, original: Any) -> Any:
        def write(writer: Any, *args: Any, **kwargs: Any) -> Any:
            appends = (kwargs.get("mode") or _noted(writer).get("mode")) == "append"
            fresh = [path for path in _paths(args, kwargs) if not (appends and _exists(writer._spark, path))]
            made = original(writer, *args, **kwargs)
            self._written.update(dict.fromkeys(map(path_key, fresh), writer._df.schema))
            return made

        return write


def inferred(written: Any, format_: str, options: Mapping[str, Any]) -> Any:
    """The schema that Spark would infer of files with rows of a schema; None where it finds it out without rows."""
    from pyspark.sql.types import StructField, StructType

    if format_ == "text" or (format_ == "csv" and _is_true(options, _HEADER) and not _is_true(options, _INFER)):
        return None
    if format_ == "json":
        named = sorted(written.fields, key=lambda one: one.name)
        return StructType([StructField(one.name, _json_type(one.dataType)) for one in named])
    if format_ != "csv":
        return written
    names = written.names if _is_true(options, _HEADER) else [f"_c{place}" for place in range(len(written))]
    types = [one.dataType.simpleString() if _is_true(options, _INFER) else "string" for one in written.fields]
    return ",".join(f"`{name}` {type_}" for name, type_ in zip(names, types, strict=True))


def _json_type(type_: Any) -> Any:
    """The type of a column that JSON has kept; those inside others stay, and decimals are doubles."""
    from pyspark.sql.types import DoubleType, LongType, StringType

    simple = {"string": StringType(), "double": DoubleType(), "long": LongType()}
    name = "float" if type_.typeName() == "decimal" else type_.typeName()
    return simple.get(_JSON_TYPES.get(name, ""), type_)


def _wrap(kind: Any, wrappers: Mapping[str, Callable[[Any], Any]]) -> None:
    wrap_methods({(kind, name): wrap for name, wrap in wrappers.items()})


def _noted(target: Any) -> dict[str, Any]:
    found: dict[str, Any] = vars(target).setdefault("_headwater_options", {})
    return found


def _recording(original: Any) -> Any:
    options_of = _OPTIONS[original.__name__]

    def record(target: Any, *args: Any, **kwargs: Any) -> Any:
        _noted(target).update({name.lower(): value for name, value in options_of(*args, **kwargs).items()})
        return original(target, *args, **kwargs)

    return record


def _is_true(options: Mapping[str, Any], name: str) -> bool:
    return str(options.get(name)).lower() == "true"


def _named_format(original: Any) -> dict[str, str]:
    return {"format": original.__name__} if original.__name__ in _FORMATS else {}


def _paths(args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> list[str]:
    """The paths of a call; a reader of Parquet takes several, the others one or a list."""
    first = args[0] if args else kwargs.get("path")
    several = first if isinstance(first, list) else [*args[:1], *([kwargs["path"]] if kwargs.get("path") else [])]
    return [one for one in several if isinstance(one, str)]


def _exists(session: Any, path: str) -> bool:
    return bool(_file_system(session, path).exists(session._jvm.org.apache.hadoop.fs.Path(path)))


def _file_system(session: Any, path: str) -> Any:
    configuration = session.sparkContext._jsc.hadoopConfiguration()
    return session._jvm.org.apache.hadoop.fs.Path(path).getFileSystem(configuration)
