-- What tells whether rows are what was written, and what gives checksums to those that have none.

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
SELECT name, value, checksum FROM mark WHERE tenant = $1 AND checksum IS NOT NULL

-- name: request
SELECT digest, receipt, checksum FROM request WHERE tenant = $1 AND checksum IS NOT NULL

-- name: tenant
SELECT tenant, secret, checksum FROM tenant WHERE tenant = $1 AND checksum IS NOT NULL

-- name: unchecked_versions
SELECT v.tenant, v.memory_id, v.version, textsend(v.body) AS body, s.level, s.owner
FROM memory_version v
JOIN memory m ON m.tenant = v.tenant AND m.memory_id = v.memory_id
JOIN scope s ON s.tenant = m.tenant AND s.scope_id = m.scope_id
WHERE v.checksum IS NULL AND (v.tenant, v.memory_id, v.version) > ($1, $2, $3)
ORDER BY v.tenant, v.memory_id, v.version
LIMIT $4
FOR UPDATE OF v

-- name: check_versions
UPDATE memory_version v SET checksum = given.sum
FROM unnest($1::text[], $2::text[], $3::integer[], $4::bigint[]) AS given (tenant, memory_id, version, sum)
WHERE v.tenant = given.tenant AND v.memory_id = given.memory_id AND v.version = given.version

-- name: unchecked_memories
SELECT m.tenant, m.memory_id, m.version, m.vector::real[] AS near, m.next_vector::real[] AS next,
       m.content, m.context, m.speaker, m.cues
FROM memory m
WHERE m.words_check IS NULL AND (m.tenant, m.memory_id) > ($1, $2)
ORDER BY m.tenant, m.memory_id
LIMIT $3
FOR UPDATE

-- name: check_memories
UPDATE memory m SET vector_check = given.near, next_vector_check = given.next, words_check = given.words
FROM unnest($1::text[], $2::text[], $3::integer[], $4::bigint[], $5::bigint[], $6::bigint[])
    AS given (tenant, memory_id, version, near, next, words)
WHERE m.tenant = given.tenant AND m.memory_id = given.memory_id AND m.version = given.version
