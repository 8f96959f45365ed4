-- What tells whether rows are what was written.

-- name: memories
SELECT {columns}, m.key, m.category, m.fingerprint, m.began_at, m.ended_at, m.session, vector_send(m.next_vector) AS next_vector, m.next_vector_check,
       m.content, m.context, m.speaker, m.cues, m.words_check
FROM {sources}
WHERE m.tenant = $1 AND m.memory_id > $2
ORDER BY m.memory_id
LIMIT $3

-- name: versions
SELECT v.memory_id, v.version, m.version AS present, textsend(v.body) AS body, v.checksum, s.tenant, s.level, s.owner
FROM memory_version v
JOIN memory m ON m.tenant = v.tenant AND m.memory_id = v.memory_id
JOIN scope s ON s.tenant = m.tenant AND s.scope_id = m.scope_id
WHERE v.tenant = $1 AND (v.memory_id, v.version) > ($2, $3)
ORDER BY v.memory_id, v.version
LIMIT $4

-- name: mark
SELECT name, value, checksum FROM mark WHERE tenant = $1

-- name: request
SELECT digest, receipt, checksum FROM request WHERE tenant = $1

-- name: tenant
SELECT tenant, secret, checksum FROM tenant WHERE tenant = $1
