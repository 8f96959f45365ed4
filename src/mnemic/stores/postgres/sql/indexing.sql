-- What feeds a process's search index of one scope.

-- name: changes
SELECT changes FROM scope WHERE tenant = $1 AND scope_id = $2

-- name: entries
-- The memories changed after the one with `changed` $3 and `number` $4, in the order of their changes.
SELECT m.number, m.memory_id, m.kind, m.status, m.key, m.category, m.happened_at, m.began_at, m.ended_at, m.expires_at,
       vector_send(m.vector) AS vector, m.content, m.context, m.session, m.turn, m.speaker, m.cues, m.changed,
       m.vector_check, m.words_check
FROM memory m
WHERE m.tenant = $1 AND m.scope_id = $2 AND (m.changed, m.number) > ($3::bigint, $4::bigint)
ORDER BY m.changed, m.number
LIMIT $5

-- name: numbers
SELECT m.number FROM memory m WHERE m.tenant = $1 AND m.scope_id = $2

-- name: bodies
SELECT {columns} FROM {sources} WHERE m.tenant = $1 AND m.memory_id = ANY ($2::text[])

-- name: place
SELECT scope_id, changes, removed_at FROM scope WHERE tenant = $1 AND level = $2 AND owner = $3

-- name: changed
-- What the memories changed since the change $3 say.
SELECT m.memory_id, textsend(v.body) AS body, v.checksum
FROM memory m
JOIN memory_version v ON v.tenant = m.tenant AND v.memory_id = m.memory_id AND v.version = m.version
WHERE m.tenant = $1 AND m.scope_id = $2 AND m.changed > $3

-- name: names
SELECT m.memory_id FROM memory m WHERE m.tenant = $1 AND m.scope_id = $2
