-- Questions about an application's documents of a tenant ($1). $2 hides what has expired by then, unless it is NULL.

-- part: document
d.row_id, d.path, d.key, d.value, d.created_at, d.updated_at, d.expires_at

-- part: live
($2::bigint IS NULL OR d.expires_at IS NULL OR d.expires_at > $2)

-- part: page
LIMIT $3 OFFSET $4

-- part: page sqlite
LIMIT coalesce($3, -1) OFFSET $4

-- part: under
WITH under AS MATERIALIZED (
    SELECT d.* FROM document d WHERE d.tenant = $1 AND d.path >= $5 AND d.path < $6 AND {live}
)

-- part: under sqlite
WITH under AS (SELECT d.* FROM document d WHERE d.tenant = $1 AND d.path >= $5 AND d.path < $6 AND {live})

-- name: get
SELECT {document}, NULL::float8 AS score
FROM document d
WHERE d.tenant = $1 AND {live} AND d.path = $3 AND d.key = $4

-- name: find
-- Of the whole tenant: the index on changes gives the order.
SELECT {document}, NULL::float8 AS score
FROM document d
WHERE d.tenant = $1 AND {live}
ORDER BY d.updated_at DESC
{page}

-- name: find_under
{under}
SELECT {document}, NULL::float8 AS score
FROM under d
ORDER BY d.updated_at DESC
{page}

-- name: paths
SELECT DISTINCT d.path FROM document d WHERE d.tenant = $1 AND {live}

-- part: rows
= ANY ($3::bigint[])

-- part: rows sqlite
IN (SELECT value FROM json_each($3))

-- name: refresh
UPDATE document SET expires_at = $2 + ttl WHERE tenant = $1 AND ttl IS NOT NULL AND row_id {rows}

-- name: last_change
SELECT coalesce(max(updated_at), 0) FROM document WHERE tenant = $1

-- name: sweep
DELETE FROM document WHERE tenant = $1 AND expires_at <= $2 RETURNING 1
