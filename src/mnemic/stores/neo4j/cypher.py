"""The statements, all of them constants: varying values are parameters.

    (:MnemicScope {uid, tenant})                                  one for each scope that has nodes; writers lock it
    (:MnemicMemory {uid, tenant, place, memory_id})               what a memory said hangs on it
        -[:NAMES {memory_id, label, names, seen_at}]->
    (:MnemicNode {uid, tenant, place, node})                      owned by one scope: `place` is part of its `uid`
        -[:RELATES {memory_id, relation, valid_from, valid_to}]-> (:MnemicNode)

`place` is `tenant/level/owner`, none of which can hold a slash; a `uid` adds the node or the memory_id. Times are
microseconds since 1970, UTC. `names` is a JSON list: the name, then other names.
"""

from __future__ import annotations

SCHEMA = (
    "CREATE CONSTRAINT mnemic_scope IF NOT EXISTS FOR (s:MnemicScope) REQUIRE s.uid IS UNIQUE",
    "CREATE CONSTRAINT mnemic_memory IF NOT EXISTS FOR (m:MnemicMemory) REQUIRE m.uid IS UNIQUE",
    "CREATE CONSTRAINT mnemic_node IF NOT EXISTS FOR (n:MnemicNode) REQUIRE n.uid IS UNIQUE",
    "CREATE INDEX mnemic_node_place IF NOT EXISTS FOR (n:MnemicNode) ON (n.place)",
    "CREATE INDEX mnemic_memory_place IF NOT EXISTS FOR (m:MnemicMemory) ON (m.place)",
    "CREATE INDEX mnemic_scope_tenant IF NOT EXISTS FOR (s:MnemicScope) ON (s.tenant)",
)

LOCK = """
    MERGE (s:MnemicScope {uid: $place})
    ON CREATE SET s.tenant = $tenant, s.changes = 1
    ON MATCH SET s.changes = s.changes + 1
    WITH s
    OPTIONAL MATCH (m:MnemicMemory) WHERE m.uid IN $memories
    OPTIONAL MATCH (m)-[:NAMES]->(n:MnemicNode)
    RETURN collect(DISTINCT m.uid) AS known, collect(DISTINCT n.uid) AS nodes
"""
"""A writer locks the node of the scope until the commit, so that no two writers sweep and link the same node. Returns
the known ones of the given memories, and the nodes they name: most writes are of new memories, and each needless
statement would cost a round trip.
"""

