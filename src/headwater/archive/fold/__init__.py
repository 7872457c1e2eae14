"""Events folded into the tables of lineage, by the rules of `headwater.store.ingest`."""
