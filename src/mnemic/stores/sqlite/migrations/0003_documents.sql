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
