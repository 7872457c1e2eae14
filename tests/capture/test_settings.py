"""A setting that cannot be used is one clear error where somebody asks for it, and one line where nobody does."""

import re
from pathlib import Path
from typing import Any

import pytest
from tests.capture.conftest import SPARK, Jobs
from typer.testing import CliRunner

import headwater
from headwater.capture.settings import CaptureSettings, capture_settings, environment_settings
from headwater.capture.submit import run
from headwater.cli.main import app
from headwater.errors import SettingError
from headwater.server.settings import SETTINGS

INF, NAN = float("inf"), float("nan")
NO_NUMBERS: tuple[Any, ...] = ("", "many", "1e", "0x10", b"1", [], {}, ..., True, "1,5")
NO_WHOLE = (*NO_NUMBERS, -1, "-1", 1.5, "1.5", NAN, "nan", INF, "inf", 10**30, "9" * 5000)
NO_SECONDS = (*NO_NUMBERS, -1, "-0.5", NAN, "nan", INF, "-inf", 10**30, "1e300")
NO_SWITCHES: tuple[Any, ...] = ("maybe", "2", 2, -1, NAN, "truthy", "", b"1", [], ...)
NO_PLACES: tuple[Any, ...] = (5, 1.5, True, b"x", [], {}, ..., " ", "a\0b")
UNUSABLE: dict[str, tuple[Any, ...]] = {
    "store": (
        *NO_PLACES,
        *(
            "http://h/x",
            "https://h",
            "mysql://h/x",
            "postgresql:/h/d",
            "postgresql://h:port/d",
            "sqlite://x",
            "sqlite:x",
        ),
        *("jdbc:postgresql://h/d", "file:///x", "s3a://b/x", "postgresql+nonsense://h/d", "x://h"),
    ),
    "events": (*NO_PLACES, "http://h/x", "s3://b/x"),
    "config": (
        *NO_PLACES,
        "/",
        "/nonexistent",
        "http://h/x.yml",
        "broken.yml",
        "list.yml",
        "typo.yml",
        "nan.yml",
        "type.yml",
    ),
    "reads": NO_SWITCHES,
    "quiet": NO_SWITCHES,
    "queue": (*NO_WHOLE, 0, "0"),
    "plan_nodes": (*NO_WHOLE, 0, 2**31),
    "plan_seconds": NO_SECONDS,
    "flush_seconds": NO_SECONDS,
    "description_length": NO_WHOLE,
    "job_names": ("jar", "targets", "2", 2, True, b"target", [], ...),
    "masking_functions": (5, 1.5, True, b"x", {"a": 1}, [1], ...),
    "extensions": (5, 1.5, True, b"x", {"a": 1}, ...),
    "extensions_disabled": (5, 1.5, True, b"x", {"a": 1}, [1], ...),
    "extension_seconds": NO_SECONDS,
    "connector_seconds": NO_SECONDS,
}
CASES = [(name, value) for name, values in UNUSABLE.items() for value in values]
# In the environment an empty text is no setting, and a text is all that there is.
TEXTS = [(name, value) for name, value in CASES if isinstance(value, str) and value and "\0" not in value]


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    url = "transport: {type: http, url: "
    for name, text in {
        "broken.yml": "a: [",
        "list.yml": "- a",
        "typo.yml": url + "'htp://me:hunter2@h'}",
        "nan.yml": url + "'http://h', timeout: .nan}",
        "type.yml": "transport: {type: nonsense}",
    }.items():
        (tmp_path / name).write_text(text)
    return tmp_path


def shown(value: Any) -> str:
    return f"{value!r:.40}".encode("ascii", "replace").decode()


def test_every_setting_has_its_cases() -> None:
    assert UNUSABLE.keys() == CaptureSettings.__dataclass_fields__.keys()


@pytest.mark.parametrize(("name", "value"), CASES, ids=[f"{name}={shown(value)}" for name, value in CASES])
def test_attach_raises_with_the_name_the_value_and_what_is_allowed(name: str, value: Any) -> None:
    with pytest.raises(SettingError) as raised:
        headwater.attach(**{name: value})
    message = str(raised.value)
    assert "expected" in message or "cannot be used" in message
    assert "hunter2" not in message
    assert len(message) < 700
    assert name in message or "typo" in repr(value) or "nan.yml" in repr(value) or "type.yml" in repr(value)


@pytest.mark.parametrize("entry", [headwater.attach, headwater.detach, headwater.lineage])
@pytest.mark.parametrize("session", ["x", 5, {"spark": 1}, object(), Path("x")])
def test_what_is_no_session_is_refused_by_its_type(entry: Any, session: Any) -> None:
    with pytest.raises(SettingError, match=f"is of type {type(session).__name__}; expected a "):
        entry(session)


@pytest.mark.parametrize(("name", "value"), TEXTS, ids=[f"{name}={shown(value)}" for name, value in TEXTS])
def test_in_the_environment_its_default_is_used_and_a_line_says_so(name: str, value: str) -> None:
    settings, problems = environment_settings({f"HEADWATER_{name.upper()}": value})
    if value in {"typo.yml", "nan.yml", "type.yml"}:  # a configuration that can be read: events wait for its back end
        assert (settings.config, problems) == (value, ())
        return
    assert settings == CaptureSettings()
    assert len(problems) == 1
    assert problems[0].startswith(f"HEADWATER_{name.upper()}")
    assert problems[0].endswith("Its default is used.")


