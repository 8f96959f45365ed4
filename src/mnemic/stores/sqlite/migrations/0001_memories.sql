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

CREATE TABLE tenant (
    tenant TEXT PRIMARY KEY,
    secret BLOB NOT NULL CHECK (length(secret) = 32)
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
-- `turn` numbers the messages of a session from 0.
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

-- What the ranked lists need of a memory. Terms are salted 32-bit hashes, little-endian, in the order of the words, then a
-- zero, then further spellings.
CREATE TABLE memory_search (
    row_id  INTEGER PRIMARY KEY REFERENCES memory (row_id) ON DELETE CASCADE,
    vector  BLOB,
    content BLOB NOT NULL,
    context BLOB NOT NULL,
    speaker TEXT,
    cues    BLOB NOT NULL
) STRICT;

-- Earlier versions, without their vectors.
CREATE TABLE memory_version (
    tenant    TEXT NOT NULL,
    memory_id TEXT NOT NULL,
    version   INTEGER NOT NULL,
    body      TEXT NOT NULL,
    PRIMARY KEY (tenant, memory_id, version),
    FOREIGN KEY (tenant, memory_id) REFERENCES memory (tenant, memory_id) ON DELETE CASCADE
) STRICT, WITHOUT ROWID;

-- Quoted phrases. A token is the scope's number and a term's hash, so a lookup meets no other scope's rows and no query text.
CREATE VIRTUAL TABLE phrase USING fts5(content, context, content = '', columnsize = 0, tokenize = 'ascii');
INSERT INTO phrase (phrase, rank) VALUES ('secure-delete', 1);
