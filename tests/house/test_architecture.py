"""ARCHITECTURE.md draws the rooms as they are."""

import doctest

from tests.house import rooms


def test_the_drawings_show_which_room_imports_which() -> None:
    page = rooms.PAGE.read_text()
    assert rooms.PLACE.search(page)
    assert page == rooms.drawn(page), "run `python -m tests.house.rooms`"


def test_arrows_that_a_longer_path_implies_are_left_out() -> None:
    assert doctest.testmod(rooms).failed == 0
