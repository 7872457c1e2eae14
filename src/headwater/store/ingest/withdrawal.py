"""Taking lineage back, to be told again by its runs."""

from collections.abc import Iterable

from sqlalchemy import delete, select

from headwater.store import schema
from headwater.store.graph.index.log import Pair, note
from headwater.store.graph.timeline import Scope
from headwater.store.ingest.ids import Writer


def withdraw(writer: Writer, pairs: Iterable[Pair]) -> None:
    """Forgets the lineage of (job, output) pairs; the runs that told it become unsettled and tell it again."""
    lineage = schema.lineage
    for job, output in pairs:
        mine = (lineage.c.job_id == job, lineage.c.output_id == output)
        writer.unsettled.update(writer.connection.execute(select(lineage.c.run_id).where(*mine)).scalars())
        writer.connection.execute(delete(lineage).where(*mine))
        Scope(writer.connection, job, output).clear()
        note(writer.connection, [(job, output)])
