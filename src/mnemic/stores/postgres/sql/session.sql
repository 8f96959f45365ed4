-- The beginning and the end of transactions.

-- name: name_tenant
SELECT set_config('mnemic.tenant', $1, true), set_config('statement_timeout', $2, true)

-- name: enter
SELECT (SELECT model FROM space) AS model, (SELECT dimension FROM space) AS dimension, entered.*
FROM enter($1, $2, $3, $4) entered

-- name: enter_writing
SELECT model, dimension, scope_id, large, active, changes, removed_at,
       body, checksum, vector_send(vector) AS vector, vector_check, memory_id
FROM enter_checked($1, $2, $3, $4, $5, $6)

-- name: enter_writing_marked
-- The same, then with the lock of the mark $7, which is $8, and the mark. Its function reads what was committed when it got the lock,
-- and it is called for the row of the scope, so after that is locked.
SELECT model, dimension, scope_id, large, active, changes, removed_at,
       body, e.checksum, vector_send(vector) AS vector, vector_check, memory_id,
       k.name AS mark, k.value AS mark_value, k.checksum AS mark_checksum
FROM enter_checked($1, $2, $3, $4, $5, $6) e
LEFT JOIN LATERAL (
    SELECT name, value, checksum
    FROM marks_between($1, $7, nullif(pg_advisory_xact_lock_shared($8)::text || left(e.model, 0), ''), 1)
    WHERE name = $7
) k ON true

-- name: name_drain
SELECT set_config('mnemic.drain', 'on', true), set_config('statement_timeout', $1, true)

-- name: lock
SELECT set_config('mnemic.tenant', $1, true), set_config('statement_timeout', $2, true), pg_advisory_xact_lock($3)

-- name: approximately
-- A plan for these very values that goes through the vector index, which goes on until enough rows pass the filter.
SELECT set_config('plan_cache_mode', 'force_custom_plan', true), set_config('enable_sort', 'off', true),
       set_config('enable_bitmapscan', 'off', true),
       set_config('hnsw.iterative_scan', 'relaxed_order', true), set_config('hnsw.ef_search', '200', true)

-- name: exactly
SELECT set_config('plan_cache_mode', 'force_generic_plan', true), set_config('enable_sort', 'on', true),
       set_config('enable_bitmapscan', 'on', true)

-- name: secret
SELECT secret, checksum FROM tenant WHERE tenant = $1

-- name: make_secret
INSERT INTO tenant (tenant, secret, checksum) VALUES ($1, $2, $3) ON CONFLICT DO NOTHING
