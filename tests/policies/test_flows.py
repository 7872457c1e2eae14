"""Tags flow over edges that carry the value, and over nothing else; each arrival has the path that proves it."""

import json
from datetime import date
from pathlib import Path

import pytest
from tests.policies.conftest import Run
from tests.store.conftest import run_event, written

from headwater.policies.assignments import add_tag
from headwater.policies.flows import Flows
from headwater.policies.masking import HIDING, covers
from headwater.policies.tag_file import TagFile, read_tag_file, tag_name
from headwater.store import Store
from headwater.store.questions.walk.tag_walk import Arriving

EVERY = tuple(Arriving)


def file_of(folder: Path, text: str) -> TagFile:
    path = folder / "tags.yml"
    path.write_text(f"version: 1\n{text}")
    return read_tag_file(path, "tags.yml")


def arrivals(store: Store, tag: str, file: TagFile | None = None, **options: object) -> set[str]:
    """``"value reports/daily.domain"`` for each arrival of a tag."""
    with store.read() as connection:
        flows = Flows(connection, file or TagFile(), date(2026, 6, 1), **options)  # type: ignore[arg-type]
        return {f"{one.arriving.value} {short(one.column)}" for one in flows.paths(tag_name(tag), EVERY)}


def short(column: object) -> str:
    return str(column).removeprefix("file:/")


@pytest.fixture
def tagged(store: Store) -> Store:
    """The store with a tag on the landed addresses."""
    add_tag(store, "landing/people.mail", tag_name("pii.email"))
    return store


VALUES = {"value lake/customers.email", "value lake/contacts.domain", "value reports/daily.domain"}
COUNT = {"value lake/contacts.n"}
MASKED = {"masked lake/contacts.who", "masked reports/daily.who"}


def test_a_tag_arrives_by_value_or_masked_and_never_stops_at_a_count(tagged: Store) -> None:
    assert arrivals(tagged, "pii.email") == VALUES | COUNT | MASKED


def test_a_tag_flows_the_same_with_edges_in_memory(tagged: Store) -> None:
    index = tagged.keep_edges()
    index.wait()
    with tagged.read() as connection:
        assert index.at(connection) is not None
    assert arrivals(tagged, "pii.email", guess=False) == VALUES | COUNT | MASKED


def test_influence_is_followed_on_request_and_shown_apart(store: Store) -> None:
    add_tag(store, "landing/people.city", tag_name("pii.place"))
    assert arrivals(store, "pii.place") == {"value lake/customers.city"}
    own = {f"influence lake/contacts.{name}" for name in ("who", "domain", "n")}
    reports = {f"influence reports/daily.{name}" for name in ("who", "domain")}
    assert arrivals(store, "pii.place", influence=True) == {"value lake/customers.city"} | own | reports


BREAKER = "reason: reviewed, owner: dpo@example.org, expires: 2026-12-31}\n"


@pytest.mark.parametrize(
    ("breaker", "gone"),
    [
        ("job: report", {"value reports/daily.domain", "masked reports/daily.who"}),
        ("column: contacts.domain", {"value lake/contacts.domain", "value reports/daily.domain"}),
        ("function: count", COUNT),
        ("column: nowhere.at_all", set()),
        ("job: report, tags: [phi.*]", set()),
        ("job: report, tags: [pii.*]", {"value reports/daily.domain", "masked reports/daily.who"}),
    ],
)
def test_a_breaker_cuts_what_it_names_and_nothing_else(
    tagged: Store, tmp_path: Path, breaker: str, gone: set[str]
) -> None:
    file = file_of(tmp_path, f"breakers:\n  - {{{breaker}, {BREAKER}")
    assert (VALUES | COUNT | MASKED) - arrivals(tagged, "pii.email", file) == gone


