-- The schema of the first release. Numbers below 100 belong to states of the program that were never released.
--
-- Memories, their history and their search entries.
--
-- A scope's rows lie together: row_id is the scope's number in the upper 32 bits and the scope's change count at insertion
-- in the lower. `changes` grows with every change inside the scope and stamps the row it changed, so that a process can
-- bring its search index up to date by reading only what is newer; `removed_at` is the last change that removed a row.

CREATE TABLE meta (
    name  TEXT PRIMARY KEY,
    value ANY NOT NULL
) STRICT, WITHOUT ROWID;

-- The salt of the term hashes: what stands in the search entries cannot be looked up in a list of words made for all files.
INSERT INTO meta (name, value) VALUES ('term_salt', randomblob(16));

-- The one vector space of this file.
CREATE TABLE space (
    only      INTEGER PRIMARY KEY CHECK (only = 1),
    model     TEXT NOT NULL,
    dimension INTEGER NOT NULL CHECK (dimension > 0)
) STRICT;

-- The one that is being filled beside it.
CREATE TABLE next_space (
    only      INTEGER PRIMARY KEY CHECK (only = 1),
    model     TEXT NOT NULL,
    dimension INTEGER NOT NULL CHECK (dimension > 0)
) STRICT;

CREATE TABLE tenant (
    tenant   TEXT PRIMARY KEY,
    secret   BLOB NOT NULL CHECK (length(secret) = 32),
    checksum INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE scope (
    scope_id   INTEGER PRIMARY KEY CHECK (scope_id < 1 << 31),
    tenant     TEXT NOT NULL,
    level      TEXT NOT NULL,
    owner      TEXT NOT NULL,
    changes    INTEGER NOT NULL DEFAULT 0 CHECK (changes < 1 << 32),
    removed_at INTEGER NOT NULL DEFAULT 0,
    UNIQUE (tenant, level, owner)
) STRICT;

-- The current version of every memory. `body` is the whole memory as JSON, without scope and vector; the columns repeat
-- what filters and constraints need. Times are microseconds since 1970, UTC. `began_at` is valid_from or, without it, happened_at.
-- `turn` numbers the messages of a session from 0. A checksum, here and below, is that of the values as they were written, so that
-- a changed byte is noticed before it is believed.
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

CREATE UNIQUE INDEX memory_by_id ON memory (tenant, memory_id);

-- One active memory per fingerprint and scope. The kind is not part of it: a fingerprint already tells apart what its maker
-- wants told apart. An expired memory holds its place until it is marked as expired. No fingerprint, no constraint.
CREATE UNIQUE INDEX memory_by_fingerprint ON memory (tenant, scope_id, fingerprint)
    WHERE status = 'active' AND fingerprint <> '';

CREATE INDEX memory_by_key ON memory (tenant, scope_id, key) WHERE status = 'active' AND key IS NOT NULL;
CREATE INDEX memory_by_age ON memory (scope_id, memory_id);
CREATE INDEX memory_by_turn ON memory (scope_id, session, turn) WHERE turn IS NOT NULL;
CREATE INDEX memory_by_change ON memory (scope_id, changed);
-- The review queue of a tenant.
CREATE INDEX memory_pending ON memory (tenant, memory_id) WHERE status = 'pending_review';

-- What the ranked lists need of a memory. Terms are salted 32-bit hashes, little-endian, in the order of the words, then a
-- zero, then further spellings. A vector may be packed: a zero, then two bytes for each value, in steps of 2^-15. `next_vector`
-- is of the vector space that is being filled beside the present one; the two become each other in one step, by a change of the
-- names of the columns, so no statement names the columns by their place.
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

-- Earlier versions, without their vectors.
CREATE TABLE memory_version (
    tenant    TEXT NOT NULL,
    memory_id TEXT NOT NULL,
    version   INTEGER NOT NULL,
    body      TEXT NOT NULL,
    checksum  INTEGER NOT NULL,
    PRIMARY KEY (tenant, memory_id, version),
    FOREIGN KEY (tenant, memory_id) REFERENCES memory (tenant, memory_id) ON DELETE CASCADE
) STRICT, WITHOUT ROWID;

-- What the fields of structured memories say, so that a query by fields reads what it finds and not all there is. Facets are
-- salted 32-bit hashes, as terms are; 0 is that of a memory that may have every facet: sealed ones.
CREATE TABLE facet (
    scope_id  INTEGER NOT NULL,
    facet     INTEGER NOT NULL,
    memory_id TEXT NOT NULL,
    row_id    INTEGER NOT NULL REFERENCES memory (row_id) ON DELETE CASCADE,
    PRIMARY KEY (scope_id, facet, memory_id)
) STRICT, WITHOUT ROWID;

CREATE INDEX facet_by_row ON facet (row_id, facet);

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

CREATE TABLE request (
    tenant          TEXT NOT NULL,
    idempotency_key TEXT NOT NULL,
    digest          TEXT NOT NULL,
    receipt         TEXT NOT NULL,
    at              INTEGER NOT NULL,
    checksum        INTEGER NOT NULL,
    PRIMARY KEY (tenant, idempotency_key)
) STRICT, WITHOUT ROWID;

-- The outbox feeds several projections, each at its own pace: an entry stays until every registered one has taken it.

CREATE TABLE projection (
    name TEXT PRIMARY KEY
) STRICT, WITHOUT ROWID;

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

-- An application's own documents. `path` is the namespace: its segments, escaped as in RFC 6901, each followed by a slash, so
-- that a range of paths is exactly what lies under a namespace. Times and `ttl` are microseconds; `ttl` is what a refresh adds
-- to the time of reading.

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

CREATE INDEX document_by_change ON document (tenant, updated_at);
CREATE INDEX document_by_expiry ON document (tenant, expires_at) WHERE expires_at IS NOT NULL;

CREATE TABLE document_vector (
    row_id INTEGER NOT NULL REFERENCES document (row_id) ON DELETE CASCADE,
    place  INTEGER NOT NULL,
    vector BLOB NOT NULL,
    PRIMARY KEY (row_id, place)
) STRICT, WITHOUT ROWID;

-- What governs memories: marks, how much is held.

-- Small texts by name: consents, tombstones, readings of the clock. None holds content of memories.
CREATE TABLE mark (
    tenant   TEXT NOT NULL,
    name     TEXT NOT NULL,
    value    TEXT NOT NULL,
    checksum INTEGER NOT NULL,
    PRIMARY KEY (tenant, name)
) STRICT, WITHOUT ROWID;

-- How many memories of each kind a scope holds, and the bytes of their bodies: kept by triggers, so that a quota costs no count.
CREATE TABLE usage (
    tenant   TEXT NOT NULL,
    scope_id INTEGER NOT NULL,
    kind     TEXT NOT NULL,
    rows     INTEGER NOT NULL,
    bytes    INTEGER NOT NULL,
    PRIMARY KEY (tenant, scope_id, kind)
) STRICT, WITHOUT ROWID;

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

-- How much a whole tenant holds, so that a question about it, and each write under a quota, costs the same however many
-- users the tenant has.
CREATE TABLE tenant_usage (
    tenant TEXT NOT NULL,
    kind   TEXT NOT NULL,
    rows   INTEGER NOT NULL,
    bytes  INTEGER NOT NULL,
    PRIMARY KEY (tenant, kind)
) STRICT, WITHOUT ROWID;

CREATE TRIGGER tenant_usage_grows AFTER INSERT ON usage
BEGIN
    INSERT INTO tenant_usage VALUES (NEW.tenant, NEW.kind, NEW.rows, NEW.bytes)
    ON CONFLICT DO UPDATE SET rows = rows + excluded.rows, bytes = bytes + excluded.bytes;
END;

CREATE TRIGGER tenant_usage_changes AFTER UPDATE OF rows, bytes ON usage
BEGIN
    UPDATE tenant_usage SET rows = rows + NEW.rows - OLD.rows, bytes = bytes + NEW.bytes - OLD.bytes
    WHERE tenant = NEW.tenant AND kind = NEW.kind;
END;

-- The graph of named things: what each memory says of nodes and relations. A node is there as long as a memory names it, so
-- nothing is left to sweep. Times are microseconds since 1970, UTC. `names` is a JSON list: the name, then other names.

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

CREATE INDEX graph_node_by_memory ON graph_node (tenant, memory_id);

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

CREATE INDEX graph_relation_backwards ON graph_relation (tenant, level, owner, target, valid_from, valid_to, source);
CREATE INDEX graph_relation_by_memory ON graph_relation (tenant, memory_id);

-- What a memory held of the graph goes with it, in the same transaction.
CREATE TRIGGER graph_forgets AFTER DELETE ON memory
BEGIN
    DELETE FROM graph_relation WHERE tenant = OLD.tenant AND memory_id = OLD.memory_id;
    DELETE FROM graph_node WHERE tenant = OLD.tenant AND memory_id = OLD.memory_id;
END;
