-- `changes` grows with every change inside a scope and stamps the memory it changed, so that a process can bring its search
-- index up to date by reading only what is newer; `removed_at` is the last change that removed a memory. What was there before
-- this step counts as the first change: row-level security would hide the rows from an UPDATE.

ALTER TABLE scope ADD COLUMN changes bigint NOT NULL DEFAULT 1, ADD COLUMN removed_at bigint NOT NULL DEFAULT 0;
ALTER TABLE memory ADD COLUMN changed bigint NOT NULL DEFAULT 1;
CREATE INDEX memory_by_change ON memory (tenant, scope_id, changed, number);
