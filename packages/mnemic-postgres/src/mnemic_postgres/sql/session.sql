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
