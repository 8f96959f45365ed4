-- What every write asks, each in one call: naming the tenant and asking are one trip to the server. The functions have the rights of
-- whoever calls them; row-level security holds inside.

CREATE FUNCTION marks_of(wanted_tenant text, prefix text) RETURNS TABLE (name text, value text)
LANGUAGE plpgsql AS $$
BEGIN
    PERFORM set_config('mnemic.tenant', wanted_tenant, true);
    RETURN QUERY
        SELECT k.name, k.value FROM mark k
        WHERE k.tenant = wanted_tenant AND k.name >= prefix AND starts_with(k.name, prefix)
        ORDER BY k.name;
END
$$;

CREATE FUNCTION held_under(wanted_tenant text, wanted_level text, wanted_owner text, wanted text)
RETURNS TABLE (body text, vector vector, tenant text, level text, owner text)
LANGUAGE plpgsql AS $$
BEGIN
    PERFORM set_config('mnemic.tenant', wanted_tenant, true);
    RETURN QUERY
        SELECT v.body, m.vector, s.tenant, s.level, s.owner
        FROM scope s
        JOIN memory m ON m.tenant = s.tenant AND m.scope_id = s.scope_id
        JOIN memory_version v ON v.tenant = m.tenant AND v.memory_id = m.memory_id AND v.version = m.version
        WHERE s.tenant = wanted_tenant AND s.level = wanted_level AND s.owner = wanted_owner
        AND m.tenant = wanted_tenant AND m.status = 'active' AND m.fingerprint = wanted AND m.fingerprint <> '';
END
$$;

CREATE FUNCTION held_as(wanted_tenant text, levels text[], owners text[], wanted text[])
RETURNS TABLE (body text, vector vector, tenant text, level text, owner text)
LANGUAGE plpgsql AS $$
BEGIN
    PERFORM set_config('mnemic.tenant', wanted_tenant, true);
    RETURN QUERY
        SELECT v.body, m.vector, s.tenant, s.level, s.owner
        FROM memory m
        JOIN scope s ON s.tenant = m.tenant AND s.scope_id = m.scope_id
        JOIN memory_version v ON v.tenant = m.tenant AND v.memory_id = m.memory_id AND v.version = m.version
        WHERE m.tenant = wanted_tenant AND m.memory_id = ANY (wanted)
        AND (s.level, s.owner) IN (SELECT * FROM unnest(levels, owners));
END
$$;

-- How a write begins: as with `enter_alone`, which processes of before still call, and with the vector space of now and the active memory that has the fingerprint, if there
-- is one; one row. What it looks at cannot be changed to other vectors before the end of the transaction.
CREATE FUNCTION enter_writing(
    wanted_tenant text, milliseconds text, lock bigint, wanted_level text, wanted_owner text, wanted text
)
RETURNS TABLE (
    model text, dimension integer, scope_id bigint, large boolean, active bigint, changes bigint, removed_at bigint,
    body text, vector vector
)
LANGUAGE plpgsql VOLATILE AS $$
BEGIN
    PERFORM set_config('mnemic.tenant', wanted_tenant, true), set_config('statement_timeout', milliseconds, true);
    PERFORM pg_advisory_xact_lock(lock);
    RETURN QUERY
        SELECT p.model, p.dimension, s.scope_id, s.large, s.active, s.changes, s.removed_at, v.body, m.vector
        FROM space p
        LEFT JOIN scope s ON s.tenant = wanted_tenant AND s.level = wanted_level AND s.owner = wanted_owner
        LEFT JOIN memory m ON m.tenant = wanted_tenant AND m.scope_id = s.scope_id
            AND m.status = 'active' AND m.fingerprint = wanted AND m.fingerprint <> ''
        LEFT JOIN memory_version v ON v.tenant = wanted_tenant AND v.memory_id = m.memory_id AND v.version = m.version;
END
$$;
