"""Every built-in source and sink, live: what the datasets are called and where their columns come from."""

from collections.abc import Callable

import pytest

from .case_file import SourceCase
from .watched import Application


@pytest.mark.spark
def test_the_events_name_the_datasets_and_their_edges(
    source_case: SourceCase, application: Callable[[str], Application]
) -> None:
    assert application(source_case.application).event_text(source_case) == source_case.expected
