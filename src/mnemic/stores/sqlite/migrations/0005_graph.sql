-- The graph of named things: what each memory says of nodes and relations. A node is there as long as a memory names it, so
-- nothing is left to sweep. Times are microseconds since 1970, UTC. `names` is a JSON list: the name, then other names.

CREATE TABLE graph_node (
    tenant    TEXT NOT NULL,
    level     TEXT NOT NULL,
    owner     TEXT NOT NULL,
    node      TEXT NOT NULL,
    memory_id TEXT NOT NULL,
    label     TEXT NOT NULL,
    names     TEXT NOT NULL,
    seen_at   INTEGER NOT NULL,
    PRIMARY KEY (tenant, level, owner, node, memory_id)
) STRICT, WITHOUT ROWID;

CREATE INDEX graph_node_by_memory ON graph_node (tenant, memory_id);

CREATE TABLE graph_relation (
    tenant     TEXT NOT NULL,
    level      TEXT NOT NULL,
    owner      TEXT NOT NULL,
    source     TEXT NOT NULL,
    relation   TEXT NOT NULL,
    target     TEXT NOT NULL,
    memory_id  TEXT NOT NULL,
    valid_from INTEGER,
    valid_to   INTEGER,
    PRIMARY KEY (tenant, level, owner, source, relation, target, memory_id)
) STRICT, WITHOUT ROWID;

CREATE INDEX graph_relation_backwards ON graph_relation (tenant, level, owner, target, valid_from, valid_to, source);
CREATE INDEX graph_relation_by_memory ON graph_relation (tenant, memory_id);

-- What a memory held of the graph goes with it, in the same transaction.
CREATE TRIGGER graph_forgets AFTER DELETE ON memory
BEGIN
    DELETE FROM graph_relation WHERE tenant = OLD.tenant AND memory_id = OLD.memory_id;
    DELETE FROM graph_node WHERE tenant = OLD.tenant AND memory_id = OLD.memory_id;
END;
