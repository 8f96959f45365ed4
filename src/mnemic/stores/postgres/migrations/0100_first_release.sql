-- The schema of the first release. Numbers below 100 belong to states of the program that were never released.
--
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

-- The one that is being filled beside it; its vectors become the present ones in one step, by changing the names of columns. That
-- concerns all tenants at once, so it is work of the tables' owner, who says so (`mnemic.upkeep`); the application's role has no
-- part in it.
CREATE TABLE next_space (
    one       boolean PRIMARY KEY DEFAULT true CHECK (one),
    model     text NOT NULL,
    dimension integer NOT NULL CHECK (dimension BETWEEN 1 AND 16000)
);

-- A checksum, here and below, is that of the values as they were written: 64 bits over texts, CRC-32 over vectors and hashed words.
-- It is compared by whoever reads a row.
CREATE TABLE tenant (
    tenant   text COLLATE "C" PRIMARY KEY,
    secret   bytea NOT NULL CHECK (length(secret) = 32),
    checksum bigint NOT NULL
);

-- `active`, `content_total` and `context_total` count the active memories and the terms in their two fields: the statistics
-- of the keyword list. `large` says that the scope's vectors are in the approximate index. `changes` grows with every change inside a
-- scope and stamps the memory it changed, so that a process can bring its search index up to date by reading only what is newer;
-- `removed_at` is the last change that removed a memory.
CREATE TABLE scope (
    tenant        text COLLATE "C" NOT NULL,
    level         text COLLATE "C" NOT NULL,
    owner         text COLLATE "C" NOT NULL,
    scope_id      bigint GENERATED ALWAYS AS IDENTITY,
    active        bigint NOT NULL DEFAULT 0 CHECK (active >= 0),
    content_total bigint NOT NULL DEFAULT 0,
    context_total bigint NOT NULL DEFAULT 0,
    large         boolean NOT NULL DEFAULT false,
    changes       bigint NOT NULL DEFAULT 1,
    removed_at    bigint NOT NULL DEFAULT 0,
    PRIMARY KEY (tenant, level, owner),
    UNIQUE (tenant, scope_id)
) WITH (fillfactor = 50);

