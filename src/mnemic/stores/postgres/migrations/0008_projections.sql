-- The outbox feeds several projections, each at its own pace: an entry stays until every registered one has taken it.

CREATE TABLE projection (
    name text COLLATE "C" PRIMARY KEY
);

-- Nothing has read the entries up to here, and they do not say where their memories lie.
TRUNCATE outbox;
ALTER TABLE outbox
    ADD COLUMN level text NOT NULL,
    ADD COLUMN owner text COLLATE "C" NOT NULL,
    ADD COLUMN taken text[] COLLATE "C" NOT NULL DEFAULT '{}';

-- Whoever drains the outbox notes there who has taken an entry, and can change nothing else.
CREATE POLICY noted ON outbox FOR UPDATE
    USING ((SELECT current_setting('mnemic.drain', true)) = 'on')
    WITH CHECK ((SELECT current_setting('mnemic.drain', true)) = 'on');
GRANT UPDATE (taken) ON outbox TO mnemic_app;
GRANT SELECT, INSERT, DELETE ON projection TO mnemic_app;
