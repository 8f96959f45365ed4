-- The outbox of all tenants, as whoever drains it sees it.

-- name: pending
SELECT * FROM left_for($1, $2)

-- name: take
SELECT take($1::bigint[], $2)

-- name: remove
DELETE FROM outbox WHERE sequence = ANY ($1::bigint[])

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
