-- What the fields of structured memories say, so that a query by fields reads what it finds and not all there is. Facets are
-- salted 32-bit hashes, as terms are; 0 is that of a memory that may have every facet, as those of before do.
CREATE TABLE facet (
    tenant    text COLLATE "C" NOT NULL,
    scope_id  bigint NOT NULL,
    facet     integer NOT NULL,
    memory_id text COLLATE "C" NOT NULL,
    PRIMARY KEY (tenant, scope_id, facet, memory_id)
);
CREATE INDEX facet_by_memory ON facet (tenant, memory_id, facet);

ALTER TABLE facet ENABLE ROW LEVEL SECURITY;
CREATE POLICY own_tenant ON facet
    USING (tenant = (SELECT nullif(current_setting('mnemic.tenant', true), '')));
CREATE POLICY upkeep ON facet FOR SELECT TO CURRENT_USER
    USING ((SELECT current_setting('mnemic.upkeep', true)) = 'on');
GRANT SELECT, INSERT, DELETE ON facet TO mnemic_app;

-- For a moment row-level security does not bind the owner, which must see every tenant here.
ALTER TABLE memory NO FORCE ROW LEVEL SECURITY;
INSERT INTO facet (tenant, scope_id, facet, memory_id)
SELECT tenant, scope_id, 0, memory_id FROM memory WHERE kind = 'structured';
ALTER TABLE memory FORCE ROW LEVEL SECURITY;
ALTER TABLE facet FORCE ROW LEVEL SECURITY;

-- What a memory said goes with it, in the same transaction.
CREATE FUNCTION forget_facets() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    DELETE FROM mnemic.facet WHERE tenant = OLD.tenant AND memory_id = OLD.memory_id;
    RETURN NULL;
END
$$;
CREATE TRIGGER facets_forget AFTER DELETE ON memory FOR EACH ROW WHEN (OLD.kind = 'structured')
    EXECUTE FUNCTION forget_facets();
