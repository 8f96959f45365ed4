-- How much a whole tenant holds, so that a question about it, and each write under a quota, costs the same however many
-- users the tenant has.
CREATE TABLE tenant_usage (
    tenant TEXT NOT NULL,
    kind   TEXT NOT NULL,
    rows   INTEGER NOT NULL,
    bytes  INTEGER NOT NULL,
    PRIMARY KEY (tenant, kind)
) STRICT, WITHOUT ROWID;

INSERT INTO tenant_usage SELECT tenant, kind, sum(rows), sum(bytes) FROM usage GROUP BY 1, 2;

CREATE TRIGGER tenant_usage_grows AFTER INSERT ON usage
BEGIN
    INSERT INTO tenant_usage VALUES (NEW.tenant, NEW.kind, NEW.rows, NEW.bytes)
    ON CONFLICT DO UPDATE SET rows = rows + excluded.rows, bytes = bytes + excluded.bytes;
END;

CREATE TRIGGER tenant_usage_changes AFTER UPDATE OF rows, bytes ON usage
BEGIN
    UPDATE tenant_usage SET rows = rows + NEW.rows - OLD.rows, bytes = bytes + NEW.bytes - OLD.bytes
    WHERE tenant = NEW.tenant AND kind = NEW.kind;
END;
