-- The vector space that is being filled beside the present one. Its vectors become the present ones in one step, by changing
-- the names of the two columns; so no statement names the columns of memory_search by their place.

CREATE TABLE next_space (
    only      INTEGER PRIMARY KEY CHECK (only = 1),
    model     TEXT NOT NULL,
    dimension INTEGER NOT NULL CHECK (dimension > 0)
) STRICT;

ALTER TABLE memory_search ADD COLUMN next_vector BLOB;
