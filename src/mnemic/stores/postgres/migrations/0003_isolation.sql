-- A row of a tenant is seen and written only where the transaction has named that tenant. Nobody is exempt: the rules bind the
-- owner too, and a transaction that names nobody sees nothing.

DO $$
DECLARE
    each text;
BEGIN
    FOREACH each IN ARRAY ARRAY[
        'tenant', 'scope', 'memory', 'memory_version', 'usage', 'posting', 'audit', 'audit_head', 'request', 'mark'
    ] LOOP
        EXECUTE format('ALTER TABLE %I ENABLE ROW LEVEL SECURITY', each);
        EXECUTE format('ALTER TABLE %I FORCE ROW LEVEL SECURITY', each);
        EXECUTE format(
            'CREATE POLICY own_tenant ON %I USING (tenant = (SELECT nullif(current_setting(''mnemic.tenant'', true), '''')))',
            each
        );
    END LOOP;
END
$$;

-- The outbox is written for one tenant and drained for all of them, by a transaction that says so. It names memories, it does
-- not hold them.
ALTER TABLE outbox ENABLE ROW LEVEL SECURITY;
ALTER TABLE outbox FORCE ROW LEVEL SECURITY;
CREATE POLICY own_tenant ON outbox
    USING (tenant = (SELECT nullif(current_setting('mnemic.tenant', true), '')));
CREATE POLICY drained ON outbox
    USING ((SELECT current_setting('mnemic.drain', true)) = 'on')
    WITH CHECK (false);

GRANT SELECT ON salt, space, schema_version TO mnemic_app;
GRANT SELECT, INSERT ON tenant, audit TO mnemic_app;
GRANT SELECT, INSERT, UPDATE ON scope, usage, audit_head TO mnemic_app;
GRANT SELECT, INSERT, UPDATE, DELETE ON memory, posting, mark TO mnemic_app;
GRANT SELECT, INSERT, DELETE ON memory_version, outbox, request TO mnemic_app;
