-- A backup reads every tenant's rows in one snapshot: the owner's work, who says so. Nobody else is meant, and nothing can be
-- changed by it.

DO $$
DECLARE
    each text;
BEGIN
    FOREACH each IN ARRAY ARRAY[
        'tenant', 'usage', 'posting', 'audit', 'audit_head', 'outbox', 'request', 'mark',
        'document', 'document_vector', 'graph_node', 'graph_relation'
    ] LOOP
        EXECUTE format(
            'CREATE POLICY upkeep ON %I FOR SELECT TO CURRENT_USER '
            'USING ((SELECT current_setting(''mnemic.upkeep'', true)) = ''on'')', each
        );
    END LOOP;
END
$$;
