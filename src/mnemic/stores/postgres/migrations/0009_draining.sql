-- The two questions that every write asks of the outbox where a projection is fed, each in one call that is a transaction of its
-- own. The functions have the rights of whoever calls them, and say themselves that they drain.

CREATE FUNCTION left_for(projection text, at_most integer)
RETURNS TABLE (
    sequence bigint, tenant text, level text, owner text, action text, memory_id text, version integer
)
LANGUAGE plpgsql AS $$
BEGIN
    PERFORM set_config('mnemic.drain', 'on', true);
    RETURN QUERY
        SELECT o.sequence, o.tenant, o.level, o.owner, o.action, o.memory_id, o.version
        FROM outbox o
        WHERE projection IS NULL OR projection <> ALL (o.taken)
        ORDER BY o.sequence
        LIMIT at_most;
END
$$;

-- What is lost of this in a crash comes to the projection once more, so that nobody waits for the disk. The row's lock makes two
-- projections that come at once see each other: each statement of a volatile function looks anew.
CREATE FUNCTION take(sequences bigint[], projection text) RETURNS void
LANGUAGE plpgsql VOLATILE AS $$
DECLARE
    remaining bigint[];
BEGIN
    PERFORM set_config('mnemic.drain', 'on', true), set_config('synchronous_commit', 'off', true);
    DELETE FROM outbox o
    WHERE o.sequence = ANY (sequences)
    AND NOT EXISTS (SELECT FROM projection p WHERE p.name <> take.projection AND p.name <> ALL (o.taken));
    WITH marked AS (
        UPDATE outbox o SET taken = array_append(o.taken, take.projection)
        WHERE o.sequence = ANY (sequences) AND take.projection <> ALL (o.taken)
        RETURNING o.sequence
    )
    SELECT array_agg(marked.sequence) INTO remaining FROM marked;
    DELETE FROM outbox o
    WHERE o.sequence = ANY (remaining)
    AND NOT EXISTS (SELECT FROM projection p WHERE p.name <> take.projection AND p.name <> ALL (o.taken));
END
$$;
