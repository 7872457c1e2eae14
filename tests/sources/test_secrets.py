"""Secrets of a job are in nothing that headwater writes."""

import json
from collections.abc import Callable

import pytest

from .postgres import PASSWORD
from .watched import EVENTS, Application


@pytest.mark.spark
def test_no_event_and_no_line_of_the_log_has_the_password(application: Callable[[str], Application]) -> None:
    watched = application("connectors")
    assert PASSWORD not in (watched.folder / EVENTS).read_text()
    assert [line for line in watched.printed.splitlines() if PASSWORD in line and "headwater" in line.lower()] == []


@pytest.mark.spark
def test_the_statement_is_sent_with_its_quoted_literals_masked(application: Callable[[str], Application]) -> None:
    statements = [event["job"]["facets"].get("sql", {}).get("query", "") for event in application("connectors").events]
    made = [text for text in statements if "password" in text]
    assert made
    assert all("password '…'" in text and "sales.made" not in text for text in made), json.dumps(made)
