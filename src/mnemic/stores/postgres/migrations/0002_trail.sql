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

CREATE TABLE outbox (
    tenant    text COLLATE "C" NOT NULL,
    sequence  bigint GENERATED ALWAYS AS IDENTITY,
    action    text NOT NULL CHECK (action IN ('upsert', 'remove')),
    memory_id text NOT NULL,
    version   integer NOT NULL,
    PRIMARY KEY (tenant, sequence)
);
CREATE INDEX outbox_in_order ON outbox (sequence);

CREATE TABLE request (
    tenant          text COLLATE "C" NOT NULL,
    idempotency_key text COLLATE "C" NOT NULL,
    digest          text NOT NULL,
    receipt         text NOT NULL,
    at              bigint NOT NULL,
    PRIMARY KEY (tenant, idempotency_key)
);

-- Small texts by name: consents, tombstones, readings of the clock. None holds content of memories.
CREATE TABLE mark (
    tenant text COLLATE "C" NOT NULL,
    name   text COLLATE "C" NOT NULL,
    value  text NOT NULL,
    PRIMARY KEY (tenant, name)
);
