-- What is committed together with a memory: the audit, the outbox and the receipts of requests.

-- Append-only, chained by hash within the tenant. `event` is canonical JSON and holds no content of memories.
CREATE TABLE audit (
    tenant   TEXT NOT NULL,
    sequence INTEGER NOT NULL CHECK (sequence >= 1),
    event    TEXT NOT NULL,
    hash     TEXT NOT NULL,
    PRIMARY KEY (tenant, sequence)
) STRICT, WITHOUT ROWID;

CREATE TRIGGER audit_is_never_changed BEFORE UPDATE ON audit
BEGIN
    SELECT RAISE(ABORT, 'the audit is append-only');
END;

CREATE TRIGGER audit_is_never_shortened BEFORE DELETE ON audit
BEGIN
    SELECT RAISE(ABORT, 'the audit is append-only');
END;

CREATE TABLE outbox (
    sequence  INTEGER PRIMARY KEY AUTOINCREMENT,
    tenant    TEXT NOT NULL,
    action    TEXT NOT NULL CHECK (action IN ('upsert', 'remove')),
    memory_id TEXT NOT NULL,
    version   INTEGER NOT NULL
) STRICT;

CREATE TABLE request (
    tenant          TEXT NOT NULL,
    idempotency_key TEXT NOT NULL,
    digest          TEXT NOT NULL,
    receipt         TEXT NOT NULL,
    at              INTEGER NOT NULL,
    PRIMARY KEY (tenant, idempotency_key)
) STRICT, WITHOUT ROWID;
