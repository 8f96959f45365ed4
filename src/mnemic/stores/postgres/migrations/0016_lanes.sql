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

-- For a moment row-level security does not bind the owner, which must see every tenant here.
ALTER TABLE usage NO FORCE ROW LEVEL SECURITY;
INSERT INTO usage_lane (tenant, lane, kind, memories, bytes)
SELECT tenant, 0, kind, sum(memories), sum(bytes) FROM usage GROUP BY tenant, kind;
ALTER TABLE usage FORCE ROW LEVEL SECURITY;

DO $$
DECLARE
    each text;
BEGIN
    FOREACH each IN ARRAY ARRAY['journal', 'lane_end', 'lane_collected', 'usage_lane'] LOOP
        EXECUTE format('ALTER TABLE %I ENABLE ROW LEVEL SECURITY', each);
        EXECUTE format('ALTER TABLE %I FORCE ROW LEVEL SECURITY', each);
        EXECUTE format(
            'CREATE POLICY own_tenant ON %I USING (tenant = (SELECT nullif(current_setting(''mnemic.tenant'', true), '''')))',
            each
        );
        EXECUTE format(
            'CREATE POLICY upkeep ON %I FOR SELECT TO CURRENT_USER '
            'USING ((SELECT current_setting(''mnemic.upkeep'', true)) = ''on'')', each
        );
    END LOOP;
END
$$;
GRANT SELECT, INSERT, DELETE ON journal TO mnemic_app;
GRANT SELECT, INSERT, UPDATE ON lane_end, lane_collected, usage_lane TO mnemic_app;

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
