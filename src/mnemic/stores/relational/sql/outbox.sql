-- The outbox of all tenants, as whoever drains it sees it. `taken`: the projections that have taken an entry, an array in
-- PostgreSQL and JSON in SQLite.

-- name: pending
SELECT * FROM left_for($1, $2)

-- name: pending sqlite
SELECT sequence, tenant, level, owner, action, memory_id, version FROM outbox
WHERE $1 IS NULL OR $1 NOT IN (SELECT value FROM json_each(taken))
ORDER BY sequence LIMIT $2

-- name: take
-- In PostgreSQL both halves: entries that all have taken are removed.
SELECT take($1::bigint[], $2)

-- name: take sqlite
UPDATE outbox SET taken = json_insert(taken, '$[#]', $2)
WHERE sequence IN (SELECT value FROM json_each($1)) AND $2 NOT IN (SELECT value FROM json_each(taken))

-- name: remove_taken sqlite
DELETE FROM outbox
WHERE sequence IN (SELECT value FROM json_each($1))
AND NOT EXISTS (
    SELECT 1 FROM projection p WHERE p.name IS NOT $2 AND p.name NOT IN (SELECT value FROM json_each(outbox.taken))
)

-- name: remove
DELETE FROM outbox WHERE sequence = ANY ($1::bigint[])

-- name: remove sqlite
DELETE FROM outbox WHERE sequence IN (SELECT value FROM json_each($1))

-- name: register
INSERT INTO projection (name) VALUES ($1) ON CONFLICT DO NOTHING

-- name: unregister
DELETE FROM projection WHERE name = $1

-- name: remove_left
-- What all that are left have taken, when there are any.
DELETE FROM outbox o
WHERE $1::text <> ALL (o.taken) AND EXISTS (SELECT FROM projection)
AND NOT EXISTS (SELECT FROM projection p WHERE p.name <> ALL (o.taken))

-- name: remove_left sqlite
DELETE FROM outbox
WHERE $1 NOT IN (SELECT value FROM json_each(taken)) AND EXISTS (SELECT 1 FROM projection)
AND NOT EXISTS (SELECT 1 FROM projection p WHERE p.name NOT IN (SELECT value FROM json_each(outbox.taken)))

-- name: forget_taken
UPDATE outbox SET taken = array_remove(taken, $1::text) WHERE $1 = ANY (taken)

-- name: forget_taken sqlite
UPDATE outbox SET taken = (SELECT json_group_array(value) FROM json_each(taken) WHERE value <> $1)

-- name: projections
SELECT p.name, (SELECT count(*) FROM outbox o WHERE p.name <> ALL (o.taken)) FROM projection p ORDER BY p.name

-- name: projections sqlite
SELECT p.name, (
    SELECT count(*) FROM outbox o WHERE p.name NOT IN (SELECT value FROM json_each(o.taken))
) FROM projection p ORDER BY p.name
