-- Plain reads.

-- name: get_many
SELECT {columns}
FROM {sources}
WHERE m.tenant = $1 AND m.memory_id = ANY ($4::text[])
AND (s.level, s.owner) IN (SELECT * FROM unnest($2::text[], $3::text[]))

-- name: find_fingerprint
SELECT {columns}
FROM {sources}
WHERE m.tenant = $1 AND s.level = $2 AND s.owner = $3
AND m.status = 'active' AND m.fingerprint = $4 AND m.fingerprint <> ''

-- name: versions
SELECT v.body
FROM memory_version v
WHERE v.tenant = $1 AND v.memory_id = $2 AND v.version < $3
ORDER BY v.version

-- name: newest
WITH {places}
SELECT {columns}
FROM (
    SELECT page.memory_id
    FROM places
    CROSS JOIN LATERAL (
        SELECT m.memory_id
        FROM memory m
        WHERE m.scope_id = places.scope_id AND ($4::text IS NULL OR m.memory_id < $4 COLLATE "C") AND {accepted}
        ORDER BY m.memory_id DESC
        LIMIT $5
    ) page
    ORDER BY page.memory_id DESC
    LIMIT $5
) chosen
JOIN memory m ON m.tenant = $1 AND m.memory_id = chosen.memory_id
JOIN scope s ON s.tenant = m.tenant AND s.scope_id = m.scope_id
JOIN memory_version v ON v.tenant = m.tenant AND v.memory_id = m.memory_id AND v.version = m.version
ORDER BY m.memory_id DESC

-- name: count
WITH {places}
SELECT coalesce(sum(held.number), 0)
FROM places
CROSS JOIN LATERAL (SELECT count(*) AS number FROM memory m WHERE m.scope_id = places.scope_id AND {accepted}) held

-- name: signals
SELECT m.memory_id, m.happened_at, m.session, m.turn, m.speaker, m.cues
FROM memory m
JOIN scope s ON s.tenant = m.tenant AND s.scope_id = m.scope_id
WHERE m.tenant = $1 AND m.memory_id = ANY ($4::text[])
AND (s.level, s.owner) IN (SELECT * FROM unnest($2::text[], $3::text[]))

-- name: speakers
-- From each speaker to the next in the index: as many steps as there are speakers, however much they said.
WITH RECURSIVE {places}, heard AS (
    SELECT places.scope_id, first.speaker_digest, first.speaker
    FROM places
    CROSS JOIN LATERAL (
        SELECT m.speaker_digest, m.speaker
        FROM memory m
        WHERE m.tenant = $1 AND m.scope_id = places.scope_id AND m.status = 'active' AND m.speaker_digest IS NOT NULL
        ORDER BY m.speaker_digest
        LIMIT 1
    ) first
    UNION ALL
    SELECT heard.scope_id, next.speaker_digest, next.speaker
    FROM heard
    CROSS JOIN LATERAL (
        SELECT m.speaker_digest, m.speaker
        FROM memory m
        WHERE m.tenant = $1 AND m.scope_id = heard.scope_id AND m.status = 'active'
        AND m.speaker_digest > heard.speaker_digest
        ORDER BY m.speaker_digest
        LIMIT 1
    ) next
)
SELECT DISTINCT speaker FROM heard

-- name: space
SELECT model, dimension FROM space
