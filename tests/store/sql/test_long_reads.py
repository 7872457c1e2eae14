"""A question that takes too long is ended by the database itself, of either kind; what writes is not."""

from contextlib import ExitStack

import pytest
from sqlalchemy import text

from headwater.errors import StoreUnavailable
from headwater.store import Store

COUNTED = "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < {most}) SELECT count(*) FROM n"
FOR_EVER = text(COUNTED.format(most=10**15))


def test_a_question_without_end_is_ended_and_others_go_on(store: Store) -> None:
    store.end_reads_after(0.3)
    for _ in range(16):  # more than there are connections
        with pytest.raises(StoreUnavailable, match="longer than reading may"), store.read() as connection:
            connection.execute(FOR_EVER)
    store.end_reads_after(60)
    with store.read() as connection:
        assert connection.execute(text(COUNTED.format(most=10))).scalar_one() == 10


def test_what_writes_may_take_longer(store: Store) -> None:
    store.end_reads_after(0.3)
    with pytest.raises(StoreUnavailable), store.read() as connection:
        connection.execute(FOR_EVER)
    with store.write() as connection:
        assert connection.execute(text(COUNTED.format(most=3 * 10**6))).scalar_one() == 3 * 10**6


def test_readers_however_many_keep_nobody_from_writing(store: Store) -> None:
    with ExitStack() as reading:
        for _ in range(15):  # as many as there are connections
            reading.enter_context(store.read()).execute(text("SELECT 1"))
        with store.write() as connection:
            assert connection.execute(text("SELECT 1")).scalar_one() == 1
