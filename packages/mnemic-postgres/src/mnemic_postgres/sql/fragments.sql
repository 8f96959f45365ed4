-- Parts that several statements share; a statement names one as {part}. {accepted} stands for the conditions of filters.sql
-- that the filter asks for.

-- part: places
-- The scopes that a filter names, with their statistics.
places AS MATERIALIZED (
    SELECT s.scope_id, s.level, s.owner, s.active, s.large,
           coalesce(nullif(s.content_total::float8 / greatest(s.active, 1), 0), 1) AS content_average,
           coalesce(nullif(s.context_total::float8 / greatest(s.active, 1), 0), 1) AS context_average
    FROM scope s
    WHERE s.tenant = $1 AND (s.level, s.owner) IN (SELECT * FROM unnest($2::text[], $3::text[]))
)

-- part: columns
textsend(v.body) AS body, v.checksum, m.vector, m.vector_check, s.tenant, s.level, s.owner,
m.memory_id, m.version, m.kind, m.status, m.happened_at, m.expires_at

-- part: sources
memory m
JOIN scope s ON s.tenant = m.tenant AND s.scope_id = m.scope_id
JOIN memory_version v ON v.tenant = m.tenant AND v.memory_id = m.memory_id AND v.version = m.version

-- part: asked
m.tenant = $1 AND ($2::text IS NULL OR m.memory_id > $2)
AND ($3::bigint IS NULL OR m.expires_at <= $3)
AND ($4::bytea IS NULL OR EXISTS (
    SELECT FROM memory_version w WHERE w.tenant = $1 AND w.memory_id = m.memory_id AND w.author = $4
))
AND ($5::text[] IS NULL OR m.memory_id = ANY ($5))
AND ($7::text IS NULL OR (s.level = $7 AND s.owner = $8::text))

-- part: document
d.row_id, d.path, d.key, d.value, d.created_at, d.updated_at, d.expires_at

-- part: under
under AS MATERIALIZED (
    SELECT d.*
    FROM document d
    WHERE d.tenant = $1 AND d.path >= $5 AND d.path < $6 AND ($2::bigint IS NULL OR d.expires_at IS NULL OR d.expires_at > $2)
)
