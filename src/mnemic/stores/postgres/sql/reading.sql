-- Plain reads.

-- name: get_many
SELECT {columns}
FROM {sources}
WHERE m.tenant = $1 AND m.memory_id = ANY ($4::text[])
AND (s.level, s.owner) IN (SELECT * FROM unnest($2::text[], $3::text[]))

-- name: get_many_unchanged
-- `get_many` without a transaction, with the counts of changes of its scopes as they are after that.
WITH found AS MATERIALIZED (
    SELECT body, checksum, vector_send(vector) AS vector, vector_check, tenant, level, owner,
           memory_id, version, kind, status, happened_at, expires_at
    FROM checked_as($1, $2, $3, $4)
), counted AS MATERIALIZED (
    SELECT count(*) AS held FROM found
), present AS MATERIALIZED (
    SELECT e.level, e.owner, e.changes
    FROM counted CROSS JOIN LATERAL enter($1, $5 || left(counted.held::text, 0), $2, $3) e
)
SELECT present.level AS scope_level, present.owner AS scope_owner, present.changes, found.*
FROM present LEFT JOIN found ON found.level = present.level AND found.owner = present.owner

-- name: find_fingerprint
SELECT {columns}
FROM {sources}
WHERE m.tenant = $1 AND s.level = $2 AND s.owner = $3
AND m.status = 'active' AND m.fingerprint = $4 AND m.fingerprint <> ''

-- name: find_fingerprints
SELECT m.fingerprint, {columns}
FROM {sources}
WHERE m.tenant = $1 AND s.level = $2 AND s.owner = $3
AND m.status = 'active' AND m.fingerprint = ANY ($4::text[]) AND m.fingerprint <> ''

-- name: held_as
-- `get_many` as a transaction of its own.
SELECT body, checksum, vector_send(vector) AS vector, vector_check, tenant, level, owner,
       memory_id, version, kind, status, happened_at, expires_at
FROM checked_as($1, $2, $3, $4)

-- name: held_under
-- `find_fingerprint` as a transaction of its own.
SELECT body, checksum, vector_send(vector) AS vector, vector_check, tenant, level, owner,
       memory_id, version, kind, status, happened_at, expires_at
FROM checked_under($1, $2, $3, $4)

-- name: versions
SELECT textsend(v.body) AS body, v.checksum, v.version
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

-- name: newest_of
-- Those that have one of the facets $6, or may have every one, and one of each other set: $7 with the sets' numbers $8, $9 sets.
WITH {places}, chosen AS MATERIALIZED (
    SELECT m.memory_id
    FROM places
    JOIN facet f ON f.tenant = $1 AND f.scope_id = places.scope_id AND f.facet = ANY ($6::integer[])
    JOIN memory m ON m.tenant = $1 AND m.memory_id = f.memory_id AND m.scope_id = places.scope_id
    WHERE ($4::text IS NULL OR f.memory_id < $4 COLLATE "C") AND {accepted}
    AND $9::integer = (
        SELECT count(DISTINCT w.number)
        FROM facet o
        JOIN unnest($7::integer[], $8::integer[]) AS w (facet, number) ON w.facet = o.facet
        WHERE o.tenant = $1 AND o.memory_id = f.memory_id
    )
    GROUP BY m.memory_id
    ORDER BY m.memory_id DESC
    LIMIT $5
)
SELECT {columns}
FROM chosen
JOIN memory m ON m.tenant = $1 AND m.memory_id = chosen.memory_id
JOIN scope s ON s.tenant = m.tenant AND s.scope_id = m.scope_id
JOIN memory_version v ON v.tenant = m.tenant AND v.memory_id = m.memory_id AND v.version = m.version
ORDER BY m.memory_id DESC

-- name: having
-- How many memories have one of the facets of each set ($4, with the sets' numbers $5), as far as it matters.
WITH {places}
SELECT w.number, count(*) AS held
FROM places
CROSS JOIN unnest($4::integer[], $5::integer[]) AS w (facet, number)
CROSS JOIN LATERAL (
    SELECT FROM facet f WHERE f.tenant = $1 AND f.scope_id = places.scope_id AND f.facet = w.facet LIMIT 1000
) having_one
GROUP BY w.number

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