FORGET_RELATIONS = """
    UNWIND $memories AS uid
    MATCH (m:MnemicMemory {uid: uid})-[:NAMES]->(:MnemicNode)-[r:RELATES]->(:MnemicNode)
    WHERE r.memory_id = m.memory_id
    DELETE r
"""
FORGET_MEMORIES = """
    UNWIND $memories AS uid
    MATCH (m:MnemicMemory {uid: uid})
    DETACH DELETE m
"""
PUT_NODES = """
    UNWIND $nodes AS row
    MERGE (n:MnemicNode {uid: row.uid})
    ON CREATE SET n.tenant = $tenant, n.place = $place, n.node = row.node
    MERGE (m:MnemicMemory {uid: row.memory})
    ON CREATE SET m.tenant = $tenant, m.place = $place, m.memory_id = row.memory_id
    CREATE (m)-[:NAMES {memory_id: row.memory_id, label: row.label, names: row.names, seen_at: row.seen_at}]->(n)
"""
PUT_RELATIONS = """
    UNWIND $relations AS row
    MATCH (a:MnemicNode {uid: row.source})
    MATCH (b:MnemicNode {uid: row.target})
    CREATE (a)-[r:RELATES {memory_id: row.memory_id, relation: row.relation}]->(b)
    SET r.valid_from = row.valid_from, r.valid_to = row.valid_to
"""
_LINK = """
    MERGE (s:MnemicScope {uid: $place})
    ON CREATE SET s.tenant = $tenant, s.changes = 1
    ON MATCH SET s.changes = s.changes + 1
    WITH s
    OPTIONAL MATCH (k:MnemicMemory) WHERE k.uid IN $memories
    WITH count(k) AS known
    UNWIND CASE WHEN known = 0 THEN $nodes ELSE [] END AS row
    MERGE (n:MnemicNode {uid: row.uid})
    ON CREATE SET n.tenant = $tenant, n.place = $place, n.node = row.node
    MERGE (m:MnemicMemory {uid: row.memory})
    ON CREATE SET m.tenant = $tenant, m.place = $place, m.memory_id = row.memory_id
    CREATE (m)-[:NAMES {memory_id: row.memory_id, label: row.label, names: row.names, seen_at: row.seen_at}]->(n)
"""
LINK_NODES = _LINK + "RETURN count(*) AS linked"
LINK_RELATED = (
    _LINK
    + """
    WITH count(*) AS put
    UNWIND CASE WHEN put > 0 THEN $relations ELSE [] END AS row
    MATCH (a:MnemicNode {uid: row.source})
    MATCH (b:MnemicNode {uid: row.target})
    CREATE (a)-[r:RELATES {memory_id: row.memory_id, relation: row.relation}]->(b)
    SET r.valid_from = row.valid_from, r.valid_to = row.valid_to
    RETURN count(*) AS linked
"""
)
"""Links memories of which none is known, in one round trip: it locks as `LOCK` does. If one is known, nothing is
linked.
"""
SWEEP_NODES = """
    UNWIND $nodes AS uid
    MATCH (n:MnemicNode {uid: uid})
    WHERE NOT (n)<-[:NAMES]-(:MnemicMemory)
    DETACH DELETE n
"""
SWEEP_SCOPE = """
    MATCH (s:MnemicScope {uid: $place})
    OPTIONAL MATCH (n:MnemicNode {place: $place})
    WITH s, count(n) AS nodes
    WHERE nodes = 0
    DELETE s
"""
PLACES = "MATCH (s:MnemicScope {tenant: $tenant}) RETURN s.uid AS place"
CLEAR_NODES = "MATCH (n:MnemicNode {place: $place}) WITH n LIMIT $batch DETACH DELETE n RETURN count(n) AS gone"
CLEAR_MEMORIES = "MATCH (m:MnemicMemory {place: $place}) WITH m LIMIT $batch DETACH DELETE m RETURN count(m) AS gone"
CLEAR_SCOPE = "MATCH (s:MnemicScope {uid: $place}) DELETE s"

_DESCRIBED = """
    MATCH (n)<-[s:NAMES]-(:MnemicMemory)
    WITH n, s ORDER BY s.seen_at DESC, s.memory_id DESC
    WITH n, collect(s.label)[0] AS label, collect(s.names)[0] AS names, collect(DISTINCT s.names) AS spoken,
         min(s.seen_at) AS first_seen_at, max(s.seen_at) AS last_seen_at
    WHERE $label IS NULL OR label = $label
    RETURN n.node AS node, label, names, spoken, first_seen_at, last_seen_at
    ORDER BY last_seen_at DESC, node LIMIT $limit
"""
NODES = (
    """
    MATCH (n:MnemicNode {place: $place}) WHERE $label IS NOT NULL OR NOT n.node STARTS WITH '@episode:'
"""
    + _DESCRIBED
)
AMONG = "UNWIND $among AS uid MATCH (n:MnemicNode {uid: uid})" + _DESCRIBED
TOUCHING = """
    UNWIND $nodes AS uid
    MATCH (:MnemicNode {uid: uid})-[r:RELATES]-(:MnemicNode)
    WHERE $at IS NULL
       OR ((r.valid_from IS NULL OR r.valid_from <= $at) AND (r.valid_to IS NULL OR r.valid_to > $at))
    RETURN DISTINCT startNode(r).node AS source, r.relation AS relation, endNode(r).node AS target,
           r.valid_from AS valid_from, r.valid_to AS valid_to, r.memory_id AS memory_id
    LIMIT $most
"""
TRACES = """
    MATCH (s:MnemicScope {tenant: $tenant})
    UNWIND $memory_ids AS memory_id
    MATCH (m:MnemicMemory {uid: s.uid + '/' + memory_id})
    OPTIONAL MATCH (m)-[:NAMES]->(n:MnemicNode)
    OPTIONAL MATCH (n)-[r:RELATES]->(:MnemicNode) WHERE r.memory_id = m.memory_id
    WITH m, count(DISTINCT n) AS nodes, count(DISTINCT r) AS relations
    RETURN coalesce(sum(nodes + relations), 0) AS traces
"""
