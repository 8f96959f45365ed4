"""Tables of a keyspace, and the statements on them. Values are bound, never written into a statement."""

# ruff: noqa: S608 - the statements are put together of constants

from __future__ import annotations

VERSION = 100
"""That of the first release. Smaller numbers belong to states of the program that were never released."""

KEYSPACE = """CREATE KEYSPACE IF NOT EXISTS {keyspace}
    WITH replication = {{'class': 'NetworkTopologyStrategy', 'replication_factor': {copies}}}"""

_SOON = "speculative_retry = 'MIN(99p,50ms)'"
"""A third copy is asked after 50 ms: after slow minutes the default, 99 % of past times, would be seconds."""

TABLES = (
    # Everything that a transaction changes. `version` counts its commits, `writers` names the last of them, `pending`
    # the change over several partitions that locks it.
    f"""CREATE TABLE IF NOT EXISTS {{keyspace}}.rows (
        tenant text, level text, owner text, name text, key blob, value blob,
        version bigint static, writers text static, pending text static,
        PRIMARY KEY ((tenant, level, owner), name, key)) WITH {_SOON}""",
    # The partitions of each tenant.
    f"""CREATE TABLE IF NOT EXISTS {{keyspace}}.directory (
        shard int, tenant text, level text, owner text, PRIMARY KEY (shard, tenant, level, owner)) WITH {_SOON}""",
    # The partitions whose journals have lines to be collected. A row is written once and deleted once. A row that
    # reappears does no harm, so its tombstone expires soon: every query for the usage of a tenant reads over them.
    f"""CREATE TABLE IF NOT EXISTS {{keyspace}}.uncollected (
        shard int, tenant text, level text, owner text, id text, PRIMARY KEY (shard, tenant, level, owner, id))
        WITH gc_grace_seconds = 300 AND {_SOON}""",
    # The partitions being written to by transactions that have read the tenant's rows outside its scopes.
    f"""CREATE TABLE IF NOT EXISTS {{keyspace}}.writing (
        tenant text, level text, owner text, id text, PRIMARY KEY (tenant, level, owner, id))
        WITH default_time_to_live = 240 AND gc_grace_seconds = 3600 AND {_SOON}""",
    # Changes over several partitions: the decision about each, and its rows.
    f"""CREATE TABLE IF NOT EXISTS {{keyspace}}.change (
        id text, part text, redo blob, state text static, PRIMARY KEY (id, part)) WITH {_SOON}""",
    "CREATE TABLE IF NOT EXISTS {keyspace}.about (name text PRIMARY KEY, value text)",
    # The identifiers that archives are assigning to memories now, with their scopes.
    """CREATE TABLE IF NOT EXISTS {keyspace}.claim (
        tenant text, memory text, level text, owner text, PRIMARY KEY ((tenant, memory)))
        WITH default_time_to_live = 600 AND gc_grace_seconds = 3600""",
)

LAST_TABLE = "claim"
"""The last of the tables: if it exists, all of them do."""

_HERE = "WHERE tenant = ? AND level = ? AND owner = ?"
_LISTED = "WHERE shard = ? AND tenant = ? AND level = ? AND owner = ?"
_SCAN = f"SELECT key, value, version, pending FROM rows {_HERE} AND name = ? AND key >= ? AND key < ?"

STATEMENTS = {
    "small": f"SELECT name, key, value, version, writers, pending FROM rows {_HERE} AND name < 'b'",
    "state": f"SELECT version, writers, pending FROM rows {_HERE} LIMIT 1",
    "get": f"SELECT key, value, version, pending FROM rows {_HERE} AND name = ? AND key IN ?",
    "scan": f"{_SCAN} LIMIT ?",
    # The version is selected so that a read that repairs rows repairs it too.
    "whole": f"SELECT key, value, version FROM rows {_HERE} AND name = ?",
    "scan_back": f"{_SCAN} ORDER BY name DESC, key DESC LIMIT ?",
    "put": "INSERT INTO rows (tenant, level, owner, name, key, value) VALUES (?, ?, ?, ?, ?, ?)",
    "remove": f"DELETE FROM rows {_HERE} AND name = ? AND key = ?",
    "step": f"UPDATE rows SET version = ?, writers = ? {_HERE} IF version = ? AND pending = ?",
    "hold": f"UPDATE rows SET pending = ? {_HERE} IF version = ? AND pending = ?",
    "while_locked": f"UPDATE rows SET pending = ? {_HERE} IF pending = ?",
    "release": f"UPDATE rows SET pending = null {_HERE} IF pending = ?",
    "finish": f"UPDATE rows SET version = ?, writers = ?, pending = null {_HERE} IF pending = ?",
    "list": "INSERT INTO directory (shard, tenant, level, owner) VALUES (?, ?, ?, ?)",
    "listed": "SELECT level, owner FROM directory WHERE shard = ? AND tenant = ?",
    "tenants": "SELECT tenant FROM directory WHERE shard = ?",
    "note": "INSERT INTO uncollected (shard, tenant, level, owner, id) VALUES (?, ?, ?, ?, ?)",
    "noted": "SELECT tenant, level, owner, id FROM uncollected WHERE shard = ?",
    "noted_of": "SELECT tenant, level, owner, id FROM uncollected WHERE shard = ? AND tenant = ?",
    "unnote": f"DELETE FROM uncollected USING TIMESTAMP ? {_LISTED} AND id = ?",
    "announce": "INSERT INTO writing (tenant, level, owner, id) VALUES (?, ?, ?, ?)",
    "announced": "SELECT level, owner FROM writing WHERE tenant = ?",
    "redo": "INSERT INTO change (id, part, redo) VALUES (?, ?, ?)",
    "begin": "INSERT INTO change (id, part, state) VALUES (?, '', 'open') IF NOT EXISTS",
    "refuse": "INSERT INTO change (id, part, state) VALUES (?, '', 'aborted') IF NOT EXISTS",
    "decide": "UPDATE change SET state = ? WHERE id = ? IF state = 'open'",
    "decided": "SELECT state FROM change WHERE id = ? LIMIT 1",
    "redone": "SELECT redo FROM change WHERE id = ? AND part = ?",
    "forget": "DELETE FROM change USING TIMESTAMP ? WHERE id = ?",
    "left": "SELECT id, part, WRITETIME(redo) FROM change",
    "claim": "INSERT INTO claim (tenant, memory, level, owner) VALUES (?, ?, ?, ?) IF NOT EXISTS",
    "claimed": "SELECT level, owner FROM claim WHERE tenant = ? AND memory = ?",
    "know": "INSERT INTO about (name, value) VALUES (?, ?) IF NOT EXISTS",
    "passed": "INSERT INTO about (name, value) VALUES (?, ?)",
    "known": "SELECT value FROM about WHERE name = ?",
    "now": "SELECT toTimestamp(now()) FROM system.local",
    "graces": "SELECT table_name, gc_grace_seconds FROM system_schema.tables WHERE keyspace_name = ?",
    "settings": "SELECT value FROM system_views.settings WHERE name = 'commitlog_sync'",
}
