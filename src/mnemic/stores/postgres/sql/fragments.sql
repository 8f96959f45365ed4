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

-- part: best_matching
-- BM25 over two fields (mnemic.language.text.bm25) of the postings `posted`, with the statistics of each scope. $4: terms, $5: k1, $6: b,
-- $7 and $8: the weights of content and context, $9: phrases of which one of the fields has each, $10: limit. Filters are applied
-- from the best down.
telling AS MATERIALIZED (
    SELECT places.scope_id, wanted.term, ln(1 + (places.active - held.holders + 0.5) / (held.holders + 0.5)) AS idf,
           1 - $6::float8 AS base, $6 / places.content_average AS content_slope,
           $6 / places.context_average AS context_slope
    FROM places
    CROSS JOIN unnest($4::integer[]) AS wanted (term)
    CROSS JOIN LATERAL (
        SELECT count(*) FILTER (WHERE p.active)::float8 AS holders
        FROM posted p
        WHERE p.tenant = $1 AND p.scope_id = places.scope_id AND p.term = wanted.term
    ) held
), scored AS (
    SELECT p.number, sum(t.idf * (1 - $5::float8 / ($5 + (
        $7::float8 * p.content / (t.base + t.content_slope * p.content_length)
        + $8::float8 * p.context / (t.base + t.context_slope * p.context_length)
    )))) AS score
    FROM telling t
    JOIN posted p ON p.tenant = $1 AND p.scope_id = t.scope_id AND p.term = t.term
    GROUP BY p.number
), ranked AS (
    SELECT m.memory_id, best.score
    FROM (SELECT * FROM scored WHERE score > 0 ORDER BY score DESC OFFSET 0) best
    CROSS JOIN LATERAL (
        SELECT m.memory_id
        FROM memory m
        WHERE m.number = best.number AND {accepted}
        AND NOT EXISTS (
            SELECT FROM unnest($9::bytea[]) AS phrase
            WHERE position(phrase IN m.content) = 0 AND position(phrase IN m.context) = 0
        )
        OFFSET 0
    ) m
    ORDER BY best.score DESC
    FETCH FIRST $10 ROWS WITH TIES
)
SELECT memory_id, score FROM ranked ORDER BY score DESC, memory_id DESC LIMIT $10

-- part: columns
textsend(v.body) AS body, v.checksum, vector_send(m.vector) AS vector, m.vector_check, s.tenant, s.level, s.owner,
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

-- part: posted_columns
m.tenant, m.scope_id, m.number, m.content, m.context, m.content_length, m.context_length, m.status

-- part: postings_of_moved
(tenant, scope_id, term, number, content, context, content_length, context_length, active)
SELECT moved.tenant, moved.scope_id, entry.term, moved.number, entry.content, entry.context, moved.content_length,
       moved.context_length, moved.status = 'active'
FROM moved CROSS JOIN LATERAL postings_of(moved.content, moved.context) AS entry
