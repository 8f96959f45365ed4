-- An application's documents: what SQLite does otherwise; the rest is in the core's relational/sql. $2 hides what has expired by then, unless it is NULL.

-- name: find_near
-- By the best of each document's vectors, exactly; those of another dimension and documents without any come last.
WITH {under}
SELECT {document}, near.score
FROM under d
LEFT JOIN LATERAL (
    SELECT max(-(v.vector <#> wanted.vector)) AS score
    FROM document_vector v
    CROSS JOIN (SELECT $7::real[]::vector AS vector OFFSET 0) wanted
    WHERE v.tenant = $1 AND v.row_id = d.row_id AND vector_dims(v.vector) = vector_dims(wanted.vector)
) near ON true
ORDER BY near.score DESC NULLS LAST, d.updated_at DESC
LIMIT $3 OFFSET $4

-- name: delete
DELETE FROM document d
USING unnest($2::bytea[], $3::bytea[]) AS gone (path, key)
WHERE d.tenant = $1 AND d.path = gone.path AND d.key = gone.key

-- name: put
INSERT INTO document (tenant, path, key, value, created_at, updated_at, ttl, expires_at)
SELECT $1, put.path, put.key, put.value, put.at, put.at, put.ttl, put.at + put.ttl
FROM unnest($2::bytea[], $3::bytea[], $4::text[], $5::bigint[], $6::bigint[]) AS put (path, key, value, at, ttl)
ON CONFLICT (tenant, path, key) DO UPDATE SET
    value = excluded.value, updated_at = excluded.updated_at, ttl = excluded.ttl, expires_at = excluded.expires_at
RETURNING path, key, row_id

-- name: clear_vectors
DELETE FROM document_vector WHERE tenant = $1 AND row_id = ANY ($2::bigint[])

-- name: put_vectors
INSERT INTO document_vector (tenant, row_id, place, vector)
SELECT $1, entry.row_id, entry.place, entry.vector::vector
FROM unnest($2::bigint[], $3::integer[], $4::text[]) AS entry (row_id, place, vector)
