"""What the tables share."""

from sqlalchemy import BigInteger, Integer, MetaData

REVISIONS = ("0001", "0002", "0003", "0004", "0005", "0006", "0007")
"""Every schema revision this version can read, oldest first."""

VERSION_TABLE = "headwater_version"
ID = BigInteger().with_variant(Integer(), "sqlite")

FOREVER = 2**63 - 1
BEGINNING = -FOREVER

metadata = MetaData()
