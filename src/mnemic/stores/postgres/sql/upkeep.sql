-- What jobs ask for: walks over a whole tenant, counts, and proof that something is gone.

-- name: held
SELECT {columns}
FROM {sources}
WHERE {asked} AND m.status = ANY ($9::text[])
ORDER BY m.memory_id
LIMIT $6

-- name: held_pending
-- The same for the review queue alone, which has an index.
SELECT {columns}
FROM {sources}
WHERE {asked} AND m.status = 'pending_review'
ORDER BY m.memory_id
LIMIT $6

-- name: waiting
SELECT count(*) FROM memory WHERE tenant = $1 AND status = 'pending_review'

-- name: usage
SELECT u.kind, sum(u.memories)::bigint AS rows, sum(u.bytes)::bigint AS bytes
FROM usage u
JOIN scope s ON s.tenant = u.tenant AND s.scope_id = u.scope_id
WHERE u.tenant = $1 AND ($2::text IS NULL OR (s.level = $2 AND s.owner = $3::text))
GROUP BY u.kind
HAVING sum(u.memories) > 0

-- name: recent_usage
-- From the index of identifiers, which sort by creation.
SELECT m.kind, count(*) AS number
FROM memory m
JOIN scope s ON s.tenant = m.tenant AND s.scope_id = m.scope_id
WHERE m.tenant = $1 AND ($2::text IS NULL OR (s.level = $2 AND s.owner = $3::text))
AND m.memory_id >= $4 AND m.created_at >= $5
GROUP BY m.kind

-- name: marks
SELECT * FROM checked_marks($1, $2)

-- name: requests
SELECT idempotency_key, receipt, at
FROM request
WHERE tenant = $1 AND ($2::text IS NULL OR idempotency_key > $2)
ORDER BY idempotency_key
LIMIT $3

-- name: traces
-- $2: identifiers, $3: fingerprints, $4: the identifiers as they stand in JSON.
SELECT
    (SELECT count(*) FROM memory
     WHERE tenant = $1 AND (memory_id = ANY ($2::text[]) OR fingerprint = ANY ($3::text[]))) AS memory,
    (SELECT count(*) FROM memory_version
     WHERE tenant = $1 AND (memory_id = ANY ($2::text[]) OR fingerprint = ANY ($3::text[]))) AS memory_version,
    (SELECT count(*) FROM outbox WHERE tenant = $1 AND memory_id = ANY ($2::text[])) AS outbox,
    (SELECT count(*) FROM request WHERE tenant = $1 AND EXISTS (
        SELECT FROM unnest($4::text[]) AS said WHERE position(said IN request.receipt) > 0
    )) AS request,
    (SELECT count(*) FROM graph_node WHERE tenant = $1 AND memory_id = ANY ($2::text[]))
    + (SELECT count(*) FROM graph_relation WHERE tenant = $1 AND memory_id = ANY ($2::text[])) AS graph,
    (SELECT count(*) FROM facet WHERE tenant = $1 AND memory_id = ANY ($2::text[])) AS facet

-- name: audit
SELECT sequence, event, hash FROM audit WHERE tenant = $1 AND sequence > $2 ORDER BY sequence LIMIT $3

-- name: audit_end
SELECT sequence, event, hash FROM audit
WHERE tenant = $1 AND sequence > $2 AND sequence < $3
ORDER BY sequence DESC LIMIT $4

-- name: now
SELECT clock_timestamp()

-- name: content_tables
-- Those of which a removed row says something about somebody; of a partitioned table each part.
SELECT c.oid::regclass::text FROM pg_class c
WHERE c.relnamespace = 'mnemic'::regnamespace AND c.relkind = 'r'
AND c.relname ~ '^(memory|memory_version_[0-9]+|posting_[0-9]+|facet|request|mark|outbox|graph_node|graph_relation)$'

-- name: unvacuumed
SELECT count(*) FROM pg_class c
WHERE c.relnamespace = 'mnemic'::regnamespace AND c.relkind = 'r'
AND c.relname ~ '^(memory|memory_version_[0-9]+|posting_[0-9]+|facet|request|mark|outbox|graph_node|graph_relation)$'
AND coalesce(greatest(pg_stat_get_last_vacuum_time(c.oid), pg_stat_get_last_autovacuum_time(c.oid)), '-infinity') < $1
