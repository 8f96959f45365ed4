-- Questions of jobs about a tenant ($1): counts, pages, and proof that something is gone.

-- name: waiting
SELECT count(*) FROM memory WHERE tenant = $1 AND status = 'pending_review'

-- part: held_memories
u.memories

-- part: held_memories sqlite
u.rows

-- name: usage
SELECT u.kind, sum({held_memories})::bigint, sum(u.bytes)::bigint
FROM usage u
JOIN scope s ON s.tenant = u.tenant AND s.scope_id = u.scope_id
WHERE u.tenant = $1 AND s.level = $2 AND s.owner = $3
GROUP BY u.kind
HAVING sum({held_memories}) > 0

-- part: totals
usage_lane

-- part: totals sqlite
tenant_usage

-- name: usage_of_tenant
SELECT u.kind, sum({held_memories})::bigint, sum(u.bytes)::bigint
FROM {totals} u
WHERE u.tenant = $1
GROUP BY u.kind
HAVING sum({held_memories}) > 0

-- part: created_at
m.created_at

-- part: created_at sqlite
CASE WHEN json_valid(m.body) THEN m.body ->> '$.created_at' END

-- name: recent_usage
-- From the index of identifiers, which sort by creation.
SELECT m.kind, count(*)
FROM memory m
JOIN scope s ON s.tenant = m.tenant AND s.scope_id = m.scope_id
WHERE m.tenant = $1 AND ($2::text IS NULL OR (s.level = $2 AND s.owner = $3::text))
AND m.memory_id >= $4 AND {created_at} >= $5
GROUP BY m.kind

-- name: requests
SELECT idempotency_key, receipt, at
FROM request
WHERE tenant = $1 AND ($2::text IS NULL OR idempotency_key > $2)
ORDER BY idempotency_key
LIMIT $3

-- name: audit
SELECT sequence, event, hash FROM audit WHERE tenant = $1 AND sequence > $2 ORDER BY sequence LIMIT $3

-- name: audit_end
SELECT sequence, event, hash FROM audit
WHERE tenant = $1 AND sequence > $2 AND sequence < $3
ORDER BY sequence DESC LIMIT $4

-- part: version_fingerprint
fingerprint

-- part: version_fingerprint sqlite
CASE WHEN json_valid(body) THEN body ->> '$.fingerprint' END

-- part: said
unnest($4::text[]) AS said (value)

-- part: said sqlite
json_each($4) AS said

-- part: in_receipt
strpos(receipt, said.value)

-- part: in_receipt sqlite
instr(receipt, said.value)

-- part: facets
facet WHERE tenant = $1 AND memory_id {any $2}

-- part: facets sqlite
facet f JOIN scope c ON c.scope_id = f.scope_id WHERE c.tenant = $1 AND f.memory_id {any $2}

-- name: traces
-- $2: identifiers, $3: fingerprints, $4: the identifiers as they are in JSON.
SELECT
    (SELECT count(*) FROM memory WHERE tenant = $1 AND (memory_id {any $2} OR fingerprint {any $3})),
    (SELECT count(*) FROM memory_version WHERE tenant = $1 AND (memory_id {any $2} OR {version_fingerprint} {any $3})),
    (SELECT count(*) FROM outbox WHERE tenant = $1 AND memory_id {any $2}),
    (SELECT count(*) FROM request WHERE tenant = $1 AND EXISTS (SELECT 1 FROM {said} WHERE {in_receipt} > 0)),
    (SELECT count(*) FROM graph_node WHERE tenant = $1 AND memory_id {any $2})
    + (SELECT count(*) FROM graph_relation WHERE tenant = $1 AND memory_id {any $2}),
    (SELECT count(*) FROM {facets})
