-- Each row says what it was written as: 64 bits over what a memory, a mark, a request or a tenant's secret says, CRC-32 over vectors
-- and hashed words (docs/adr/0030). They are compared by whoever reads a row. A row of before has none and is believed, until a whole
-- tidying gives it one; to fill them in here would write every row anew while everybody waits.

ALTER TABLE memory_version ADD COLUMN checksum bigint;
ALTER TABLE memory
    ADD COLUMN vector_check bigint,
    ADD COLUMN next_vector_check bigint,
    ADD COLUMN words_check bigint;
ALTER TABLE mark ADD COLUMN checksum bigint;
ALTER TABLE request ADD COLUMN checksum bigint;
ALTER TABLE tenant ADD COLUMN checksum bigint;

-- What `marks_of`, `held_under`, `held_as` and `enter_writing` tell, with the checksums, and with what is known of a memory without its
-- body. Processes of before go on calling those. A body is given as its bytes: damaged, it may be no text.

CREATE FUNCTION checked_marks(wanted_tenant text, prefix text) RETURNS TABLE (name text, value text, checksum bigint)
LANGUAGE plpgsql AS $$
BEGIN
    PERFORM set_config('mnemic.tenant', wanted_tenant, true);
    RETURN QUERY
        SELECT k.name, k.value, k.checksum FROM mark k
        WHERE k.tenant = wanted_tenant AND k.name >= prefix AND starts_with(k.name, prefix)
        ORDER BY k.name;
END
$$;

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
