"""What the tables share."""

from sqlalchemy import BigInteger, Index, Integer, MetaData, text

REVISIONS = ("r0001",)
"""Every schema revision that this version can read, oldest first."""

UNRELEASED = tuple(f"{number:04}" for number in range(1, 20))
"""The revisions of before the first one, whose stores are refused."""

VERSION_TABLE = "headwater_version"
ID = BigInteger().with_variant(Integer(), "sqlite")

metadata = MetaData()


def of_the_few(name: str, column: str) -> Index:
    """An index of the rows that have a value in a column that hardly any row has one in.

    Of one that holds all the NULLs too, a planner that has counted says that it tells nothing apart, and reads the
    table.
    """
    there = text(f"{column} IS NOT NULL")
    return Index(name, column, sqlite_where=there, postgresql_where=there)
