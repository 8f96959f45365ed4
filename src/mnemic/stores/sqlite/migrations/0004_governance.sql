-- What governs memories: marks, what waits for review, how much is held.

-- Small texts by name: consents, tombstones, readings of the clock. None holds content of memories.
CREATE TABLE mark (
    tenant TEXT NOT NULL,
    name   TEXT NOT NULL,
    value  TEXT NOT NULL,
    PRIMARY KEY (tenant, name)
) STRICT, WITHOUT ROWID;

-- The review queue of a tenant.
CREATE INDEX memory_pending ON memory (tenant, memory_id) WHERE status = 'pending_review';

-- How many memories of each kind a scope holds, and the bytes of their bodies: kept by triggers, so that a quota costs no count.
CREATE TABLE usage (
    tenant   TEXT NOT NULL,
    scope_id INTEGER NOT NULL,
    kind     TEXT NOT NULL,
    rows     INTEGER NOT NULL,
    bytes    INTEGER NOT NULL,
    PRIMARY KEY (tenant, scope_id, kind)
) STRICT, WITHOUT ROWID;

INSERT INTO usage SELECT tenant, scope_id, kind, count(*), sum(octet_length(body)) FROM memory GROUP BY 1, 2, 3;

CREATE TRIGGER usage_grows AFTER INSERT ON memory
BEGIN
    INSERT INTO usage VALUES (NEW.tenant, NEW.scope_id, NEW.kind, 1, octet_length(NEW.body))
    ON CONFLICT DO UPDATE SET rows = rows + 1, bytes = bytes + excluded.bytes;
END;

CREATE TRIGGER usage_shrinks AFTER DELETE ON memory
BEGIN
    UPDATE usage SET rows = rows - 1, bytes = bytes - octet_length(OLD.body)
    WHERE tenant = OLD.tenant AND scope_id = OLD.scope_id AND kind = OLD.kind;
END;

CREATE TRIGGER usage_changes AFTER UPDATE OF body, kind ON memory
BEGIN
    UPDATE usage SET rows = rows - 1, bytes = bytes - octet_length(OLD.body)
    WHERE tenant = OLD.tenant AND scope_id = OLD.scope_id AND kind = OLD.kind;
    INSERT INTO usage VALUES (NEW.tenant, NEW.scope_id, NEW.kind, 1, octet_length(NEW.body))
    ON CONFLICT DO UPDATE SET rows = rows + 1, bytes = bytes + excluded.bytes;
END;
