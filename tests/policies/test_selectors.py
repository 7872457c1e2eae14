"""Selectors of columns: fields that are looked up by the ending of their names are those among all names."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.store.conftest import new_database, postgres, renamed, run_event, url, written

from headwater.policies.selectors import Names, ending_of, pattern_of, plain
from headwater.store import open_store

__all__ = ["new_database", "postgres", "url"]  # fixtures

EVENTS = [
    run_event("load", written("lake/people", dict.fromkeys(["id", "Email", "Contact.E-Mail", "e/mail", "GRÖSSE"], ()))),
    run_event("copy", written("lake/copy", dict.fromkeys(["mail", "[x]", "`q`", "former", "a]b", "straße"], ()))),
    run_event("alter", renamed("lake/copy", "lake/copy", {"former": "work_email"}), minute=1),
]
SELECTORS = [
    "*.email", "people.E*", "*mail", "E-MAIL", "contact.e-mail", "e/mail", "mail", "copy.[[]x]", "*[x]", "q", "`q`",
    "former", "work_email", "größe", "grösse", "strasse", "a]b", "]b", "*", "lake/*.?d", "none", "",
]  # fmt: skip
TEXT = st.text("aB.é*?[]!-`/", max_size=8)


@given(TEXT, TEXT, TEXT)
def test_every_name_that_a_selector_fits_has_its_ending(selector: str, dataset: str, column: str) -> None:
    if pattern_of([selector]).fullmatch(f"{plain(dataset)}.{plain(column)}"):
        assert plain(column).endswith(ending_of(selector))


def test_fields_by_their_ending_are_those_among_all_names(url: str) -> None:
    with open_store(url) as store:
        store.ingest(EVENTS)
        with store.read() as connection:
            every = Names(connection)
            assert len(every.fields) == len(every.datasets) * 5 + 1
            for some in (*([one] for one in SELECTORS), SELECTORS[:3], ["q", "people.*"]):
                assert Names(connection).matching(some) == every.matching(some), some
            found = [every.fields[one][1] for one in Names(connection).matching(["*.email", "*mail"])]
    assert sorted(found) == ["Contact.E-Mail", "Email", "e/mail", "mail", "work_email"]


@pytest.mark.parametrize(("selector", "columns"), [("*.email", {"Email"}), ("none.email", set())])
def test_only_fields_of_the_ending_are_read(url: str, selector: str, columns: set[str]) -> None:
    with open_store(url) as store:
        store.ingest(EVENTS)
        with store.read() as connection:
            names = Names(connection)
            found = names.matching([selector])
            assert not {"fields", "datasets"} & vars(names).keys()
            assert {names.fields[one][1] for one in found} == columns
