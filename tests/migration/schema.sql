-- index document_by_change
CREATE INDEX document_by_change ON document (tenant, updated_at);

-- index document_by_expiry
CREATE INDEX document_by_expiry ON document (tenant, expires_at) WHERE expires_at IS NOT NULL;

-- index facet_by_row
CREATE INDEX facet_by_row ON facet (row_id, facet);

-- index graph_node_by_memory
CREATE INDEX graph_node_by_memory ON graph_node (tenant, memory_id);

-- index graph_relation_backwards
CREATE INDEX graph_relation_backwards ON graph_relation (tenant, level, owner, target, valid_from, valid_to, source);

-- index graph_relation_by_memory
CREATE INDEX graph_relation_by_memory ON graph_relation (tenant, memory_id);

-- index memory_by_age
CREATE INDEX memory_by_age ON memory (scope_id, memory_id);

-- index memory_by_change
CREATE INDEX memory_by_change ON memory (scope_id, changed);

-- index memory_by_fingerprint
CREATE UNIQUE INDEX memory_by_fingerprint ON memory (tenant, scope_id, fingerprint)
    WHERE status = 'active' AND fingerprint <> '';

-- index memory_by_id
CREATE UNIQUE INDEX memory_by_id ON memory (tenant, memory_id);

-- index memory_by_key
CREATE INDEX memory_by_key ON memory (tenant, scope_id, key) WHERE status = 'active' AND key IS NOT NULL;

-- index memory_by_turn
CREATE INDEX memory_by_turn ON memory (scope_id, session, turn) WHERE turn IS NOT NULL;

-- index memory_pending
CREATE INDEX memory_pending ON memory (tenant, memory_id) WHERE status = 'pending_review';

-- table audit
CREATE TABLE audit (
    tenant   TEXT NOT NULL,
    sequence INTEGER NOT NULL CHECK (sequence >= 1),
    event    TEXT NOT NULL,
    hash     TEXT NOT NULL,
    PRIMARY KEY (tenant, sequence)
) STRICT, WITHOUT ROWID;

-- table document
CREATE TABLE document (
    row_id     INTEGER PRIMARY KEY,
    tenant     TEXT NOT NULL,
    path       TEXT NOT NULL,
    key        TEXT NOT NULL,
    value      TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL,
    ttl        INTEGER,
    expires_at INTEGER,
    UNIQUE (tenant, path, key)
) STRICT;

-- table document_vector
CREATE TABLE document_vector (
    row_id INTEGER NOT NULL REFERENCES document (row_id) ON DELETE CASCADE,
    place  INTEGER NOT NULL,
    vector BLOB NOT NULL,
    PRIMARY KEY (row_id, place)
) STRICT, WITHOUT ROWID;

-- table facet
CREATE TABLE facet (
    scope_id  INTEGER NOT NULL,
    facet     INTEGER NOT NULL,
    memory_id TEXT NOT NULL,
    row_id    INTEGER NOT NULL REFERENCES memory (row_id) ON DELETE CASCADE,
    PRIMARY KEY (scope_id, facet, memory_id)
) STRICT, WITHOUT ROWID;

-- table graph_node
CREATE TABLE graph_node (
    tenant    TEXT NOT NULL,
    level     TEXT NOT NULL,
    owner     TEXT NOT NULL,
    node      TEXT NOT NULL,
    memory_id TEXT NOT NULL,
    label     TEXT NOT NULL,
    names     TEXT NOT NULL,
    seen_at   INTEGER NOT NULL,
    PRIMARY KEY (tenant, level, owner, node, memory_id)
) STRICT, WITHOUT ROWID;

-- table graph_relation
CREATE TABLE graph_relation (
    tenant     TEXT NOT NULL,
    level      TEXT NOT NULL,
    owner      TEXT NOT NULL,
    source     TEXT NOT NULL,
    relation   TEXT NOT NULL,
    target     TEXT NOT NULL,
    memory_id  TEXT NOT NULL,
    valid_from INTEGER,
    valid_to   INTEGER,
    PRIMARY KEY (tenant, level, owner, source, relation, target, memory_id)
) STRICT, WITHOUT ROWID;

