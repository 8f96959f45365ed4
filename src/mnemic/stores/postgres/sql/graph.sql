-- The graph. $1 to $3 name the scope; in walks $4 is the moment at which relations must hold, or null.

-- name: forget_relations
DELETE FROM graph_relation n WHERE {here_n} AND n.memory_id = ANY ($4::text[])

-- name: forget_nodes
DELETE FROM graph_node n WHERE {here_n} AND n.memory_id = ANY ($4::text[])

-- name: put_nodes
INSERT INTO graph_node
SELECT $1, $2, $3, each.node, each.memory_id, each.label, ARRAY(SELECT jsonb_array_elements_text(each.names)), each.seen_at
FROM jsonb_to_recordset($4::text::jsonb)
    AS each (node text, memory_id text, label text, names jsonb, seen_at bigint)
ON CONFLICT DO NOTHING

-- name: put_relations
INSERT INTO graph_relation
SELECT $1, $2, $3, each.source, each.relation, each.target, each.memory_id, each.valid_from, each.valid_to
FROM jsonb_to_recordset($4::text::jsonb)
    AS each (source text, relation text, target text, memory_id text, valid_from bigint, valid_to bigint)
ON CONFLICT DO NOTHING

-- name: clear_relations
DELETE FROM graph_relation WHERE tenant = $1

-- name: clear_nodes
DELETE FROM graph_node WHERE tenant = $1

-- name: nodes
WITH w AS (
    SELECT n.node, min(n.seen_at) AS first_seen_at, max(n.seen_at) AS last_seen_at FROM graph_node n
    WHERE {here_n} AND ($4::text[] IS NULL OR n.node = ANY ($4))
    AND ($4::text[] IS NOT NULL OR $5::text IS NOT NULL OR NOT starts_with(n.node, '@episode:')) GROUP BY n.node
)
SELECT {described}
WHERE $5::text IS NULL OR last.label = $5
ORDER BY w.last_seen_at DESC, w.node LIMIT $6

-- name: neighbours
WITH RECURSIVE outwards (node, distance) AS (
    SELECT $5::text COLLATE "C", 0
    UNION
    SELECT beyond.node, o.distance + 1 FROM outwards o CROSS JOIN LATERAL (
        SELECT r.target FROM graph_relation r WHERE {here_r} AND r.source = o.node AND {holds}
        UNION ALL
        SELECT r.source FROM graph_relation r WHERE {here_r} AND r.target = o.node AND {holds}
    ) AS beyond (node) WHERE o.distance < $6
), nearest AS (
    SELECT node, min(distance) AS distance FROM outwards GROUP BY node
), w AS (
    SELECT o.node, o.distance, min(n.seen_at) AS first_seen_at, max(n.seen_at) AS last_seen_at
    FROM nearest o JOIN graph_node n ON {here_n} AND n.node = o.node
    WHERE o.distance > 0 GROUP BY o.node, o.distance ORDER BY o.distance, last_seen_at DESC, o.node LIMIT $7
)
SELECT w.distance, {described}
ORDER BY w.distance, w.last_seen_at DESC, w.node

-- name: from_both_ends
-- $6 and $8: how far from either end.
WITH RECURSIVE outwards (node, distance) AS (
    SELECT $5::text COLLATE "C", 0
    UNION
    SELECT beyond.node, o.distance + 1 FROM outwards o CROSS JOIN LATERAL (
        SELECT r.target FROM graph_relation r WHERE {here_r} AND r.source = o.node AND {holds}
        UNION ALL
        SELECT r.source FROM graph_relation r WHERE {here_r} AND r.target = o.node AND {holds}
    ) AS beyond (node) WHERE o.distance < $6
), back (node, distance) AS (
    SELECT $7::text COLLATE "C", 0
    UNION
    SELECT beyond.node, o.distance + 1 FROM back o CROSS JOIN LATERAL (
        SELECT r.target FROM graph_relation r WHERE {here_r} AND r.source = o.node AND {holds}
        UNION ALL
        SELECT r.source FROM graph_relation r WHERE {here_r} AND r.target = o.node AND {holds}
    ) AS beyond (node) WHERE o.distance < $8
)
SELECT 0 AS side, node, min(distance) AS distance FROM outwards
WHERE EXISTS (SELECT FROM graph_node n WHERE {here_n} AND n.node = $5) GROUP BY node
UNION ALL
SELECT 1, node, min(distance) FROM back GROUP BY node

-- name: between
SELECT r.source, r.relation, r.target, r.valid_from, r.valid_to, r.memory_id
FROM unnest($5::text[]) AS w (node) JOIN graph_relation r ON {here_r} AND r.source = w.node
WHERE r.target = ANY ($5) AND {holds}

-- name: traces
SELECT (SELECT count(*) FROM graph_node WHERE tenant = $1 AND memory_id = ANY ($2::text[]))
     + (SELECT count(*) FROM graph_relation WHERE tenant = $1 AND memory_id = ANY ($2::text[])) AS held
