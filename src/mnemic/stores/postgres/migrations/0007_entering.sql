-- How a transaction begins, in one call: it names its tenant, says how long a statement may take (milliseconds), and looks at
-- the scopes it is about. The functions have the rights of whoever calls them; row-level security holds inside.

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

-- The same for one scope, whose lock is held from here on. What is read after the wait is what the one before has committed:
-- under READ COMMITTED each statement of a volatile function looks anew.
CREATE FUNCTION enter_alone(wanted_tenant text, milliseconds text, lock bigint, wanted_level text, wanted_owner text)
RETURNS TABLE (scope_id bigint, large boolean, active bigint, changes bigint, removed_at bigint)
LANGUAGE plpgsql VOLATILE AS $$
BEGIN
    PERFORM set_config('mnemic.tenant', wanted_tenant, true), set_config('statement_timeout', milliseconds, true);
    PERFORM pg_advisory_xact_lock(lock);
    RETURN QUERY
        SELECT s.scope_id, s.large, s.active, s.changes, s.removed_at
        FROM scope s
        WHERE s.tenant = wanted_tenant AND s.level = wanted_level AND s.owner = wanted_owner;
END
$$;
