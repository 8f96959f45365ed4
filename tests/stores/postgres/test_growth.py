"""Queries about a whole tenant cost the same however many users it has."""

from __future__ import annotations

from pathlib import Path

from bench.tenants import measured
from tests.servers import PostgresServer


async def test_usage_and_marks_read_as_many_blocks_of_a_tenant_of_many_users(
    postgres: PostgresServer, tmp_path: Path
) -> None:
    few, many = await measured(postgres, tmp_path, [1_000, 20_000])
    for name, blocks in few["blocks"].items():
        assert many["blocks"][name] <= blocks + 3, name
