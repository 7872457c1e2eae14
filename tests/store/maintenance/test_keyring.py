"""API keys: recognized by their whole token, until they are revoked or expire."""

import pytest

from headwater.errors import SettingError, UnknownName
from headwater.store import Store
from headwater.store.maintenance.keyring import issue, issued, recognized, revoke


def test_a_key_is_recognized_by_its_token_only(store: Store) -> None:
    key, token = issue(store, "etl", "write", ["s3://sales-*", "hive"])
    other, another = issue(store, "ui", "read")
    assert recognized(store, token) == key
    assert recognized(store, another) == other
    swapped = f"hw_{key.id}_{another.rpartition('_')[2]}"
    unknown = f"hw_{'0' * 12}_{token.rpartition('_')[2]}"
    for wrong in (swapped, unknown, token[:-1], token.upper(), f"{token} ", "", "hw_", "x' OR 1=1"):
        assert recognized(store, wrong) is None


def test_of_the_secret_only_a_digest_is_stored(store: Store) -> None:
    _, token = issue(store, "etl", "write")
    with store.read() as connection:
        rows = str(connection.exec_driver_sql("SELECT * FROM api_key").all())
    assert token.rpartition("_")[2] not in rows


def test_keys_end(store: Store) -> None:
    key, token = issue(store, "etl", "admin")
    _, expired = issue(store, "old", "read", seconds=-1)
    _, fresh = issue(store, "new", "read", seconds=60)
    assert recognized(store, expired) is None
    assert recognized(store, fresh) is not None
    ended = revoke(store, key.id)
    assert ended.revoked_at is not None
    assert recognized(store, token) is None
    assert revoke(store, key.id) == ended
    assert [one.name for one in issued(store)] == ["etl", "old", "new"]
    with pytest.raises(UnknownName, match="headwater keys list"):
        revoke(store, "nosuch")


@pytest.mark.parametrize(("name", "scope", "namespaces"), [("", "read", ["*"]), ("a", "all", ["*"]), ("a", "read", [])])
def test_a_key_that_makes_no_sense_is_refused(store: Store, name: str, scope: str, namespaces: list[str]) -> None:
    with pytest.raises(SettingError, match="expected a name, one of read, write, admin"):
        issue(store, name, scope, namespaces)
