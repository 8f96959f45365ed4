-- An application's own documents. `path` is the namespace: its segments, escaped as in RFC 6901, each followed by a slash, so
-- that a range of paths is exactly what lies under a namespace. Times and `ttl` are microseconds; `ttl` is what a refresh adds
-- to the time of reading. Names are stored as bytes, as other texts that people choose.

CREATE TABLE document (
    tenant     text COLLATE "C" NOT NULL,
    path       bytea NOT NULL,
    key        bytea NOT NULL,
    row_id     bigint GENERATED ALWAYS AS IDENTITY,
    value      text NOT NULL,
    created_at bigint NOT NULL,
    updated_at bigint NOT NULL,
    ttl        bigint,
    expires_at bigint,
    PRIMARY KEY (tenant, path, key),
    UNIQUE (tenant, row_id)
);

CREATE INDEX document_by_change ON document (tenant, updated_at);
CREATE INDEX document_by_expiry ON document (tenant, expires_at) WHERE expires_at IS NOT NULL;

-- Vectors of any dimension: each application has an embedder of its own.
CREATE TABLE document_vector (
    tenant text COLLATE "C" NOT NULL,
    row_id bigint NOT NULL,
    place  integer NOT NULL,
    vector vector NOT NULL,
    PRIMARY KEY (tenant, row_id, place),
    FOREIGN KEY (tenant, row_id) REFERENCES document (tenant, row_id) ON DELETE CASCADE
);

DO $$
DECLARE
    each text;
BEGIN
    FOREACH each IN ARRAY ARRAY['document', 'document_vector'] LOOP
        EXECUTE format('ALTER TABLE %I ENABLE ROW LEVEL SECURITY', each);
        EXECUTE format('ALTER TABLE %I FORCE ROW LEVEL SECURITY', each);
        EXECUTE format(
            'CREATE POLICY own_tenant ON %I USING (tenant = (SELECT nullif(current_setting(''mnemic.tenant'', true), '''')))',
            each
        );
    END LOOP;
END
$$;

GRANT SELECT, INSERT, UPDATE, DELETE ON document, document_vector TO mnemic_app;
