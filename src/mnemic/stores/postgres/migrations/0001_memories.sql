-- Memories, their history and their search entries.
--
-- Every key starts with the tenant, and every table that holds a tenant's rows shows them only to a transaction that has
-- named the tenant (`mnemic.tenant`), to the owner of the tables as well. The store works as the role mnemic_app.
--
-- Texts that people choose are stored as bytes: PostgreSQL's text cannot hold every character that JSON can. Where they are
-- only compared, their digest is enough.

DO $$
BEGIN
    CREATE ROLE mnemic_app NOLOGIN NOSUPERUSER NOBYPASSRLS;
EXCEPTION WHEN duplicate_object OR unique_violation THEN
    NULL;
END
$$;

DO $$
BEGIN
    IF NOT pg_has_role(current_user, 'mnemic_app', 'SET') THEN
        GRANT mnemic_app TO current_user;
    END IF;
END
$$;

GRANT USAGE ON SCHEMA mnemic TO mnemic_app;

CREATE EXTENSION IF NOT EXISTS vector WITH SCHEMA public;

-- The salt of the term hashes: what stands in the search entries cannot be looked up in a list of words made for all stores.
CREATE TABLE salt (
    one   boolean PRIMARY KEY DEFAULT true CHECK (one),
    value bytea NOT NULL DEFAULT uuid_send(gen_random_uuid())
);
INSERT INTO salt DEFAULT VALUES;

-- The one vector space of this database.
CREATE TABLE space (
    one       boolean PRIMARY KEY DEFAULT true CHECK (one),
    model     text NOT NULL,
    dimension integer NOT NULL CHECK (dimension BETWEEN 1 AND 16000)
);

CREATE TABLE tenant (
    tenant text COLLATE "C" PRIMARY KEY,
    secret bytea NOT NULL CHECK (length(secret) = 32)
);

-- `active`, `content_total` and `context_total` count the active memories and the terms in their two fields: the statistics
-- of the keyword list. `large` says that the scope's vectors are in the approximate index.
CREATE TABLE scope (
    tenant        text COLLATE "C" NOT NULL,
    level         text COLLATE "C" NOT NULL,
    owner         text COLLATE "C" NOT NULL,
    scope_id      bigint GENERATED ALWAYS AS IDENTITY,
    active        bigint NOT NULL DEFAULT 0 CHECK (active >= 0),
    content_total bigint NOT NULL DEFAULT 0,
    context_total bigint NOT NULL DEFAULT 0,
    large         boolean NOT NULL DEFAULT false,
    PRIMARY KEY (tenant, level, owner),
    UNIQUE (tenant, scope_id)
) WITH (fillfactor = 50);

-- The current version of every memory: what filters, constraints and ranked lists need. Times are microseconds since 1970, UTC;
-- `began_at` is valid_from or, without it, happened_at. `turn` numbers the messages of a session from 0. `content` and
-- `context` are term hashes, five bytes each, in the order of the words, then a zero, then further spellings. `bytes` is the
-- length of the current body.
CREATE TABLE memory (
    tenant         text COLLATE "C" NOT NULL,
    memory_id      text COLLATE "C" NOT NULL,
    scope_id       bigint NOT NULL,
    number         bigint GENERATED ALWAYS AS IDENTITY,
    version        integer NOT NULL CHECK (version >= 1),
    kind           text COLLATE "C" NOT NULL,
    status         text COLLATE "C" NOT NULL,
    key            bytea,
    category       bytea,
    fingerprint    text COLLATE "C" NOT NULL,
    happened_at    bigint NOT NULL,
    began_at       bigint NOT NULL,
    ended_at       bigint,
    expires_at     bigint,
    session        bytea,
    session_digest bytea,
    speaker        bytea,
    speaker_digest bytea,
    turn           integer,
    cues           bytea NOT NULL,
    content        bytea NOT NULL,
    context        bytea NOT NULL,
    content_length integer NOT NULL,
    context_length integer NOT NULL,
    created_at     bigint NOT NULL,
    bytes          integer NOT NULL,
    large          boolean NOT NULL DEFAULT false,
    vector         vector,
    PRIMARY KEY (tenant, memory_id),
    UNIQUE (tenant, number),
    FOREIGN KEY (tenant, scope_id) REFERENCES scope (tenant, scope_id)
) WITH (toast_tuple_target = 8160);

-- Vectors lie in the row up to 1,500 dimensions: an exact search reads them all.
ALTER TABLE memory ALTER COLUMN vector SET STORAGE EXTERNAL;

-- One active memory per fingerprint and scope. The kind is not part of it: a fingerprint already tells apart what its maker
-- wants told apart. An expired memory holds its place until it is marked as expired. No fingerprint, no constraint.
CREATE UNIQUE INDEX memory_by_fingerprint ON memory (tenant, scope_id, fingerprint)
    WHERE status = 'active' AND fingerprint <> '';

CREATE INDEX memory_by_key ON memory (tenant, scope_id, key) WHERE status = 'active' AND key IS NOT NULL;
CREATE INDEX memory_by_age ON memory (tenant, scope_id, memory_id);
CREATE INDEX memory_by_time ON memory (tenant, scope_id, happened_at, memory_id);
CREATE INDEX memory_pending ON memory (tenant, memory_id) WHERE status = 'pending_review';
CREATE INDEX memory_by_turn ON memory (tenant, scope_id, session_digest, turn) WHERE turn IS NOT NULL;
CREATE INDEX memory_by_speaker ON memory (tenant, scope_id, speaker_digest)
    WHERE status = 'active' AND speaker_digest IS NOT NULL;

-- Every version of every memory, the current one included, without scope and vector; with what erasure looks for.
CREATE TABLE memory_version (
    tenant      text COLLATE "C" NOT NULL,
    memory_id   text COLLATE "C" NOT NULL,
    version     integer NOT NULL,
    author      bytea,
    fingerprint text COLLATE "C" NOT NULL,
    body        text NOT NULL,
    PRIMARY KEY (tenant, memory_id, version),
    FOREIGN KEY (tenant, memory_id) REFERENCES memory (tenant, memory_id) ON DELETE CASCADE
);

-- How many memories of each kind a scope holds, and the bytes of their bodies, so that a quota costs no count.
CREATE TABLE usage (
    tenant   text COLLATE "C" NOT NULL,
    scope_id bigint NOT NULL,
    kind     text COLLATE "C" NOT NULL,
    memories bigint NOT NULL,
    bytes    bigint NOT NULL,
    PRIMARY KEY (tenant, scope_id, kind)
) WITH (fillfactor = 50);

-- Which memories of a scope hold a term, and how often in each field. The lengths and `active` repeat what the memory says, so
-- that a search reads this index alone.
CREATE TABLE posting (
    tenant         text COLLATE "C" NOT NULL,
    scope_id       bigint NOT NULL,
    term           integer NOT NULL,
    number         bigint NOT NULL,
    content        integer NOT NULL,
    context        integer NOT NULL,
    content_length integer NOT NULL,
    context_length integer NOT NULL,
    active         boolean NOT NULL,
    PRIMARY KEY (tenant, scope_id, term, number)
        INCLUDE (content, context, content_length, context_length, active)
);
