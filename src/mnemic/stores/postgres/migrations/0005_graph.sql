-- The graph of named things: what each memory says of nodes and relations. A node is there as long as a memory names it, so
-- nothing is left to sweep. Times are microseconds since 1970, UTC. `names` are the name, then other names.

CREATE TABLE graph_node (
    tenant    text COLLATE "C" NOT NULL,
    level     text COLLATE "C" NOT NULL,
    owner     text COLLATE "C" NOT NULL,
    node      text COLLATE "C" NOT NULL,
    memory_id text COLLATE "C" NOT NULL,
    label     text COLLATE "C" NOT NULL,
    names     text[] NOT NULL CHECK (cardinality(names) >= 1),
    seen_at   bigint NOT NULL,
    PRIMARY KEY (tenant, level, owner, node, memory_id)
);
CREATE INDEX graph_node_by_memory ON graph_node (tenant, memory_id);

CREATE TABLE graph_relation (
    tenant     text COLLATE "C" NOT NULL,
    level      text COLLATE "C" NOT NULL,
    owner      text COLLATE "C" NOT NULL,
    source     text COLLATE "C" NOT NULL,
    relation   text COLLATE "C" NOT NULL,
    target     text COLLATE "C" NOT NULL,
    memory_id  text COLLATE "C" NOT NULL,
    valid_from bigint,
    valid_to   bigint,
    PRIMARY KEY (tenant, level, owner, source, relation, target, memory_id)
);
CREATE INDEX graph_relation_backwards ON graph_relation (tenant, level, owner, target, source);
CREATE INDEX graph_relation_by_memory ON graph_relation (tenant, memory_id);

ALTER TABLE graph_node ENABLE ROW LEVEL SECURITY;
ALTER TABLE graph_node FORCE ROW LEVEL SECURITY;
CREATE POLICY own_tenant ON graph_node
    USING (tenant = (SELECT nullif(current_setting('mnemic.tenant', true), '')));
ALTER TABLE graph_relation ENABLE ROW LEVEL SECURITY;
ALTER TABLE graph_relation FORCE ROW LEVEL SECURITY;
CREATE POLICY own_tenant ON graph_relation
    USING (tenant = (SELECT nullif(current_setting('mnemic.tenant', true), '')));
GRANT SELECT, INSERT, DELETE ON graph_node, graph_relation TO mnemic_app;

-- What a memory held of the graph goes with it, in the same transaction.
CREATE FUNCTION forget_graph() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    DELETE FROM mnemic.graph_relation WHERE tenant = OLD.tenant AND memory_id = OLD.memory_id;
    DELETE FROM mnemic.graph_node WHERE tenant = OLD.tenant AND memory_id = OLD.memory_id;
    RETURN NULL;
END
$$;
CREATE TRIGGER graph_forgets AFTER DELETE ON memory FOR EACH ROW EXECUTE FUNCTION forget_graph();
