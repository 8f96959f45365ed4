-- What each row is to say, as a number, so that a changed byte is noticed before it is believed. NULL: a row from before, which
-- the next maintenance gives one; the partial indexes find these and are empty from then on.

ALTER TABLE memory ADD COLUMN checksum INTEGER;
ALTER TABLE memory_version ADD COLUMN checksum INTEGER;
ALTER TABLE memory_search ADD COLUMN vector_check INTEGER;
ALTER TABLE memory_search ADD COLUMN words_check INTEGER;
ALTER TABLE memory_search ADD COLUMN next_vector_check INTEGER;
ALTER TABLE mark ADD COLUMN checksum INTEGER;
ALTER TABLE request ADD COLUMN checksum INTEGER;
ALTER TABLE tenant ADD COLUMN checksum INTEGER;

CREATE INDEX memory_unchecked ON memory (row_id) WHERE checksum IS NULL;
CREATE INDEX memory_version_unchecked ON memory_version (tenant, memory_id, version) WHERE checksum IS NULL;
CREATE INDEX memory_search_unchecked ON memory_search (row_id) WHERE words_check IS NULL;
