"""The metadata and naming rules that all tables share."""

from sqlalchemy import Index, MetaData

from headwater.store.sql.databases import ID, where

__all__ = ["ID", "REVISIONS", "UNRELEASED", "VERSION_TABLE", "metadata", "of_the_few"]

REVISIONS = ("r0001",)
"""Every schema revision that this version can read, oldest first."""

UNRELEASED = tuple(f"{number:04}" for number in range(1, 20))
"""The revisions of before the first one, whose stores are refused."""

VERSION_TABLE = "headwater_version"

metadata = MetaData()


def of_the_few(name: str, column: str) -> Index:
    """An index of the rows that have a value in a column that hardly any row has one in.

    Of one that holds all the NULLs too, a planner that has counted finds that it selects nothing, and reads the
    table.
    """
    return Index(name, column, **where(f"{column} IS NOT NULL"))
