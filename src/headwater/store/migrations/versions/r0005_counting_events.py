"""Indexes of events that have all that lists and counts need, so that no payload is passed over."""

from alembic import op

revision = "0005"
down_revision = "0004"


def upgrade() -> None:
    """Makes the two indexes anew, with more columns."""
    for name, columns in (("event_run", ["run_id", "type", "at"]), ("event_at", ["at", "id", "type", "run_id"])):
        op.drop_index(name, "event")
        op.create_index(name, "event", columns)
