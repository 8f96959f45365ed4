-- The vector space that is being filled beside the present one; its vectors become the present ones in one step, by changing the
-- names of columns. That concerns all tenants at once, so it is work of the tables' owner, who says so (`mnemic.upkeep`);
-- the application's role has no part in it.

CREATE TABLE next_space (
    one       boolean PRIMARY KEY DEFAULT true CHECK (one),
    model     text NOT NULL,
    dimension integer NOT NULL CHECK (dimension BETWEEN 1 AND 16000)
);

ALTER TABLE memory ADD COLUMN next_vector vector;

DO $$
DECLARE
    each text;
BEGIN
    FOREACH each IN ARRAY ARRAY['scope', 'memory', 'memory_version'] LOOP
        EXECUTE format(
            'CREATE POLICY upkeep ON %I TO CURRENT_USER USING ((SELECT current_setting(''mnemic.upkeep'', true)) = ''on'')', each
        );
    END LOOP;
END
$$;
