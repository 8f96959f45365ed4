-- Lanes of the audit: what waits in them, and how it is brought together.

-- name: journaled
SELECT 1 FROM journal WHERE tenant = $1 LIMIT 1

-- name: audit_head
SELECT sequence, hash FROM audit_head WHERE tenant = $1 FOR UPDATE

-- name: make_audit_head
INSERT INTO audit_head (tenant, sequence, hash) VALUES ($1, 0, '') ON CONFLICT DO NOTHING

-- name: lines
-- The first $2 lines of each lane behind those that were collected.
SELECT e.lane, coalesce(c.number, 0) AS collected, coalesce(c.hash, '') AS previous,
       line.number, line.at, line.event, line.hash
FROM lane_end e
LEFT JOIN lane_collected c ON c.tenant = e.tenant AND c.lane = e.lane
CROSS JOIN LATERAL (
    SELECT j.number, j.at, j.event, j.hash FROM journal j
    WHERE j.tenant = $1 AND j.lane = e.lane AND j.number > coalesce(c.number, 0)
    ORDER BY j.number
    LIMIT $2
) line
WHERE e.tenant = $1
ORDER BY e.lane, line.number

-- name: take
-- Lines into the audit, its new end, and how far each lane is collected by now.
WITH ended AS (
    UPDATE audit_head SET sequence = $5, hash = $6 WHERE tenant = $1
), collected AS (
    INSERT INTO lane_collected (tenant, lane, number, hash)
    SELECT $1, lane.* FROM unnest($7::smallint[], $8::bigint[], $9::text[]) AS lane (lane, number, hash)
    ON CONFLICT (tenant, lane) DO UPDATE SET number = excluded.number, hash = excluded.hash
)
INSERT INTO audit (tenant, sequence, event, hash)
SELECT $1, line.* FROM unnest($2::bigint[], $3::text[], $4::text[]) AS line (sequence, event, hash)

-- name: drop_taken
DELETE FROM journal j
USING lane_collected c
WHERE j.tenant = $1 AND c.tenant = $1 AND c.lane = j.lane AND j.number <= c.number

-- name: ends
-- The end of each lane; a lane that was collected and has none is broken.
SELECT coalesce(e.lane, c.lane) AS lane, coalesce(e.number, 0) AS number, coalesce(e.hash, '') AS hash,
       coalesce(c.number, 0) AS collected, coalesce(c.hash, '') AS previous
FROM (SELECT lane, number, hash FROM lane_end WHERE tenant = $1) e
FULL JOIN (SELECT lane, number, hash FROM lane_collected WHERE tenant = $1) c USING (lane)
ORDER BY 1

-- name: audit_end
SELECT sequence, hash FROM audit_head WHERE tenant = $1

-- name: of_lane
SELECT number, event, hash FROM journal WHERE tenant = $1 AND lane = $2 AND number > $3 ORDER BY number LIMIT $4
