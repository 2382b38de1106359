"""One SQLite file a run: an append-only, hash-chained log in which a batch is one transaction."""