-- The current version of every memory: what filters, constraints and ranked lists need. Times are microseconds since 1970, UTC;
-- `began_at` is valid_from or, without it, happened_at. `turn` numbers the messages of a session from 0. `content` and
-- `context` are term hashes, five bytes each, in the order of the words, then a zero, then further spellings. `bytes` is the
-- length of the current body.
CREATE TABLE memory (
    tenant            text COLLATE "C" NOT NULL,
    memory_id         text COLLATE "C" NOT NULL,
    scope_id          bigint NOT NULL,
    number            bigint GENERATED ALWAYS AS IDENTITY,
    version           integer NOT NULL CHECK (version >= 1),
    kind              text COLLATE "C" NOT NULL,
    status            text COLLATE "C" NOT NULL,
    key               bytea,
    category          bytea,
    fingerprint       text COLLATE "C" NOT NULL,
    happened_at       bigint NOT NULL,
    began_at          bigint NOT NULL,
    ended_at          bigint,
    expires_at        bigint,
    session           bytea,
    session_digest    bytea,
    speaker           bytea,
    speaker_digest    bytea,
    turn              integer,
    cues              bytea NOT NULL,
    content           bytea NOT NULL,
    context           bytea NOT NULL,
    content_length    integer NOT NULL,
    context_length    integer NOT NULL,
    created_at        bigint NOT NULL,
    bytes             integer NOT NULL,
    large             boolean NOT NULL DEFAULT false,
    changed           bigint NOT NULL DEFAULT 1,
    vector            vector,
    vector_check      bigint,
    next_vector       vector,
    next_vector_check bigint,
    words_check       bigint NOT NULL,
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
CREATE INDEX memory_by_change ON memory (tenant, scope_id, changed, number);

-- Every version of every memory, the current one included, without scope and vector; with what erasure looks for.
-- The two tables with the most rows by far, this one and that of the postings, lie in 8 partitions by the hash of the tenant: their
-- vacuums and indexes stay small, and a search reads one. `memory` stays whole: docs/adr/0008 says why.
CREATE TABLE memory_version (
    tenant      text COLLATE "C" NOT NULL,
    memory_id   text COLLATE "C" NOT NULL,
    version     integer NOT NULL,
    author      bytea,
    fingerprint text COLLATE "C" NOT NULL,
    body        text NOT NULL,
    checksum    bigint NOT NULL,
    PRIMARY KEY (tenant, memory_id, version),
    FOREIGN KEY (tenant, memory_id) REFERENCES memory (tenant, memory_id) ON DELETE CASCADE
) PARTITION BY HASH (tenant);

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
-- that a search reads this index alone. Kept of large scopes alone: of a small one the words of every memory are read.
CREATE TABLE term_posting (
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
) PARTITION BY HASH (tenant);

-- What the fields of structured memories say, so that a query by fields reads what it finds and not all there is. Facets are
-- salted 32-bit hashes, as terms are; 0 is that of a memory that may have every facet.
CREATE TABLE facet (
    tenant    text COLLATE "C" NOT NULL,
    scope_id  bigint NOT NULL,
    facet     integer NOT NULL,
    memory_id text COLLATE "C" NOT NULL,
    PRIMARY KEY (tenant, scope_id, facet, memory_id)
);
CREATE INDEX facet_by_memory ON facet (tenant, memory_id, facet);

-- What is committed together with a memory: the audit, the outbox, the receipts of requests, and marks.

-- Append-only, chained by hash within the tenant. `event` is canonical JSON and holds no content of memories.
CREATE TABLE audit (
    tenant   text COLLATE "C" NOT NULL,
    sequence bigint NOT NULL CHECK (sequence >= 1),
    event    text NOT NULL,
    hash     text NOT NULL,
    PRIMARY KEY (tenant, sequence)
);

-- The end of each chain. Whoever appends holds this row's lock until the commit.
CREATE TABLE audit_head (
    tenant   text COLLATE "C" PRIMARY KEY,
    sequence bigint NOT NULL,
    hash     text NOT NULL
) WITH (fillfactor = 50);

CREATE FUNCTION refuse_change_of_audit() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION 'the audit is append-only' USING ERRCODE = 'insufficient_privilege';
END
$$;

CREATE TRIGGER audit_is_never_changed BEFORE UPDATE OR DELETE ON audit
    FOR EACH ROW EXECUTE FUNCTION refuse_change_of_audit();
CREATE TRIGGER audit_is_never_emptied BEFORE TRUNCATE ON audit
    FOR EACH STATEMENT EXECUTE FUNCTION refuse_change_of_audit();

-- A tenant may have any number of users: what all of them share is kept in lanes, by the hash of the scope, so that two writers
-- hardly ever wait for each other. Lines of the audit are committed in lanes, each a chain of its own, and are brought together in
-- the tenant's audit by whoever reads it; what a tenant holds is the sum over its lanes.

CREATE TABLE journal (
    tenant text COLLATE "C" NOT NULL,
    lane   smallint NOT NULL,
    number bigint NOT NULL CHECK (number >= 1),
    at     bigint NOT NULL,
    event  text NOT NULL,
    hash   text NOT NULL,
    PRIMARY KEY (tenant, lane, number)
);

-- The end of each lane. Whoever appends holds this row's lock until the commit.
CREATE TABLE lane_end (
    tenant text COLLATE "C" NOT NULL,
    lane   smallint NOT NULL,
    number bigint NOT NULL,
    hash   text NOT NULL,
    PRIMARY KEY (tenant, lane)
) WITH (fillfactor = 50);

-- How far each lane was collected. Only who holds the lock of the tenant's `audit_head` changes it: writers never wait for that.
CREATE TABLE lane_collected (
    tenant text COLLATE "C" NOT NULL,
    lane   smallint NOT NULL,
    number bigint NOT NULL,
    hash   text NOT NULL,
    PRIMARY KEY (tenant, lane)
) WITH (fillfactor = 50);

-- What was added to the tenant in each lane, less what was removed: only their sum means something.
CREATE TABLE usage_lane (
    tenant   text COLLATE "C" NOT NULL,
    lane     smallint NOT NULL,
    kind     text NOT NULL,
    memories bigint NOT NULL,
    bytes    bigint NOT NULL,
    PRIMARY KEY (tenant, lane, kind)
) WITH (fillfactor = 50);

CREATE TRIGGER journal_is_never_changed BEFORE UPDATE ON journal
    FOR EACH ROW EXECUTE FUNCTION refuse_change_of_audit();
CREATE TRIGGER journal_is_never_emptied BEFORE TRUNCATE ON journal
    FOR EACH STATEMENT EXECUTE FUNCTION refuse_change_of_audit();

CREATE TABLE request (
    tenant          text COLLATE "C" NOT NULL,
    idempotency_key text COLLATE "C" NOT NULL,
    digest          text NOT NULL,
    receipt         text NOT NULL,
    at              bigint NOT NULL,
    checksum        bigint NOT NULL,
    PRIMARY KEY (tenant, idempotency_key)
);

-- Small texts by name: consents, tombstones, readings of the clock. None holds content of memories.
CREATE TABLE mark (
    tenant   text COLLATE "C" NOT NULL,
    name     text COLLATE "C" NOT NULL,
    value    text NOT NULL,
    checksum bigint NOT NULL,
    PRIMARY KEY (tenant, name)
);

-- The outbox feeds several projections, each at its own pace: an entry stays until every registered one has taken it.

CREATE TABLE projection (
    name text COLLATE "C" PRIMARY KEY
);

CREATE TABLE outbox (
    tenant    text COLLATE "C" NOT NULL,
    sequence  bigint GENERATED ALWAYS AS IDENTITY,
    level     text NOT NULL,
    owner     text COLLATE "C" NOT NULL,
    action    text NOT NULL CHECK (action IN ('upsert', 'remove')),
    memory_id text NOT NULL,
    version   integer NOT NULL,
    taken     text[] COLLATE "C" NOT NULL DEFAULT '{}',
    PRIMARY KEY (tenant, sequence)
);
CREATE INDEX outbox_in_order ON outbox (sequence);

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

-- The graph of named things: what each memory says of nodes and relations. A node is there as long as a memory names it, so
-- nothing is left to sweep. Times are microseconds since 1970, UTC. `names` are the name, then other names.

CREATE TABLE graph_node (
    tenant    text COLLATE "C" NOT NULL,
    level     text COLLATE "C" NOT NULL,
    owner     text COLLATE "C" NOT NULL,
    node      text COLLATE "C" NOT NULL,
    memory_id text COLLATE "C" NOT NULL,
    label     text COLLATE "C" NOT NULL,
    names     text[] NOT NULL CHECK (cardinality(names) >= 1),
    seen_at   bigint NOT NULL,
    PRIMARY KEY (tenant, level, owner, node, memory_id)
);
CREATE INDEX graph_node_by_memory ON graph_node (tenant, memory_id);

CREATE TABLE graph_relation (
    tenant     text COLLATE "C" NOT NULL,
    level      text COLLATE "C" NOT NULL,
    owner      text COLLATE "C" NOT NULL,
    source     text COLLATE "C" NOT NULL,
    relation   text COLLATE "C" NOT NULL,
    target     text COLLATE "C" NOT NULL,
    memory_id  text COLLATE "C" NOT NULL,
    valid_from bigint,
    valid_to   bigint,
    PRIMARY KEY (tenant, level, owner, source, relation, target, memory_id)
);
CREATE INDEX graph_relation_backwards ON graph_relation (tenant, level, owner, target, source);
CREATE INDEX graph_relation_by_memory ON graph_relation (tenant, memory_id);

-- A row of a tenant is seen and written only where the transaction has named that tenant. Nobody is exempt: the rules bind the
-- owner too, and a transaction that names nobody sees nothing. Work on all tenants at once, such as a backup in one snapshot, is the
-- owner's, who says so (`mnemic.upkeep`): it reads, and of the first three tables it writes the vectors.
DO $$
DECLARE
    each text;
    written text[] := ARRAY['scope', 'memory', 'memory_version'];
BEGIN
    FOREACH each IN ARRAY written || ARRAY[
        'term_posting', 'facet', 'tenant', 'usage', 'usage_lane', 'audit', 'audit_head', 'journal', 'lane_end', 'lane_collected',
        'outbox', 'request', 'mark', 'document', 'document_vector', 'graph_node', 'graph_relation'
    ] LOOP
        EXECUTE format('ALTER TABLE %I ENABLE ROW LEVEL SECURITY', each);
        EXECUTE format('ALTER TABLE %I FORCE ROW LEVEL SECURITY', each);
        EXECUTE format(
            'CREATE POLICY own_tenant ON %I USING (tenant = (SELECT nullif(current_setting(''mnemic.tenant'', true), '''')))',
            each
        );
        EXECUTE format(
            'CREATE POLICY upkeep ON %I %s TO CURRENT_USER USING ((SELECT current_setting(''mnemic.upkeep'', true)) = ''on'')',
            each, CASE WHEN each = ANY (written) THEN '' ELSE 'FOR SELECT' END
        );
    END LOOP;
    -- The application's role has no rights in a partition, and row-level security without a policy shows nobody its rows: every
    -- way leads through the whole table and its policies.
    FOREACH each IN ARRAY ARRAY['memory_version', 'term_posting'] LOOP
        FOR number IN 0..7 LOOP
            EXECUTE format(
                'CREATE TABLE %I PARTITION OF %I FOR VALUES WITH (MODULUS 8, REMAINDER %s)',
                each || '_' || number, each, number
            );
            EXECUTE format('ALTER TABLE %I ENABLE ROW LEVEL SECURITY', each || '_' || number);
            EXECUTE format('ALTER TABLE %I FORCE ROW LEVEL SECURITY', each || '_' || number);
        END LOOP;
    END LOOP;
END
$$;

-- The outbox is written for one tenant and drained for all of them, by a transaction that says so. It names memories, it does
-- not hold them. Whoever drains it notes there who has taken an entry, and can change nothing else.
CREATE POLICY drained ON outbox
    USING ((SELECT current_setting('mnemic.drain', true)) = 'on')
    WITH CHECK (false);
CREATE POLICY noted ON outbox FOR UPDATE
    USING ((SELECT current_setting('mnemic.drain', true)) = 'on')
    WITH CHECK ((SELECT current_setting('mnemic.drain', true)) = 'on');

GRANT SELECT ON salt, space, schema_version TO mnemic_app;
GRANT SELECT, INSERT ON tenant, audit TO mnemic_app;
GRANT SELECT, INSERT, UPDATE ON scope, usage, usage_lane, audit_head, lane_end, lane_collected TO mnemic_app;
GRANT SELECT, INSERT, UPDATE, DELETE ON memory, term_posting, mark, document, document_vector TO mnemic_app;
GRANT SELECT, INSERT, DELETE ON memory_version, facet, journal, outbox, projection, request, graph_node, graph_relation TO mnemic_app;
GRANT UPDATE (taken) ON outbox TO mnemic_app;

-- What a memory held of the graph goes with it, in the same transaction.
CREATE FUNCTION forget_graph() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    DELETE FROM mnemic.graph_relation WHERE tenant = OLD.tenant AND memory_id = OLD.memory_id;
    DELETE FROM mnemic.graph_node WHERE tenant = OLD.tenant AND memory_id = OLD.memory_id;
    RETURN NULL;
END
$$;
CREATE TRIGGER graph_forgets AFTER DELETE ON memory FOR EACH ROW EXECUTE FUNCTION forget_graph();

-- What a memory said goes with it, in the same transaction.
CREATE FUNCTION forget_facets() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    DELETE FROM mnemic.facet WHERE tenant = OLD.tenant AND memory_id = OLD.memory_id;
    RETURN NULL;
END
$$;
CREATE TRIGGER facets_forget AFTER DELETE ON memory FOR EACH ROW WHEN (OLD.kind = 'structured')
    EXECUTE FUNCTION forget_facets();

-- How a transaction begins, in one call: it names its tenant, says how long a statement may take (milliseconds), and looks at
-- the scopes it is about. The functions, here and below, have the rights of whoever calls them; row-level security holds inside.

CREATE FUNCTION enter(wanted_tenant text, milliseconds text, levels text[], owners text[])
RETURNS TABLE (
    level text, owner text, scope_id bigint, large boolean, active bigint, changes bigint, removed_at bigint
)
LANGUAGE plpgsql AS $$
BEGIN
    PERFORM set_config('mnemic.tenant', wanted_tenant, true), set_config('statement_timeout', milliseconds, true);
    RETURN QUERY
        SELECT s.level, s.owner, s.scope_id, s.large, s.active, s.changes, s.removed_at
        FROM scope s
        WHERE s.tenant = wanted_tenant AND (s.level, s.owner) IN (SELECT * FROM unnest(levels, owners));
END
$$;

-- The memories with a fingerprint in a scope, and those with an identifier in some scopes, each with its checksums and with what is
-- known of it without its body. A body is given as its bytes: damaged, it may be no text.
CREATE FUNCTION checked_under(wanted_tenant text, wanted_level text, wanted_owner text, wanted text)
RETURNS TABLE (
    body bytea, checksum bigint, vector vector, vector_check bigint, tenant text, level text, owner text,
    memory_id text, version integer, kind text, status text, happened_at bigint, expires_at bigint
)
LANGUAGE plpgsql AS $$
BEGIN
    PERFORM set_config('mnemic.tenant', wanted_tenant, true);
    RETURN QUERY
        SELECT textsend(v.body), v.checksum, m.vector, m.vector_check, s.tenant, s.level, s.owner,
               m.memory_id, m.version, m.kind, m.status, m.happened_at, m.expires_at
        FROM scope s
        JOIN memory m ON m.tenant = s.tenant AND m.scope_id = s.scope_id
        JOIN memory_version v ON v.tenant = m.tenant AND v.memory_id = m.memory_id AND v.version = m.version
        WHERE s.tenant = wanted_tenant AND s.level = wanted_level AND s.owner = wanted_owner
        AND m.tenant = wanted_tenant AND m.status = 'active' AND m.fingerprint = wanted AND m.fingerprint <> '';
END
$$;

CREATE FUNCTION checked_as(wanted_tenant text, levels text[], owners text[], wanted text[])
RETURNS TABLE (
    body bytea, checksum bigint, vector vector, vector_check bigint, tenant text, level text, owner text,
    memory_id text, version integer, kind text, status text, happened_at bigint, expires_at bigint
)
LANGUAGE plpgsql AS $$
BEGIN
    PERFORM set_config('mnemic.tenant', wanted_tenant, true);
    RETURN QUERY
        SELECT textsend(v.body), v.checksum, m.vector, m.vector_check, s.tenant, s.level, s.owner,
               m.memory_id, m.version, m.kind, m.status, m.happened_at, m.expires_at
        FROM memory m
        JOIN scope s ON s.tenant = m.tenant AND s.scope_id = m.scope_id
        JOIN memory_version v ON v.tenant = m.tenant AND v.memory_id = m.memory_id AND v.version = m.version
        WHERE m.tenant = wanted_tenant AND m.memory_id = ANY (wanted)
        AND (s.level, s.owner) IN (SELECT * FROM unnest(levels, owners));
END
$$;

-- How a write begins: it names its tenant and takes the lock of its scope, then says the vector space of now, and the active memory
-- that has the fingerprint, if there is one; one row. What is read after the wait is what the one before has committed: under READ
-- COMMITTED each statement of a volatile function looks anew. What it looks at cannot be changed to other vectors before the end of the
-- transaction.
CREATE FUNCTION enter_checked(
    wanted_tenant text, milliseconds text, lock bigint, wanted_level text, wanted_owner text, wanted text
)
RETURNS TABLE (
    model text, dimension integer, scope_id bigint, large boolean, active bigint, changes bigint, removed_at bigint,
    body bytea, checksum bigint, vector vector, vector_check bigint, memory_id text
)
LANGUAGE plpgsql VOLATILE AS $$
BEGIN
    PERFORM set_config('mnemic.tenant', wanted_tenant, true), set_config('statement_timeout', milliseconds, true);
    PERFORM pg_advisory_xact_lock(lock);
    RETURN QUERY
        SELECT p.model, p.dimension, s.scope_id, s.large, s.active, s.changes, s.removed_at,
               textsend(v.body), v.checksum, m.vector, m.vector_check, m.memory_id
        FROM space p
        LEFT JOIN scope s ON s.tenant = wanted_tenant AND s.level = wanted_level AND s.owner = wanted_owner
        LEFT JOIN memory m ON m.tenant = wanted_tenant AND m.scope_id = s.scope_id
            AND m.status = 'active' AND m.fingerprint = wanted AND m.fingerprint <> ''
        LEFT JOIN memory_version v ON v.tenant = wanted_tenant AND v.memory_id = m.memory_id AND v.version = m.version;
END
$$;

-- The first text behind all those that begin with `prefix`, byte by byte; NULL where there is none.
CREATE FUNCTION behind(prefix text) RETURNS text LANGUAGE sql IMMUTABLE AS $$
    SELECT CASE
        WHEN prefix = '' OR ascii(right(prefix, 1)) = 1114111 THEN NULL
        WHEN ascii(right(prefix, 1)) = 55295 THEN left(prefix, -1) || chr(57344)
        ELSE left(prefix, -1) || chr(ascii(right(prefix, 1)) + 1)
    END
$$;

-- A page of the marks with a prefix, from behind `after`. The index ends where the prefix does: what comes behind it is not read.
CREATE FUNCTION marks_between(wanted_tenant text, prefix text, after text, at_most bigint)
RETURNS TABLE (name text, value text, checksum bigint)
LANGUAGE plpgsql AS $$
DECLARE
    first text := greatest(prefix COLLATE "C", after COLLATE "C");
    bound text := behind(prefix);
BEGIN
    PERFORM set_config('mnemic.tenant', wanted_tenant, true);
    IF bound IS NULL THEN
        RETURN QUERY
            SELECT k.name, k.value, k.checksum FROM mark k
            WHERE k.tenant = wanted_tenant AND k.name >= first
            AND starts_with(k.name, prefix) AND k.name IS DISTINCT FROM after
            ORDER BY k.name LIMIT at_most;
    ELSE
        RETURN QUERY
            SELECT k.name, k.value, k.checksum FROM mark k
            WHERE k.tenant = wanted_tenant AND k.name >= first AND k.name < bound
            AND starts_with(k.name, prefix) AND k.name IS DISTINCT FROM after
            ORDER BY k.name LIMIT at_most;
    END IF;
END
$$;

-- The two questions that every write asks of the outbox where a projection is fed, each in one call that is a transaction of its
-- own. They say themselves that they drain.

CREATE FUNCTION left_for(projection text, at_most integer)
RETURNS TABLE (
    sequence bigint, tenant text, level text, owner text, action text, memory_id text, version integer
)
LANGUAGE plpgsql AS $$
BEGIN
    PERFORM set_config('mnemic.drain', 'on', true);
    RETURN QUERY
        SELECT o.sequence, o.tenant, o.level, o.owner, o.action, o.memory_id, o.version
        FROM outbox o
        WHERE projection IS NULL OR projection <> ALL (o.taken)
        ORDER BY o.sequence
        LIMIT at_most;
END
$$;

-- What is lost of this in a crash comes to the projection once more, so that nobody waits for the disk. The row's lock makes two
-- projections that come at once see each other: each statement of a volatile function looks anew.
CREATE FUNCTION take(sequences bigint[], projection text) RETURNS void
LANGUAGE plpgsql VOLATILE AS $$
DECLARE
    remaining bigint[];
BEGIN
    PERFORM set_config('mnemic.drain', 'on', true), set_config('synchronous_commit', 'off', true);
    DELETE FROM outbox o
    WHERE o.sequence = ANY (sequences)
    AND NOT EXISTS (SELECT FROM projection p WHERE p.name <> take.projection AND p.name <> ALL (o.taken));
    WITH marked AS (
        UPDATE outbox o SET taken = array_append(o.taken, take.projection)
        WHERE o.sequence = ANY (sequences) AND take.projection <> ALL (o.taken)
        RETURNING o.sequence
    )
    SELECT array_agg(marked.sequence) INTO remaining FROM marked;
    DELETE FROM outbox o
    WHERE o.sequence = ANY (remaining)
    AND NOT EXISTS (SELECT FROM projection p WHERE p.name <> take.projection AND p.name <> ALL (o.taken));
END
$$;

-- How often packed words hold a term. Five bytes each, the first alone with its high bit set: no term is found across two.
CREATE FUNCTION times(term bytea, words bytea) RETURNS integer LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
    SELECT count(*)::integer FROM generate_series(1, length(words), 5) AS place WHERE substring(words FROM place FOR 5) = term
$$;

-- The terms of packed words, with a sign as in the postings; the zero separates.
CREATE FUNCTION terms_in(words bytea) RETURNS SETOF integer LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
    SELECT term FROM (
        SELECT (((get_byte(words, place) & 15)::bigint << 28) + (get_byte(words, place + 1)::bigint << 21)
                + (get_byte(words, place + 2) << 14) + (get_byte(words, place + 3) << 7)
                + get_byte(words, place + 4))::bit(32)::integer AS term
        FROM generate_series(0, length(words) - 5, 5) AS place
    ) each WHERE term <> 0
$$;

CREATE FUNCTION postings_of(content bytea, context bytea) RETURNS TABLE (term integer, content integer, context integer)
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
    SELECT each.term, count(*) FILTER (WHERE each.inside)::integer, count(*) FILTER (WHERE NOT each.inside)::integer
    FROM (
        SELECT word AS term, true AS inside FROM mnemic.terms_in($1) AS word
        UNION ALL SELECT word, false FROM mnemic.terms_in($2) AS word
    ) each
    GROUP BY each.term
$$;
