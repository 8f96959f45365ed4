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
    LIMIT $12
) page
ORDER BY page.happened_at DESC, page.memory_id DESC
LIMIT $12

-- name: nearest
-- Every vector of the scopes is compared. MATERIALIZED keeps the planner from an approximate index.
WITH {places}, near AS MATERIALIZED (
    SELECT m.memory_id, -(m.vector <#> $12) AS score
    FROM places
    JOIN memory m ON m.scope_id = places.scope_id
    WHERE m.vector IS NOT NULL AND {accepted}
)
SELECT memory_id, score FROM near ORDER BY score DESC, memory_id DESC LIMIT $13

-- name: sizes
WITH {places} SELECT level, owner, active, large FROM places

-- name: approximate
-- From the approximate index, with the settings of `approximately`: about in order, so more than asked for, and sorted again.
WITH {places}, near AS MATERIALIZED (
    SELECT page.memory_id, page.score
    FROM places
    CROSS JOIN LATERAL (
        SELECT m.memory_id, -(m.vector <#> $12) AS score
        FROM memory m
        WHERE m.large AND m.vector IS NOT NULL AND m.scope_id = places.scope_id AND {accepted}
        ORDER BY m.vector <#> $12
        LIMIT 2 * $13
    ) page
)
SELECT memory_id, score FROM near ORDER BY score DESC, memory_id DESC LIMIT $13

-- name: match
-- BM25 over two fields (mnemic.text.bm25), with the statistics of each scope. $12: terms, $13: k1, $14: b, $15 and $16: the
-- weights of content and context, $17: phrases that must stand in one of the fields, $18: limit. The postings are read
-- twice, from the index alone: that costs less than to keep them. Filters are applied from the best down.
WITH {places}, telling AS MATERIALIZED (
    SELECT places.scope_id, wanted.term, ln(1 + (places.active - held.holders + 0.5) / (held.holders + 0.5)) AS idf,
           1 - $14::float8 AS base, $14 / places.content_average AS content_slope,
           $14 / places.context_average AS context_slope
    FROM places
    CROSS JOIN unnest($12::integer[]) AS wanted (term)
    CROSS JOIN LATERAL (
        SELECT count(*) FILTER (WHERE p.active)::float8 AS holders
        FROM posting p
        WHERE p.tenant = $1 AND p.scope_id = places.scope_id AND p.term = wanted.term
    ) held
), scored AS (
    SELECT p.number, any_value(p.scope_id) AS scope_id, sum(t.idf * (1 - $13::float8 / ($13 + (
        $15::float8 * p.content / (t.base + t.content_slope * p.content_length)
        + $16::float8 * p.context / (t.base + t.context_slope * p.context_length)
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
        WHERE m.scope_id = best.scope_id AND m.number = best.number AND {accepted}
        AND NOT EXISTS (
            SELECT FROM unnest($17::bytea[]) AS phrase
            WHERE position(phrase IN m.content) = 0 AND position(phrase IN m.context) = 0
        )
        OFFSET 0
    ) m
    ORDER BY best.score DESC
    FETCH FIRST $18 ROWS WITH TIES
)
SELECT memory_id, score FROM ranked ORDER BY score DESC, memory_id DESC LIMIT $18
