-- The beginning and the end of transactions.

-- name: name_tenant
SELECT set_config('mnemic.tenant', $1, true), set_config('statement_timeout', $2, true)

-- name: name_drain
SELECT set_config('mnemic.drain', 'on', true), set_config('statement_timeout', $1, true)

-- name: lock
SELECT set_config('mnemic.tenant', $1, true), set_config('statement_timeout', $2, true), pg_advisory_xact_lock($3)

-- name: secret
SELECT secret FROM tenant WHERE tenant = $1

-- name: make_secret
INSERT INTO tenant (tenant, secret) VALUES ($1, $2) ON CONFLICT DO NOTHING