@pytest.mark.parametrize(("name", "value"), TEXTS, ids=[f"{name}={shown(value)}" for name, value in TEXTS])
def test_an_option_stops_before_the_job_begins(name: str, value: str, folder: Path) -> None:
    (folder / "job.py").write_text("raise AssertionError")
    with pytest.raises(SettingError):
        run(["job.py"], {name: value})


def test_the_value_is_shown_without_its_secrets() -> None:
    with pytest.raises(SettingError, match=r"Store 'mysql://…@h/x' cannot be used: expected a file path") as raised:
        capture_settings({"store": "mysql://me:hunter2@h/x"}, {})
    assert "store: " in str(raised.value)
    with pytest.raises(SettingError, match=r"HEADWATER_QUEUE is 'password=…; expected a whole number from 1 to"):
        capture_settings({}, {"HEADWATER_QUEUE": "password=hunter2"})


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({"queue": "7", "plan_nodes": 5, "flush_seconds": 0, "plan_seconds": "1.5"}, (7, 5, 0.0, 1.5)),
        (
            {"queue": 100_000_000, "plan_nodes": 2**31 - 1, "flush_seconds": 86_400},
            (100_000_000, 2**31 - 1, 86_400.0, 20.0),
        ),
    ],
)
def test_what_can_be_used_is(options: dict[str, Any], expected: tuple[float, ...]) -> None:
    found = capture_settings(options, {})
    assert (found.queue, found.plan_nodes, found.flush_seconds, found.plan_seconds) == expected


@pytest.mark.parametrize("store", ["x.db", "a b/x.db", "sqlite:///x.db", "~/x.db", "postgresql://h/d", Path("x.db")])
def test_places_that_can_be_used_are(store: Any) -> None:
    assert capture_settings({"store": store}, {}).store == str(store)


def test_an_empty_variable_is_none() -> None:
    empty = {f"HEADWATER_{name.upper()}": "" for name in UNUSABLE}
    assert environment_settings(empty) == (CaptureSettings(), ())


@pytest.mark.parametrize("name", ["QEUE", "STORES", "FLUSH_SECOND", "MASKING_FUNCTION", "EXTENSION_DISABLED"])
def test_a_variable_with_a_typo_is_named_in_one_line(name: str) -> None:
    settings, (problem,) = environment_settings({f"HEADWATER_{name}": "password=hunter2"})
    assert settings == CaptureSettings()
    assert problem.startswith(f"HEADWATER_{name} is no setting that headwater knows; did you mean HEADWATER_")
    assert "hunter2" not in problem


def test_variables_of_others_are_no_typos() -> None:
    files = [*Path(headwater.__file__).parent.rglob("*.py"), *(Path(__file__).parents[2] / "docs").glob("*.md")]
    text = "".join(path.read_text(encoding="utf-8") for path in files)
    settings = {f"HEADWATER_{name.upper()}" for name in UNUSABLE}
    names = {*re.findall(r"HEADWATER_[A-Z_]+", text), *(one.variable for one in SETTINGS)}
    names -= {*settings, "HEADWATER_QEUE"}  # the example of a typo
    assert {"HEADWATER_STRICT", "HEADWATER_EVENTS_LIMIT"} <= names
    assert environment_settings(dict.fromkeys(names, "x")) == (CaptureSettings(), ())


@pytest.mark.parametrize("store", ["http://me:hunter2@h/x", "mysql://h/x", "postgresql:/h"])
def test_the_command_line_says_it_in_one_line(jobs: Jobs, store: str) -> None:
    jobs.write("print('ran')\n")
    before = sorted(jobs.folder.iterdir())
    for command in (["roots", "a.b"], ["datasets"], ["run", "job.py"]):
        ended = CliRunner().invoke(app, [command[0], "--store", store, *command[1:]])
        assert (ended.exit_code, ended.stdout) == (1, "")
        assert "Error: " in ended.stderr
        assert "cannot be used: expected a file path" in ended.stderr
        assert len(ended.stderr.splitlines()) == 1
        assert "hunter2" not in ended.stderr
    assert sorted(jobs.folder.iterdir()) == before


@pytest.mark.spark
def test_the_job_of_a_bad_environment_runs_watched_with_the_defaults(jobs: Jobs) -> None:
    jobs.write(SPARK + "items.write.parquet('out')\nprint('ran')\n")
    environment = {
        "HEADWATER_EVENTS": "",
        "HEADWATER_QUEUE": "-1",
        "HEADWATER_FLUSH_SECONDS": "nan",
        "HEADWATER_STORE": "http://me:hunter2@h/x",
        "OPENLINEAGE_URL": "htp://me:hunter2@h",
    }
    ended = jobs.watched("job.py", environment=environment)
    assert (ended.code, ended.out) == (0, "ran\n"), ended.err
    lines = ended.err.splitlines()
    for begin in (
        "HEADWATER_QUEUE is '-1'; expected",
        "HEADWATER_FLUSH_SECONDS is 'nan'; expected",
        "HEADWATER_STORE: Store",
    ):
        assert len([line for line in lines if begin in line]) == 1, ended.err
    assert len([line for line in lines if "its URL is 'htp://…@h'" in line]) == 1, ended.err
    assert "4 events wait in" in ended.err
    assert "hunter2" not in ended.err
    assert len(list(jobs.folder.rglob("spool/http.*.ndjson"))) == 1
