-- What feeds a process's search index of one scope.

-- name: changes
SELECT changes FROM scope WHERE tenant = $1 AND scope_id = $2

-- name: entries
-- The memories changed after the one with `changed` $3 and `number` $4, in the order of their changes.
SELECT m.number, m.memory_id, m.kind, m.status, m.key, m.category, m.happened_at, m.began_at, m.ended_at, m.expires_at,
       m.vector, m.content, m.context, m.session, m.turn, m.speaker, m.cues, m.changed,
       m.vector_check, m.words_check
FROM memory m
WHERE m.tenant = $1 AND m.scope_id = $2 AND (m.changed, m.number) > ($3::bigint, $4::bigint)
ORDER BY m.changed, m.number
LIMIT $5

-- name: numbers
SELECT m.number FROM memory m WHERE m.tenant = $1 AND m.scope_id = $2

-- name: bodies
SELECT {columns} FROM {sources} WHERE m.tenant = $1 AND m.memory_id = ANY ($2::text[])
