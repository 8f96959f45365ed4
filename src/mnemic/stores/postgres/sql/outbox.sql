-- The outbox of all tenants, as whoever drains it sees it.

-- name: pending
SELECT sequence, tenant, level, owner, action, memory_id, version
FROM outbox
WHERE $1::text IS NULL OR $1 <> ALL (taken)
ORDER BY sequence
LIMIT $2

-- name: remove
DELETE FROM outbox WHERE sequence = ANY ($1::bigint[])

-- name: remove_taken
-- Those that every registered projection but $2 has taken.
DELETE FROM outbox o
WHERE o.sequence = ANY ($1::bigint[])
AND NOT EXISTS (SELECT FROM projection p WHERE p.name <> $2::text AND p.name <> ALL (o.taken))

-- name: take
-- The row's lock makes two projections that come at once see each other.
UPDATE outbox SET taken = array_append(taken, $2::text)
WHERE sequence = ANY ($1::bigint[]) AND $2 <> ALL (taken)
RETURNING sequence

-- name: register
INSERT INTO projection (name) VALUES ($1) ON CONFLICT DO NOTHING

-- name: unregister
DELETE FROM projection WHERE name = $1

-- name: remove_left
-- What all that are left have taken, when there are any.
DELETE FROM outbox o
WHERE $1::text <> ALL (o.taken) AND EXISTS (SELECT FROM projection)
AND NOT EXISTS (SELECT FROM projection p WHERE p.name <> ALL (o.taken))

-- name: forget_taken
UPDATE outbox SET taken = array_remove(taken, $1::text) WHERE $1 = ANY (taken)

-- name: projections
SELECT p.name, (SELECT count(*) FROM outbox o WHERE p.name <> ALL (o.taken)) AS waiting FROM projection p ORDER BY p.name
