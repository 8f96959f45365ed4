-- Postings are kept of large scopes alone: of a small one the words of every memory are read, as its vectors are. They are in a
-- table of another name, so that a process of before, which would take their absence for no hits, fails instead.

CREATE TABLE term_posting (LIKE posting) PARTITION BY HASH (tenant);
DO $$
BEGIN
    FOR number IN 0..7 LOOP
        EXECUTE format(
            'CREATE TABLE term_posting_%s PARTITION OF term_posting FOR VALUES WITH (MODULUS 8, REMAINDER %s)', number, number
        );
        EXECUTE format('ALTER TABLE term_posting_%s ENABLE ROW LEVEL SECURITY', number);
        EXECUTE format('ALTER TABLE term_posting_%s FORCE ROW LEVEL SECURITY', number);
    END LOOP;
END
$$;

-- For a moment row-level security does not bind the owner, which must see every tenant here. A move into the indexes that was cut
-- short begins again.
ALTER TABLE scope NO FORCE ROW LEVEL SECURITY;
ALTER TABLE memory NO FORCE ROW LEVEL SECURITY;
ALTER TABLE posting NO FORCE ROW LEVEL SECURITY;
UPDATE memory m SET large = s.large FROM scope s
WHERE s.tenant = m.tenant AND s.scope_id = m.scope_id AND s.large <> m.large;
INSERT INTO term_posting
SELECT p.* FROM posting p JOIN scope s ON s.tenant = p.tenant AND s.scope_id = p.scope_id WHERE s.large;
ALTER TABLE scope FORCE ROW LEVEL SECURITY;
ALTER TABLE memory FORCE ROW LEVEL SECURITY;
DROP TABLE posting;

ALTER TABLE term_posting
    ADD PRIMARY KEY (tenant, scope_id, term, number) INCLUDE (content, context, content_length, context_length, active);
ALTER TABLE term_posting ENABLE ROW LEVEL SECURITY;
ALTER TABLE term_posting FORCE ROW LEVEL SECURITY;
CREATE POLICY own_tenant ON term_posting
    USING (tenant = (SELECT nullif(current_setting('mnemic.tenant', true), '')));
CREATE POLICY upkeep ON term_posting FOR SELECT TO CURRENT_USER
    USING ((SELECT current_setting('mnemic.upkeep', true)) = 'on');
GRANT SELECT, INSERT, UPDATE, DELETE ON term_posting TO mnemic_app;

-- How often packed words hold a term. Five bytes each, the first alone with its high bit set: no term is found across two.
CREATE FUNCTION times(term bytea, words bytea) RETURNS integer LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
    SELECT count(*)::integer FROM generate_series(1, length(words), 5) AS place WHERE substring(words FROM place FOR 5) = term
$$;

-- The terms of packed words, with a sign as in the postings; the zero separates.
CREATE FUNCTION terms_in(words bytea) RETURNS SETOF integer LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
    SELECT term FROM (
        SELECT (((get_byte(words, place) & 15)::bigint << 28) + (get_byte(words, place + 1)::bigint << 21)
                + (get_byte(words, place + 2) << 14) + (get_byte(words, place + 3) << 7)
                + get_byte(words, place + 4))::bit(32)::integer AS term
        FROM generate_series(0, length(words) - 5, 5) AS place
    ) each WHERE term <> 0
$$;

CREATE FUNCTION postings_of(content bytea, context bytea) RETURNS TABLE (term integer, content integer, context integer)
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
    SELECT each.term, count(*) FILTER (WHERE each.inside)::integer, count(*) FILTER (WHERE NOT each.inside)::integer
    FROM (
        SELECT word AS term, true AS inside FROM mnemic.terms_in($1) AS word
        UNION ALL SELECT word, false FROM mnemic.terms_in($2) AS word
    ) each
    GROUP BY each.term
$$;
