"""Streaming queries on a running Spark: one run each, from the sources to the sink."""

from collections.abc import Callable

import pytest

from ..sources.case_file import SourceCase
from ..sources.watched import Application
from .conftest import CASES


@pytest.mark.spark
@pytest.mark.parametrize("case", CASES, ids=str)
def test_the_events_of_a_query_name_its_datasets_and_edges(
    case: SourceCase, streaming: Callable[[str], Application]
) -> None:
    assert streaming(case.application).event_text(case) == case.expected