def test_a_breaker_holds_until_it_expires(tagged: Store, tmp_path: Path) -> None:
    file = file_of(tmp_path, f"breakers:\n  - {{job: report, {BREAKER.replace('2026-12-31', '2026-05-31')}")
    assert arrivals(tagged, "pii.email", file) == VALUES | COUNT | MASKED


def test_what_is_masked_has_another_tag_where_the_file_declares_one(tagged: Store, tmp_path: Path) -> None:
    file = file_of(tmp_path, "tags:\n  pii.email: {masked_as: pii.pseudonym}\n")
    assert arrivals(tagged, "pii.pseudonym", file) == set()  # it begins where it is made
    with tagged.read() as connection:
        flows = Flows(connection, file)
        starts = flows.of(tag_name("pii.pseudonym")).arrived[Arriving.VALUE].now
        assert {short(flows.every.fields[node][1]) for node in starts} == {"who"}
        assert len(starts) == 2


def test_of_two_values_the_stricter_arrives_where_both_do(store: Store, tmp_path: Path) -> None:
    add_tag(store, "landing/people.mail", tag_name("level=low"))
    add_tag(store, "lake/customers.email", tag_name("level=high"))
    file = file_of(tmp_path, "order: {level: [high, low]}\n")
    assert arrivals(store, "level=low", file) == set()
    assert "value reports/daily.domain" in arrivals(store, "level=high", file)
    assert "value reports/daily.domain" in arrivals(store, "level=low")  # no order: both arrive


def test_a_tag_on_a_dataset_is_on_each_of_its_columns(store: Store) -> None:
    add_tag(store, "landing/people", tag_name("pii"))
    assert arrivals(store, "pii") >= {"value lake/customers.id", "value lake/customers.city"}


def test_a_tag_flows_through_cycles_and_ends(store: Store) -> None:
    store.ingest(
        [
            run_event("there", written("b", {"x": ["a.x"]})),
            run_event("back", written("a", {"x": ["b.x"], "y": ["b.x"]}), minute=1),
        ]
    )
    add_tag(store, "file:/a.x", tag_name("round"))
    assert arrivals(store, "round") == {"value b.x", "value a.y"}


def opaque(store: Store, masking: bool) -> None:
    event = run_event("model", written("scores", {"s": ["lake/customers.email TRANSFORMATION"]}), minute=3)
    transformation = event["outputs"][0]["facets"]["columnLineage"]["fields"]["s"]["inputFields"][0]["transformations"][
        0
    ]
    transformation |= {"opaque": True, "masking": masking}
    store.ingest([event])


@pytest.mark.parametrize("masking", [False, True])
def test_an_opaque_step_lets_the_value_through_whatever_it_says(tagged: Store, masking: bool) -> None:
    opaque(tagged, masking)
    assert "value scores.s" in arrivals(tagged, "pii.email")


def test_a_run_without_columns_lets_the_value_into_all_of_its_outputs(tagged: Store) -> None:
    tagged.ingest([run_event("copy", written("raw/copy"), inputs=["lake/customers"], minute=3)])
    output = written("later", {"z": ["raw/copy.anything"]})
    tagged.ingest([run_event("next", output, minute=4)])
    assert {"value raw/copy.anything", "value later.z"} <= arrivals(tagged, "pii.email")
    assert arrivals(tagged, "pii.email", guess=False) == VALUES | COUNT | MASKED


def test_a_tag_flows_through_a_stage_that_is_emptied_after_it_was_read(tagged: Store) -> None:
    truncated = written("stage", write="TRUNCATE")
    tagged.ingest(
        [
            run_event("fill", written("stage", {"e": ["lake/customers.email"]}, write="ALL_ROWS"), minute=10),
            run_event("use", written("mart", {"e": ["stage.e"]}, write="ALL_ROWS"), minute=11),
            run_event("empty", truncated, minute=12),
        ]
    )
    found = arrivals(tagged, "pii.email")
    assert "value mart.e" in found
    assert "value stage.e" not in found  # nothing is in it any more