-- table mark
CREATE TABLE mark (
    tenant   TEXT NOT NULL,
    name     TEXT NOT NULL,
    value    TEXT NOT NULL,
    checksum INTEGER NOT NULL,
    PRIMARY KEY (tenant, name)
) STRICT, WITHOUT ROWID;

-- table memory
CREATE TABLE memory (
    row_id      INTEGER PRIMARY KEY,
    tenant      TEXT NOT NULL,
    scope_id    INTEGER NOT NULL REFERENCES scope (scope_id),
    memory_id   TEXT NOT NULL,
    version     INTEGER NOT NULL CHECK (version >= 1),
    changed     INTEGER NOT NULL,
    kind        TEXT NOT NULL,
    status      TEXT NOT NULL,
    key         TEXT,
    category    TEXT,
    fingerprint TEXT NOT NULL,
    happened_at INTEGER NOT NULL,
    began_at    INTEGER NOT NULL,
    ended_at    INTEGER,
    expires_at  INTEGER,
    session     TEXT,
    turn        INTEGER,
    body        TEXT NOT NULL,
    checksum    INTEGER NOT NULL,
    CHECK (row_id >> 32 = scope_id)
) STRICT;

-- table memory_search
CREATE TABLE memory_search (
    row_id            INTEGER PRIMARY KEY REFERENCES memory (row_id) ON DELETE CASCADE,
    vector            BLOB,
    content           BLOB NOT NULL,
    context           BLOB NOT NULL,
    speaker           TEXT,
    cues              BLOB NOT NULL,
    next_vector       BLOB,
    vector_check      INTEGER,
    words_check       INTEGER NOT NULL,
    next_vector_check INTEGER
) STRICT;

-- table memory_version
CREATE TABLE memory_version (
    tenant    TEXT NOT NULL,
    memory_id TEXT NOT NULL,
    version   INTEGER NOT NULL,
    body      TEXT NOT NULL,
    checksum  INTEGER NOT NULL,
    PRIMARY KEY (tenant, memory_id, version),
    FOREIGN KEY (tenant, memory_id) REFERENCES memory (tenant, memory_id) ON DELETE CASCADE
) STRICT, WITHOUT ROWID;

-- table meta
CREATE TABLE meta (
    name  TEXT PRIMARY KEY,
    value ANY NOT NULL
) STRICT, WITHOUT ROWID;

-- table next_space
CREATE TABLE next_space (
    only      INTEGER PRIMARY KEY CHECK (only = 1),
    model     TEXT NOT NULL,
    dimension INTEGER NOT NULL CHECK (dimension > 0)
) STRICT;

-- table outbox
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

-- table projection
CREATE TABLE projection (
    name TEXT PRIMARY KEY
) STRICT, WITHOUT ROWID;

-- table request
CREATE TABLE request (
    tenant          TEXT NOT NULL,
    idempotency_key TEXT NOT NULL,
    digest          TEXT NOT NULL,
    receipt         TEXT NOT NULL,
    at              INTEGER NOT NULL,
    checksum        INTEGER NOT NULL,
    PRIMARY KEY (tenant, idempotency_key)
) STRICT, WITHOUT ROWID;

-- table scope
CREATE TABLE scope (
    scope_id   INTEGER PRIMARY KEY CHECK (scope_id < 1 << 31),
    tenant     TEXT NOT NULL,
    level      TEXT NOT NULL,
    owner      TEXT NOT NULL,
    changes    INTEGER NOT NULL DEFAULT 0 CHECK (changes < 1 << 32),
    removed_at INTEGER NOT NULL DEFAULT 0,
    UNIQUE (tenant, level, owner)
) STRICT;

