-- Where.accepts for a memory m of one of the scopes: a condition for each thing that a filter can ask for. Only those that it
-- does ask for become part of a statement, so that the planner knows what it plans for.

-- name: statuses
m.status = ANY ({value}::text[])

-- name: kinds
m.kind = ANY ({value}::text[])

-- name: categories
m.category = ANY ({value}::bytea[])

-- name: keys
m.key = ANY ({value}::bytea[])

-- name: hidden_keys
(m.key IS NULL OR m.key <> ALL ({value}::bytea[]))

-- name: memory_ids
m.memory_id = ANY ({value}::text[])

-- name: happened_from
m.happened_at >= {value}::bigint

-- name: happened_to
m.happened_at < {value}::bigint

-- name: live_at
(m.expires_at IS NULL OR m.expires_at > {value}::bigint)

-- name: as_of
m.began_at <= {value}::bigint AND (m.ended_at IS NULL OR m.ended_at > {value}::bigint)
