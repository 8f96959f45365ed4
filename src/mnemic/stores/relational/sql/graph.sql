-- The graph. $1 to $3 name the scope; in walks $4 is the moment at which relations must hold, or null.

-- part: here_n
n.tenant = $1 AND n.level = $2 AND n.owner = $3

-- part: here_r
r.tenant = $1 AND r.level = $2 AND r.owner = $3

-- part: holds
($4::bigint IS NULL OR ((r.valid_from IS NULL OR r.valid_from <= $4) AND (r.valid_to IS NULL OR r.valid_to > $4)))

-- part: said_last
FROM graph_node n WHERE {here_n} AND n.node = w.node ORDER BY n.seen_at DESC, n.memory_id DESC LIMIT 1

-- part: spoken
SELECT array_agg(DISTINCT each.name)
FROM graph_node n CROSS JOIN LATERAL unnest(n.names) AS each (name) WHERE {here_n} AND n.node = w.node

-- part: spoken sqlite
SELECT json_group_array(DISTINCT each.value)
FROM graph_node n, json_each(n.names) each WHERE {here_n} AND n.node = w.node

-- part: described
w.node, (SELECT n.names {said_last}), (SELECT n.label {said_last}), ({spoken}), w.first_seen_at, w.last_seen_at

-- part: seen
min(n.seen_at) AS first_seen_at, max(n.seen_at) AS last_seen_at

-- part: outwards
outwards (node, distance) AS (
    SELECT $5::text COLLATE "C", 0
    UNION
    SELECT beyond.node, o.distance + 1 FROM outwards o CROSS JOIN LATERAL (
        SELECT r.target FROM graph_relation r WHERE {here_r} AND r.source = o.node AND {holds}
        UNION ALL
        SELECT r.source FROM graph_relation r WHERE {here_r} AND r.target = o.node AND {holds}
    ) AS beyond (node) WHERE o.distance < $6
)

-- part: outwards sqlite
-- The limit ends a walk through a graph in which all know all: beyond it only what is nearer is found.
outwards (node, distance) AS (
    SELECT $5, 0
    UNION
    SELECT r.target, o.distance + 1 FROM outwards o CROSS JOIN graph_relation r
    WHERE {here_r} AND r.source = o.node AND o.distance < $6 AND {holds}
    UNION
    SELECT r.source, o.distance + 1 FROM outwards o CROSS JOIN graph_relation r
    WHERE {here_r} AND r.target = o.node AND o.distance < $6 AND {holds}
    LIMIT 50000
)

-- part: back
back (node, distance) AS (
    SELECT $7::text COLLATE "C", 0
    UNION
    SELECT beyond.node, o.distance + 1 FROM back o CROSS JOIN LATERAL (
        SELECT r.target FROM graph_relation r WHERE {here_r} AND r.source = o.node AND {holds}
        UNION ALL
        SELECT r.source FROM graph_relation r WHERE {here_r} AND r.target = o.node AND {holds}
    ) AS beyond (node) WHERE o.distance < $8
)

-- part: back sqlite
back (node, distance) AS (
    SELECT $7, 0
    UNION
    SELECT r.target, o.distance + 1 FROM back o CROSS JOIN graph_relation r
    WHERE {here_r} AND r.source = o.node AND o.distance < $8 AND {holds}
    UNION
    SELECT r.source, o.distance + 1 FROM back o CROSS JOIN graph_relation r
    WHERE {here_r} AND r.target = o.node AND o.distance < $8 AND {holds}
    LIMIT 50000
)

-- part: nearest
nearest (node, distance) AS MATERIALIZED (SELECT node, min(distance) FROM outwards GROUP BY node)

-- name: forget_relations
DELETE FROM graph_relation AS n WHERE {here_n} AND n.memory_id {any $4}

-- name: forget_nodes
DELETE FROM graph_node AS n WHERE {here_n} AND n.memory_id {any $4}

-- part: each_node
SELECT $1, $2, $3, each.node, each.memory_id, each.label, ARRAY(SELECT jsonb_array_elements_text(each.names)), each.seen_at
FROM jsonb_to_recordset($4::text::jsonb)
    AS each (node text, memory_id text, label text, names jsonb, seen_at bigint)

-- part: each_node sqlite
SELECT $1, $2, $3, value ->> '$.node', value ->> '$.memory_id', value ->> '$.label', value -> '$.names', value ->> '$.seen_at'
FROM json_each($4) WHERE true

-- name: put_nodes
INSERT INTO graph_node
{each_node}
ON CONFLICT DO NOTHING

-- part: each_relation
SELECT $1, $2, $3, each.source, each.relation, each.target, each.memory_id, each.valid_from, each.valid_to
FROM jsonb_to_recordset($4::text::jsonb)
    AS each (source text, relation text, target text, memory_id text, valid_from bigint, valid_to bigint)

-- part: each_relation sqlite
SELECT $1, $2, $3, value ->> '$.source', value ->> '$.relation', value ->> '$.target', value ->> '$.memory_id',
    value ->> '$.valid_from', value ->> '$.valid_to'
FROM json_each($4) WHERE true

-- name: put_relations
INSERT INTO graph_relation
{each_relation}
ON CONFLICT DO NOTHING

-- name: clear_relations
DELETE FROM graph_relation WHERE tenant = $1

-- name: clear_nodes
DELETE FROM graph_node WHERE tenant = $1

-- name: nodes
WITH w AS (
    SELECT n.node, {seen} FROM graph_node n
    WHERE {here_n} AND ($4::text[] IS NULL OR n.node {any $4})
    AND ($4::text[] IS NOT NULL OR $5::text IS NOT NULL OR substr(n.node, 1, 9) <> '@episode:') GROUP BY n.node
),
described (node, names, label, spoken, first_seen_at, last_seen_at) AS (SELECT {described} FROM w)
SELECT * FROM described WHERE $5::text IS NULL OR label = $5
ORDER BY last_seen_at DESC, node LIMIT $6

-- name: neighbours
WITH RECURSIVE {outwards}, {nearest}, w AS (
    SELECT o.node, o.distance, {seen} FROM nearest o CROSS JOIN graph_node n
    WHERE {here_n} AND n.node = o.node AND o.distance > 0
    GROUP BY o.node, o.distance ORDER BY o.distance, last_seen_at DESC, o.node LIMIT $7
)
SELECT {described}, w.distance FROM w ORDER BY w.distance, w.last_seen_at DESC, w.node

-- name: from_both_ends
-- $6 and $8: how far from either end.
WITH RECURSIVE {outwards}, {back}
SELECT 0 AS side, node, min(distance) AS distance FROM outwards
WHERE EXISTS (SELECT 1 FROM graph_node n WHERE {here_n} AND n.node = $5) GROUP BY node
UNION ALL
SELECT 1, node, min(distance) FROM back GROUP BY node

-- part: chosen
unnest($5::text[]) AS w (value)

-- part: chosen sqlite
json_each($5) w

-- name: between
SELECT r.source, r.relation, r.target, r.valid_from, r.valid_to, r.memory_id
FROM {chosen} CROSS JOIN graph_relation r
WHERE {here_r} AND r.source = w.value AND r.target {any $5} AND {holds}

-- name: traces
SELECT (SELECT count(*) FROM graph_node WHERE tenant = $1 AND memory_id {any $2})
     + (SELECT count(*) FROM graph_relation WHERE tenant = $1 AND memory_id {any $2})
