-- What jobs ask for: walks over a whole tenant, counts, and proof that something is gone.

-- name: scan
SELECT {columns}
FROM {sources}
WHERE {asked} AND m.status = ANY ($9::text[])
ORDER BY m.memory_id
LIMIT $6

-- name: scan_pending
-- The same for the review queue alone, which has an index.
SELECT {columns}
FROM {sources}
WHERE {asked} AND m.status = 'pending_review'
ORDER BY m.memory_id
LIMIT $6

-- name: marks
SELECT * FROM marks_between($1, $2, $3, $4)

-- name: now
SELECT clock_timestamp()

-- name: content_tables
-- Those of which a removed row says something about somebody; of a partitioned table each part.
SELECT c.oid::regclass::text FROM pg_class c
WHERE c.relnamespace = 'mnemic'::regnamespace AND c.relkind = 'r'
AND c.relname ~ '^(memory|memory_version_[0-9]+|term_posting_[0-9]+|facet|request|mark|outbox|graph_node|graph_relation)$'

-- name: unvacuumed
SELECT count(*) FROM pg_class c
WHERE c.relnamespace = 'mnemic'::regnamespace AND c.relkind = 'r'
AND c.relname ~ '^(memory|memory_version_[0-9]+|term_posting_[0-9]+|facet|request|mark|outbox|graph_node|graph_relation)$'
AND coalesce(greatest(pg_stat_get_last_vacuum_time(c.oid), pg_stat_get_last_autovacuum_time(c.oid)), '-infinity') < $1
