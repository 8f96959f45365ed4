-- Parts that several statements share; a statement names one as {part}.

-- part: places
-- The scopes that a filter names, with their statistics.
places AS MATERIALIZED (
    SELECT s.scope_id, s.level, s.owner, s.active, s.large,
           coalesce(nullif(s.content_total::float8 / greatest(s.active, 1), 0), 1) AS content_average,
           coalesce(nullif(s.context_total::float8 / greatest(s.active, 1), 0), 1) AS context_average
    FROM scope s
    WHERE s.tenant = $1 AND (s.level, s.owner) IN (SELECT * FROM unnest($2::text[], $3::text[]))
)

-- part: accepted
-- Where.accepts for a memory m of one of the scopes.
m.tenant = $1
AND m.status = ANY ($4::text[])
AND ($5::text[] IS NULL OR m.kind = ANY ($5))
AND ($6::bytea[] IS NULL OR m.category = ANY ($6))
AND ($7::bytea[] IS NULL OR m.key = ANY ($7))
AND ($8::bigint IS NULL OR m.happened_at >= $8)
AND ($9::bigint IS NULL OR m.happened_at < $9)
AND ($10::bigint IS NULL OR m.expires_at IS NULL OR m.expires_at > $10)
AND ($11::bigint IS NULL OR (m.began_at <= $11 AND (m.ended_at IS NULL OR m.ended_at > $11)))

-- part: columns
v.body, m.vector, s.tenant, s.level, s.owner

-- part: sources
memory m
JOIN scope s ON s.tenant = m.tenant AND s.scope_id = m.scope_id
JOIN memory_version v ON v.tenant = m.tenant AND v.memory_id = m.memory_id AND v.version = m.version
