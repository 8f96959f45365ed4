-- What a transaction changes. The scope's lock is held before any of these.

-- name: scope
SELECT scope_id, large, active, changes, removed_at FROM scope WHERE tenant = $1 AND level = $2 AND owner = $3

-- name: make_scope
INSERT INTO scope (tenant, level, owner) VALUES ($1, $2, $3) RETURNING scope_id, large, active, changes, removed_at

-- name: known_fingerprints
SELECT m.fingerprint FROM memory m
WHERE m.tenant = $1 AND m.scope_id = $2 AND m.status = 'active'
AND m.fingerprint = ANY ($3::text[]) AND m.fingerprint <> ''

-- name: find_pending
SELECT {columns}
FROM {sources}
WHERE m.tenant = $1 AND s.level = $2 AND s.owner = $3
AND m.status = 'pending_review' AND m.fingerprint = $4 AND m.fingerprint <> ''
ORDER BY m.memory_id
LIMIT 1

-- name: find_key
SELECT {columns}
FROM {sources}
WHERE m.tenant = $1 AND s.level = $2 AND s.owner = $3 AND m.status = 'active' AND m.key = $4
ORDER BY m.memory_id

-- name: nearest_in_scope
-- Without the memories that this transaction has changed ($5): its owner adds what they were before.
WITH near AS MATERIALIZED (
    SELECT m.memory_id, -(m.vector <#> (SELECT $4::real[]::vector)) AS score
    FROM scope s
    JOIN memory m ON m.tenant = s.tenant AND m.scope_id = s.scope_id
    WHERE s.tenant = $1 AND s.level = $2 AND s.owner = $3
    AND m.tenant = $1 AND m.status = 'active' AND m.vector IS NOT NULL AND m.memory_id <> ALL ($5::text[])
), best AS (
    SELECT memory_id, score FROM near WHERE score >= $6 ORDER BY score DESC, memory_id DESC LIMIT $7
)
SELECT {columns}, best.score
FROM best
JOIN memory m ON m.tenant = $1 AND m.memory_id = best.memory_id
JOIN scope s ON s.tenant = m.tenant AND s.scope_id = m.scope_id
JOIN memory_version v ON v.tenant = m.tenant AND v.memory_id = m.memory_id AND v.version = m.version

-- name: approximate_in_scope
-- The same from the approximate index, with the settings of `approximately`.
WITH near AS MATERIALIZED (
    SELECT m.memory_id, -(m.vector <#> (SELECT $4::real[]::vector)) AS score
    FROM memory m
    WHERE m.large AND m.tenant = $1 AND m.status = 'active' AND m.vector IS NOT NULL AND m.memory_id <> ALL ($5::text[])
    AND m.scope_id = (SELECT s.scope_id FROM scope s WHERE s.tenant = $1 AND s.level = $2 AND s.owner = $3)
    ORDER BY m.vector <#> (SELECT $4::real[]::vector)
    LIMIT 2 * $7
), best AS (
    SELECT memory_id, score FROM near WHERE score >= $6 ORDER BY score DESC, memory_id DESC LIMIT $7
)
SELECT {columns}, best.score
FROM best
JOIN memory m ON m.tenant = $1 AND m.memory_id = best.memory_id
JOIN scope s ON s.tenant = m.tenant AND s.scope_id = m.scope_id
JOIN memory_version v ON v.tenant = m.tenant AND v.memory_id = m.memory_id AND v.version = m.version

-- name: promote
-- The next memories of a scope into the approximate index and the postings: $3 is where the last batch ended, $4 how many. The
-- scope's lock is held.
WITH batch AS (
    SELECT memory_id FROM memory WHERE tenant = $1 AND scope_id = $2 AND memory_id > $3 ORDER BY memory_id LIMIT $4
), moved AS (
    UPDATE memory m SET large = true FROM batch
    WHERE m.tenant = $1 AND m.memory_id = batch.memory_id AND NOT m.large
    RETURNING {posted_columns}
), posted AS (
    INSERT INTO term_posting {postings_of_moved}
)
SELECT max(memory_id) AS last FROM batch

-- name: promote_rest
-- What came in meanwhile, and from here on whatever comes. The scope's lock is held.
WITH moved AS (
    UPDATE memory m SET large = true WHERE m.tenant = $1 AND m.scope_id = $2 AND NOT m.large
    RETURNING {posted_columns}
), posted AS (
    INSERT INTO term_posting {postings_of_moved}
)
UPDATE scope SET large = true WHERE tenant = $1 AND scope_id = $2

-- name: stored
SELECT m.scope_id, m.number, m.large, m.bytes, m.content, m.context, m.speaker, m.cues, m.content_length, m.context_length,
       m.words_check, {columns}
FROM {sources}
WHERE m.tenant = $1 AND s.level = $2 AND s.owner = $3 AND m.memory_id = $4

-- name: insert
-- Nothing at all where the identifier or the fingerprint is taken. $28: is it a message, $29 to $31: its postings, in a large scope,
-- $32 to $34: the checksums of body, vector and words.
WITH kept AS (
    INSERT INTO memory (
        tenant, scope_id, memory_id, version, kind, status, key, category, fingerprint,
        happened_at, began_at, ended_at, expires_at, session, session_digest, speaker, speaker_digest,
        cues, content, context, content_length, context_length, vector, created_at, large, bytes, turn, changed,
        vector_check, words_check
    )
    VALUES (
        $1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17,
        $18, $19, $20, $21, $22, $23::real[]::vector, $24, $25, octet_length($26::text),
        CASE WHEN $28::boolean THEN (
            SELECT coalesce(max(turn) + 1, 0) FROM memory
            WHERE tenant = $1 AND scope_id = $2 AND session_digest = $15 AND turn IS NOT NULL
        ) END,
        (SELECT changes + 1 FROM scope WHERE tenant = $1 AND scope_id = $2),
        $33, $34
    )
    ON CONFLICT DO NOTHING
    RETURNING number, status = 'active' AS active, bytes, turn, changed
), told AS (
    INSERT INTO memory_version (tenant, memory_id, version, author, fingerprint, body, checksum)
    SELECT $1, $3, $4, $27, $9, $26, $32 FROM kept
), counted AS (
    UPDATE scope
    SET changes = changes + 1, active = scope.active + kept.active::integer,
        content_total = content_total + kept.active::integer * $21,
        context_total = context_total + kept.active::integer * $22
    FROM kept
    WHERE scope.tenant = $1 AND scope.scope_id = $2
), used AS (
    INSERT INTO usage (tenant, scope_id, kind, memories, bytes) SELECT $1, $2, $5, 1, kept.bytes FROM kept
    ON CONFLICT (tenant, scope_id, kind)
    DO UPDATE SET memories = usage.memories + excluded.memories, bytes = usage.bytes + excluded.bytes
), posted AS (
    INSERT INTO term_posting (tenant, scope_id, term, number, content, context, content_length, context_length, active)
    SELECT $1, $2, entry.term, kept.number, entry.content, entry.context, $21, $22, kept.active
    FROM kept CROSS JOIN unnest($29::integer[], $30::integer[], $31::integer[]) AS entry (term, content, context)
)
SELECT number, bytes, turn, changed FROM kept

-- name: update
-- Nothing at all where another active memory of the scope has the fingerprint. $28 to $30: the changes of the scope's
-- statistics, $31 and $32: the kind and the bytes before, $33 to $35: the checksums.
WITH changed AS (
    UPDATE memory
    SET version = $4, kind = $5, status = $6, key = $7, category = $8, fingerprint = $9,
        happened_at = $10, began_at = $11, ended_at = $12, expires_at = $13,
        session = $14, session_digest = $15, speaker = $16, speaker_digest = $17,
        cues = $18, content = $19, context = $20, content_length = $21, context_length = $22, vector = $23::real[]::vector,
        next_vector = CASE WHEN memory.vector IS NOT DISTINCT FROM $23::real[]::vector THEN memory.next_vector END,
        created_at = $24, large = $25, bytes = octet_length($26::text),
        changed = (SELECT changes + 1 FROM scope WHERE tenant = $1 AND scope_id = $2),
        vector_check = $34, words_check = $35
    WHERE tenant = $1 AND memory_id = $3 AND scope_id = $2
    AND NOT ($6 = 'active' AND $9 <> '' AND EXISTS (
        SELECT FROM memory other
        WHERE other.tenant = $1 AND other.scope_id = $2 AND other.memory_id <> $3
        AND other.status = 'active' AND other.fingerprint = $9 AND other.fingerprint <> ''
    ))
    RETURNING number, bytes, turn, changed
), told AS (
    INSERT INTO memory_version (tenant, memory_id, version, author, fingerprint, body, checksum)
    SELECT $1, $3, $4, $27, $9, $26, $33 FROM changed
), counted AS (
    UPDATE scope
    SET changes = changes + 1, active = scope.active + $28, content_total = content_total + $29,
        context_total = context_total + $30
    FROM changed
    WHERE scope.tenant = $1 AND scope.scope_id = $2
), used AS (
    INSERT INTO usage (tenant, scope_id, kind, memories, bytes)
    SELECT $1, $2, part.kind, sum(part.memories), sum(part.bytes)
    FROM changed
    CROSS JOIN LATERAL (VALUES ($31::text, -1, -$32::bigint), ($5, 1, changed.bytes)) AS part (kind, memories, bytes)
    GROUP BY part.kind
    ON CONFLICT (tenant, scope_id, kind)
    DO UPDATE SET memories = usage.memories + excluded.memories, bytes = usage.bytes + excluded.bytes
)
SELECT number, bytes, turn, changed FROM changed

-- name: remove_postings
DELETE FROM term_posting WHERE tenant = $1 AND scope_id = $2 AND number = $3 AND term = ANY ($4::integer[])

-- name: remove_all_postings
-- The same where the words that the memory has are not known any more: every posting of the scope is looked at.
DELETE FROM term_posting WHERE tenant = $1 AND scope_id = $2 AND number = $3

-- name: insert_postings
INSERT INTO term_posting (tenant, scope_id, term, number, content, context, content_length, context_length, active)
SELECT $1, $2, entry.term, $3, entry.content, entry.context, $4, $5, $6
FROM unnest($7::integer[], $8::integer[], $9::integer[]) AS entry (term, content, context)

-- name: remove
WITH gone AS (
    DELETE FROM memory WHERE tenant = $1 AND scope_id = $2 AND memory_id = $3 RETURNING number, kind, bytes
), counted AS (
    UPDATE scope
    SET changes = changes + 1, removed_at = changes + 1, active = scope.active + $4,
        content_total = content_total + $5, context_total = context_total + $6
    FROM gone
    WHERE scope.tenant = $1 AND scope.scope_id = $2
), used AS (
    UPDATE usage
    SET memories = usage.memories - 1, bytes = usage.bytes - gone.bytes
    FROM gone
    WHERE usage.tenant = $1 AND usage.scope_id = $2 AND usage.kind = gone.kind
)
SELECT number, kind, bytes FROM gone

-- name: lane_end
SELECT number, hash FROM lane_end WHERE tenant = $1 AND lane = $2 FOR UPDATE

-- name: make_lane
INSERT INTO lane_end (tenant, lane, number, hash) VALUES ($1, $2, 0, '') ON CONFLICT DO NOTHING

-- name: append_trail
-- Behind the line $13 with the hash $14, which was the lane's last when somebody looked; nothing at all where it is not any more.
-- The server's clock gives the time, once the lane is this transaction's: who begins later has a later one.
WITH head AS (
    UPDATE lane_end SET number = $6, hash = $7
    WHERE tenant = $1 AND lane = $2 AND number = $13 AND hash = $14
    RETURNING tenant, lane
), sent AS (
    INSERT INTO outbox (tenant, level, owner, action, memory_id, version)
    SELECT head.tenant, entry.level, entry.owner, entry.action, entry.memory_id, entry.version
    FROM head
    CROSS JOIN unnest($8::text[], $9::text[], $10::text[], $11::text[], $12::integer[])
        WITH ORDINALITY AS entry (level, owner, action, memory_id, version, place)
    ORDER BY entry.place
), used AS (
    INSERT INTO usage_lane (tenant, lane, kind, memories, bytes)
    SELECT head.tenant, head.lane, part.*
    FROM head CROSS JOIN unnest($15::text[], $16::bigint[], $17::bigint[]) AS part (kind, memories, bytes)
    ON CONFLICT (tenant, lane, kind)
    DO UPDATE SET memories = usage_lane.memories + excluded.memories, bytes = usage_lane.bytes + excluded.bytes
)
INSERT INTO journal (tenant, lane, at, number, event, hash)
SELECT head.tenant, head.lane, (extract(epoch FROM clock_timestamp()) * 1000000)::bigint, line.*
FROM head CROSS JOIN unnest($3::bigint[], $4::text[], $5::text[]) AS line (number, event, hash)
RETURNING number

-- name: count_used
INSERT INTO usage_lane (tenant, lane, kind, memories, bytes)
SELECT $1, $2, part.* FROM unnest($3::text[], $4::bigint[], $5::bigint[]) AS part (kind, memories, bytes)
ON CONFLICT (tenant, lane, kind)
DO UPDATE SET memories = usage_lane.memories + excluded.memories, bytes = usage_lane.bytes + excluded.bytes

-- name: enqueue
INSERT INTO outbox (tenant, level, owner, action, memory_id, version)
SELECT $1, entry.level, entry.owner, entry.action, entry.memory_id, entry.version
FROM unnest($2::text[], $3::text[], $4::text[], $5::text[], $6::integer[])
    WITH ORDINALITY AS entry (level, owner, action, memory_id, version, place)
ORDER BY entry.place

-- name: find_request
SELECT digest, receipt, checksum FROM request WHERE tenant = $1 AND idempotency_key = $2

-- name: remember_request
INSERT INTO request (tenant, idempotency_key, digest, receipt, at, checksum) VALUES ($1, $2, $3, $4, $5, $6)
ON CONFLICT DO NOTHING
RETURNING 1

-- name: remove_requests
-- $2: the identifiers as they stand in JSON, quotes included.
DELETE FROM request
WHERE tenant = $1 AND (
    (starts_with(idempotency_key, $3::text) AND position(':' IN substr(idempotency_key, length($3::text) + 1)) = 0)
    OR EXISTS (SELECT FROM unnest($2::text[]) AS said WHERE position(said IN request.receipt) > 0)
)
RETURNING 1

-- name: find_mark
SELECT name, value, checksum FROM mark WHERE tenant = $1 AND name = $2

-- name: find_mark_shared
-- A row lock would not do: mostly there is no such mark yet. The function reads in a snapshot of its own, made after the
-- wait for the lock; that of the statement is from before, and would miss what the other transaction has committed.
-- The lock returns an empty text, so that the page begins at the mark itself.
SELECT name, value, checksum
FROM marks_between($1, $2, nullif(pg_advisory_xact_lock_shared($3)::text, ''), 1)
WHERE name = $2

-- name: find_mark_exclusive
SELECT name, value, checksum
FROM marks_between($1, $2, nullif(pg_advisory_xact_lock($3)::text, ''), 1)
WHERE name = $2

-- name: put_mark
INSERT INTO mark (tenant, name, value, checksum) VALUES ($1, $2, $3, $4)
ON CONFLICT (tenant, name) DO UPDATE SET value = excluded.value, checksum = excluded.checksum

-- name: remove_mark
DELETE FROM mark WHERE tenant = $1 AND name = $2

-- name: unmark_facets
DELETE FROM facet WHERE tenant = $1 AND memory_id = $2

-- name: mark_facets
INSERT INTO facet (tenant, scope_id, facet, memory_id)
SELECT $1, $2, each.facet, $3 FROM unnest($4::integer[]) AS each (facet)
ON CONFLICT DO NOTHING
