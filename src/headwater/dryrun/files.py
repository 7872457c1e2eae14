"""Files that a job reads by their path and that are not there, and tables behind JDBC that are out of reach."""

import inspect
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from headwater.dryrun.actions import wrap_methods
from headwater.dryrun.databases import jdbc_frame, known_table
from headwater.dryrun.places import place
from headwater.dryrun.report import Findings
from headwater.dryrun.schemas import Schemas, path_key

_FORMATS = ("csv", "json", "orc", "parquet", "text", "xml")
_OPTIONS: Mapping[str, Callable[..., dict[str, Any]]] = {
    "format": lambda source: {"format": source},
    "option": lambda key, value: {key: value},
    "options": lambda **options: options,
    "schema": lambda schema: {"schema": schema},
}
"""Methods of a reader, and what their arguments set."""

_PARTITION = re.compile(r"/([^/=]+)=[^/]*")


class Files:
    """Sets the schema of a path that is not there, from start() on."""

    def __init__(self, findings: Findings, schemas: Schemas) -> None:
        self._findings = findings
        self._known = schemas

    def start(self) -> None:
        """Begin; PySpark is imported by this."""
        from pyspark.sql import DataFrameReader

        reading = dict.fromkeys(("load", *_FORMATS), self._reading)
        wrappers = {**dict.fromkeys(_OPTIONS, _recording), **reading, "jdbc": self._connecting}
        wrap_methods({(DataFrameReader, name): wrap for name, wrap in wrappers.items()})

    def _reading(self, original: Any) -> Any:
        def read(reader: Any, *args: Any, **kwargs: Any) -> Any:
            noted = {"format": "parquet", **_noted(reader), **{name.lower(): value for name, value in kwargs.items()}}
            if original.__name__ in _FORMATS:
                noted["format"] = original.__name__
            if noted["format"] in _FORMATS:
                for path in _paths(args, kwargs):
                    reader = self._prepared(reader, path, noted)
            try:
                return original(reader, *args, **kwargs)
            except Exception:
                if noted["format"] == "jdbc" and (found := self._out_of_reach(reader, noted)) is not None:
                    return found
                raise

        return read

    def _connecting(self, original: Any) -> Any:
        names = inspect.signature(original)

        def connect(reader: Any, *args: Any, **kwargs: Any) -> Any:
            try:
                return original(reader, *args, **kwargs)
            except Exception:
                call = names.bind(reader, *args, **kwargs).arguments
                options = {"url": call["url"], "dbtable": call["table"], **(call.get("properties") or {})}
                if (found := self._out_of_reach(reader, options)) is not None:
                    return found
                raise

        return connect

    def _out_of_reach(self, reader: Any, options: Mapping[str, Any]) -> Any:
        """A frame of the table that JDBC options name, None where its columns are not known."""
        name = str(options.get("dbtable") or options.get("query"))
        known = known_table(self._known, name)
        if known is None:
            return None
        self._findings.answer(place(), "read", f"a schema that is known of {name}, whose database is out of reach")
        return jdbc_frame(reader._spark, known, options)

    def _prepared(self, reader: Any, path: str, noted: Mapping[str, Any]) -> Any:
        """The reader by which a path can be read: another one where it needs a schema, as a job may read again."""
        session = reader._spark
        if noted.get("schema") or noted["format"] == "text":
            if not _found(session, path):
                self._read_without_rows(session, path, f"no rows, in the columns that the job names for {path}")
            return reader
        # A folder that was made for the first read of a path is empty at the second
        schema = None if any(_files(session, path)) else self._schema(session, path, noted)
        if schema is None:
            return reader
        self._read_without_rows(session, path, f"a schema that is known of {path}, which is not there")
        return _reader(session, {"format": noted["format"], **_noted(reader)}).schema(schema)

    def _read_without_rows(self, session: Any, path: str, answer: str) -> None:
        _file_system(session, path).mkdirs(session._jvm.org.apache.hadoop.fs.Path(path))
        self._findings.answer(place(), "read", answer)

    def _schema(self, session: Any, path: str, noted: Mapping[str, Any]) -> Any:
        """The schema that is known of a path, or for a partition that of the folder which it is of; else None."""
        known = self._known.get(path_key(path))
        if known is not None:
            return known.lines.replace("\n", ",")
        folder = path[: found.start()] if (found := _PARTITION.search(path)) else path
        if folder == path or not any(_files(session, folder)):
            return None
        whole = _reader(session, noted).load(folder).schema
        inside = [] if "basepath" in noted else _PARTITION.findall(path)
        return type(whole)([one for one in whole.fields if one.name not in inside])


def _reader(session: Any, noted: Mapping[str, Any]) -> Any:
    """A new reader with a format and options."""
    options = {name: value for name, value in noted.items() if name != "schema" and isinstance(value, str | bool | int)}
    return session.read.format(options.pop("format")).options(**options)


def _noted(target: Any) -> dict[str, Any]:
    found: dict[str, Any] = vars(target).setdefault("_headwater_options", {})
    return found


def _recording(original: Any) -> Any:
    options_of = _OPTIONS[original.__name__]

    def record(target: Any, *args: Any, **kwargs: Any) -> Any:
        _noted(target).update({name.lower(): value for name, value in options_of(*args, **kwargs).items()})
        return original(target, *args, **kwargs)

    return record


def _paths(args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> list[str]:
    """The paths of a call; a reader of Parquet takes several, the others one or a list."""
    first = args[0] if args else kwargs.get("path")
    several = first if isinstance(first, list) else [*args[:1], *([kwargs["path"]] if kwargs.get("path") else [])]
    return [one for one in several if isinstance(one, str)]


def _files(session: Any, path: str) -> Iterator[Any]:
    """The files that a path is, or that are in its folders."""
    for found in _found(session, path):
        yield from _file_system(session, path).listStatus(found.getPath())


def _found(session: Any, path: str) -> Sequence[Any]:
    """The files and folders that a path is, or that fit its pattern."""
    return _file_system(session, path).globStatus(session._jvm.org.apache.hadoop.fs.Path(path)) or ()


def _file_system(session: Any, path: str) -> Any:
    configuration = session.sparkContext._jsc.hadoopConfiguration()
    return session._jvm.org.apache.hadoop.fs.Path(path).getFileSystem(configuration)