-- table space
CREATE TABLE space (
    only      INTEGER PRIMARY KEY CHECK (only = 1),
    model     TEXT NOT NULL,
    dimension INTEGER NOT NULL CHECK (dimension > 0)
) STRICT;

-- table tenant
CREATE TABLE tenant (
    tenant   TEXT PRIMARY KEY,
    secret   BLOB NOT NULL CHECK (length(secret) = 32),
    checksum INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- table tenant_usage
CREATE TABLE tenant_usage (
    tenant TEXT NOT NULL,
    kind   TEXT NOT NULL,
    rows   INTEGER NOT NULL,
    bytes  INTEGER NOT NULL,
    PRIMARY KEY (tenant, kind)
) STRICT, WITHOUT ROWID;

-- table usage
CREATE TABLE usage (
    tenant   TEXT NOT NULL,
    scope_id INTEGER NOT NULL,
    kind     TEXT NOT NULL,
    rows     INTEGER NOT NULL,
    bytes    INTEGER NOT NULL,
    PRIMARY KEY (tenant, scope_id, kind)
) STRICT, WITHOUT ROWID;

-- trigger audit_is_never_changed
CREATE TRIGGER audit_is_never_changed BEFORE UPDATE ON audit
BEGIN
    SELECT RAISE(ABORT, 'the audit is append-only');
END;

-- trigger audit_is_never_shortened
CREATE TRIGGER audit_is_never_shortened BEFORE DELETE ON audit
BEGIN
    SELECT RAISE(ABORT, 'the audit is append-only');
END;

-- trigger graph_forgets
CREATE TRIGGER graph_forgets AFTER DELETE ON memory
BEGIN
    DELETE FROM graph_relation WHERE tenant = OLD.tenant AND memory_id = OLD.memory_id;
    DELETE FROM graph_node WHERE tenant = OLD.tenant AND memory_id = OLD.memory_id;
END;

-- trigger tenant_usage_changes
CREATE TRIGGER tenant_usage_changes AFTER UPDATE OF rows, bytes ON usage
BEGIN
    UPDATE tenant_usage SET rows = rows + NEW.rows - OLD.rows, bytes = bytes + NEW.bytes - OLD.bytes
    WHERE tenant = NEW.tenant AND kind = NEW.kind;
END;

-- trigger tenant_usage_grows
CREATE TRIGGER tenant_usage_grows AFTER INSERT ON usage
BEGIN
    INSERT INTO tenant_usage VALUES (NEW.tenant, NEW.kind, NEW.rows, NEW.bytes)
    ON CONFLICT DO UPDATE SET rows = rows + excluded.rows, bytes = bytes + excluded.bytes;
END;

-- trigger usage_changes
CREATE TRIGGER usage_changes AFTER UPDATE OF body, kind ON memory
BEGIN
    UPDATE usage SET rows = rows - 1, bytes = bytes - octet_length(OLD.body)
    WHERE tenant = OLD.tenant AND scope_id = OLD.scope_id AND kind = OLD.kind;
    INSERT INTO usage VALUES (NEW.tenant, NEW.scope_id, NEW.kind, 1, octet_length(NEW.body))
    ON CONFLICT DO UPDATE SET rows = rows + 1, bytes = bytes + excluded.bytes;
END;

-- trigger usage_grows
CREATE TRIGGER usage_grows AFTER INSERT ON memory
BEGIN
    INSERT INTO usage VALUES (NEW.tenant, NEW.scope_id, NEW.kind, 1, octet_length(NEW.body))
    ON CONFLICT DO UPDATE SET rows = rows + 1, bytes = bytes + excluded.bytes;
END;

-- trigger usage_shrinks
CREATE TRIGGER usage_shrinks AFTER DELETE ON memory
BEGIN
    UPDATE usage SET rows = rows - 1, bytes = bytes - octet_length(OLD.body)
    WHERE tenant = OLD.tenant AND scope_id = OLD.scope_id AND kind = OLD.kind;
END;

