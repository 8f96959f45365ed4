-- What the fields of structured memories say, so that a query by fields reads what it finds and not all there is. Facets are
-- salted 32-bit hashes, as terms are; 0 is that of a memory that may have every facet: sealed ones, and those of before.
CREATE TABLE facet (
    scope_id  INTEGER NOT NULL,
    facet     INTEGER NOT NULL,
    memory_id TEXT NOT NULL,
    row_id    INTEGER NOT NULL REFERENCES memory (row_id) ON DELETE CASCADE,
    PRIMARY KEY (scope_id, facet, memory_id)
) STRICT, WITHOUT ROWID;

CREATE INDEX facet_by_row ON facet (row_id, facet);

INSERT INTO facet SELECT scope_id, 0, memory_id, row_id FROM memory WHERE kind = 'structured';