def test_a_tag_flows_only_to_those_who_read_a_stage_while_it_was_there(tagged: Store) -> None:
    tagged.ingest(
        [
            run_event("fill", written("stage", {"e": ["shop.name"]}, write="ALL_ROWS"), minute=10),
            run_event("names", written("names", {"e": ["stage.e"]}, write="ALL_ROWS"), minute=11),
            run_event("refill", written("stage", {"e": ["lake/customers.email"]}, write="ALL_ROWS"), minute=12),
            run_event("use", written("mart", {"e": ["stage.e"]}, write="ALL_ROWS"), minute=13),
            run_event("empty", written("stage", write="TRUNCATE"), minute=14),
        ]
    )
    found = arrivals(tagged, "pii.email")
    assert "value mart.e" in found
    assert "value names.e" not in found


def test_influence_is_followed_through_a_stage_that_is_emptied_after_it_was_read(tagged: Store) -> None:
    tagged.ingest(
        [
            run_event("pick", written("picked", {"*": ["lake/customers.email FILTER"], "n": ["shop.n"]}), minute=9),
            run_event("fill", written("stage", {"n": ["picked.n"]}, write="ALL_ROWS"), minute=10),
            run_event("use", written("mart", {"n": ["stage.n"]}, write="ALL_ROWS"), minute=11),
            run_event("empty", written("stage", write="TRUNCATE"), minute=12),
        ]
    )
    assert "influence mart.n" in arrivals(tagged, "pii.email", influence=True)


def test_the_path_of_an_arrival_names_each_step(tagged: Store) -> None:
    with tagged.read() as connection:
        paths = Flows(connection).paths(tag_name("pii.email"), [Arriving.VALUE])
        (path,) = [one for one in paths if short(one.column) == "reports/daily.domain"]
    assert [(short(hop.input), hop.job.name) for hop in path.steps] == [
        ("landing/people.mail", "load"),
        ("lake/customers.email", "clean"),
        ("lake/contacts.domain", "report"),
    ]


def test_the_command_shows_arrivals_with_paths_and_breakers_that_cut_nothing(headwater: Run, tmp_path: Path) -> None:
    headwater("tag", "add", "landing/people.mail", "pii.email")
    (tmp_path / "t.yml").write_text(f"version: 1\nbreakers:\n  - {{job: nosuch, {BREAKER.replace('2026', '2999')}")
    shown = headwater("tag", "flow", "pii.*", "--file", tmp_path / "t.yml").output
    assert "pii.email: on 1 column, arrives at 6 more" in shown
    assert "customers.email -> contacts.domain  TRANSFORMATION  by clean" in shown
    assert "t.yml:3:5: the breaker of job 'nosuch'" in shown
    found = json.loads(headwater("tag", "flow", "pii.email", "--format", "json").output)
    assert [one["arriving"] for one in found].count("masked") == 2


def test_a_tag_that_arrives_nowhere_says_so_and_an_unknown_one_is_refused(headwater: Run) -> None:
    headwater("tag", "add", "reports/daily.who", "pii.email")
    assert headwater("tag", "flow", "pii.email").output == "pii.email: on 1 column, arrives nowhere else\n"
    refused = headwater("tag", "flow", "pii.emial")
    assert (refused.exit_code, "Did you mean 'pii.email'?" in refused.output) == (1, True)


@pytest.mark.parametrize(
    ("expression", "covered"),
    [
        ("sha2(email, 256)", True),
        ("concat(substring(md5(email), 1, 4), '-')", True),
        ("concat(sha2(email, 256), phone)", False),
        ("substring(email, 1, 3)", False),
        ("'sha2(email)'", False),
        ("sha2(", False),
    ],
)
def test_a_function_masks_an_expression_when_each_column_is_inside_a_call(expression: str, covered: bool) -> None:
    assert covers(expression, HIDING) is covered
