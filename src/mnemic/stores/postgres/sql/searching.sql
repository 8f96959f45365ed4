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
        SELECT m.memory_id, -(m.vector <#> (SELECT $4::real[]::vector)) AS score
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
        SELECT m.memory_id, -(m.vector <#> (SELECT $4::real[]::vector)) AS score
        FROM memory m
        WHERE m.large AND m.vector IS NOT NULL AND m.scope_id = places.scope_id AND {accepted}
        ORDER BY m.vector <#> (SELECT $4::real[]::vector)
        LIMIT 2 * $5
    ) page
)
SELECT memory_id, score FROM near ORDER BY score DESC, memory_id DESC LIMIT $5

-- name: match
-- Of large scopes, whose postings are kept: they are read twice, from the index alone, which costs less than to keep them.
WITH {places}, posted AS NOT MATERIALIZED (SELECT * FROM term_posting WHERE tenant = $1), {best_matching}

-- name: match_scanned
-- Of the other scopes, by reading the words of every memory. $11: the terms $4 as they are packed.
WITH {places}, posted AS MATERIALIZED (
    SELECT $1::text AS tenant, m.scope_id, wanted.term, m.number, times(wanted.packed, m.content) AS content,
           times(wanted.packed, m.context) AS context, m.content_length, m.context_length,
           m.status = 'active' AS active
    FROM places
    JOIN memory m ON m.tenant = $1 AND m.scope_id = places.scope_id
    CROSS JOIN unnest($4::integer[], $11::bytea[]) AS wanted (term, packed)
    WHERE position(wanted.packed IN m.content) > 0 OR position(wanted.packed IN m.context) > 0
), {best_matching}
