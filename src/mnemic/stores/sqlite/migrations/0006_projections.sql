-- The outbox feeds several projections, each at its own pace: an entry stays until every registered one has taken it.

CREATE TABLE projection (
    name TEXT PRIMARY KEY
) STRICT, WITHOUT ROWID;

-- Nothing has read the entries up to here, and they do not say where their memories lie.
DROP TABLE outbox;

CREATE TABLE outbox (
    sequence  INTEGER PRIMARY KEY AUTOINCREMENT,
    tenant    TEXT NOT NULL,
    level     TEXT NOT NULL,
    owner     TEXT NOT NULL,
    action    TEXT NOT NULL CHECK (action IN ('upsert', 'remove')),
    memory_id TEXT NOT NULL,
    version   INTEGER NOT NULL,
    taken     TEXT NOT NULL DEFAULT '[]'  -- JSON: the projections that have it
) STRICT;
