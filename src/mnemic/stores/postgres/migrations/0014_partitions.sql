-- The two tables with the most rows by far lie in 8 partitions, by the hash of the tenant: their vacuums and indexes stay small, and
-- a search reads one. `memory` stays whole: docs/adr/0008 says why.
--
-- What is there is written anew. For that moment row-level security does not bind the owner, who must see every tenant.

ALTER TABLE memory_version NO FORCE ROW LEVEL SECURITY;
ALTER TABLE posting NO FORCE ROW LEVEL SECURITY;
ALTER TABLE memory_version RENAME TO memory_version_before;
ALTER TABLE posting RENAME TO posting_before;

CREATE TABLE memory_version (LIKE memory_version_before) PARTITION BY HASH (tenant);
CREATE TABLE posting (LIKE posting_before) PARTITION BY HASH (tenant);

-- The application's role has no rights in a partition, and row-level security without a policy shows nobody its rows: every way
-- leads through the whole table and its policies.
DO $$
DECLARE
    each text;
BEGIN
    FOREACH each IN ARRAY ARRAY['memory_version', 'posting'] LOOP
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

INSERT INTO memory_version SELECT * FROM memory_version_before;
INSERT INTO posting SELECT * FROM posting_before;
DROP TABLE memory_version_before, posting_before;

ALTER TABLE memory_version
    ADD PRIMARY KEY (tenant, memory_id, version),
    ADD FOREIGN KEY (tenant, memory_id) REFERENCES memory (tenant, memory_id) ON DELETE CASCADE;
ALTER TABLE posting
    ADD PRIMARY KEY (tenant, scope_id, term, number) INCLUDE (content, context, content_length, context_length, active);

DO $$
DECLARE
    each text;
BEGIN
    FOREACH each IN ARRAY ARRAY['memory_version', 'posting'] LOOP
        EXECUTE format('ALTER TABLE %I ENABLE ROW LEVEL SECURITY', each);
        EXECUTE format('ALTER TABLE %I FORCE ROW LEVEL SECURITY', each);
        EXECUTE format(
            'CREATE POLICY own_tenant ON %I USING (tenant = (SELECT nullif(current_setting(''mnemic.tenant'', true), '''')))',
            each
        );
    END LOOP;
END
$$;
CREATE POLICY upkeep ON memory_version TO CURRENT_USER USING ((SELECT current_setting('mnemic.upkeep', true)) = 'on');
CREATE POLICY upkeep ON posting FOR SELECT TO CURRENT_USER USING ((SELECT current_setting('mnemic.upkeep', true)) = 'on');
GRANT SELECT, INSERT, DELETE ON memory_version TO mnemic_app;
GRANT SELECT, INSERT, UPDATE, DELETE ON posting TO mnemic_app;
