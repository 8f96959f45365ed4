-- The ranked lists.

-- name: recent
WITH {places}
SELECT page.memory_id, page.happened_at
FROM places
CROSS JOIN LATERAL (
    SELECT m.memory_id, m.happened_at
    FROM memory m
    WHERE m.scope_id = places.scope_id AND {accepted}
    ORDER BY m.happened_at DESC, m.memory_id DESC
    LIMIT $4
) page
ORDER BY page.happened_at DESC, page.memory_id DESC
LIMIT $4

-- name: nearest
-- Every vector of the scopes is compared. MATERIALIZED keeps the planner from an approximate index.
WITH {places}, near AS MATERIALIZED (
    SELECT held.memory_id, held.score
    FROM places
    CROSS JOIN LATERAL (
        SELECT m.memory_id, -(m.vector <#> $4) AS score
        FROM memory m
        WHERE m.scope_id = places.scope_id AND m.vector IS NOT NULL AND {accepted}
        OFFSET 0
    ) held
)
SELECT memory_id, score FROM near ORDER BY score DESC, memory_id DESC LIMIT $5

-- name: approximate
-- From the approximate index, with the settings of `approximately`: about in order, so more than asked for, and sorted again.
WITH {places}, near AS MATERIALIZED (
    SELECT page.memory_id, page.score
    FROM places
    CROSS JOIN LATERAL (
        SELECT m.memory_id, -(m.vector <#> $4) AS score
        FROM memory m
        WHERE m.large AND m.vector IS NOT NULL AND m.scope_id = places.scope_id AND {accepted}
        ORDER BY m.vector <#> $4
        LIMIT 2 * $5
    ) page
)
SELECT memory_id, score FROM near ORDER BY score DESC, memory_id DESC LIMIT $5

-- name: match
-- BM25 over two fields (mnemic.text.bm25), with the statistics of each scope. $4: terms, $5: k1, $6: b, $7 and $8: the
-- weights of content and context, $9: phrases that must stand in one of the fields, $10: limit. The postings are read
-- twice, from the index alone: that costs less than to keep them. Filters are applied from the best down.
WITH {places}, telling AS MATERIALIZED (
    SELECT places.scope_id, wanted.term, ln(1 + (places.active - held.holders + 0.5) / (held.holders + 0.5)) AS idf,
           1 - $6::float8 AS base, $6 / places.content_average AS content_slope,
           $6 / places.context_average AS context_slope
    FROM places
    CROSS JOIN unnest($4::integer[]) AS wanted (term)
    CROSS JOIN LATERAL (
        SELECT count(*) FILTER (WHERE p.active)::float8 AS holders
        FROM posting p
        WHERE p.tenant = $1 AND p.scope_id = places.scope_id AND p.term = wanted.term
    ) held
), scored AS (
    SELECT p.number, sum(t.idf * (1 - $5::float8 / ($5 + (
        $7::float8 * p.content / (t.base + t.content_slope * p.content_length)
        + $8::float8 * p.context / (t.base + t.context_slope * p.context_length)
    )))) AS score
    FROM telling t
    JOIN posting p ON p.tenant = $1 AND p.scope_id = t.scope_id AND p.term = t.term
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
