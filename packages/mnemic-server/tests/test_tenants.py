"""`mnemic tenants`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from mnemic.cli import cli
from mnemic.testing.embedder import WordEmbedder


def run(store: Path, *words: str) -> Result:
    return CliRunner().invoke(cli, ["--store", str(store), "--json", "tenants", *words], prog_name="mnemic")


def told(result: Result) -> list[dict[str, Any]]:
    assert result.exit_code == 0, result.output
    tenants: list[dict[str, Any]] = json.loads(result.stdout)["tenants"]
    return tenants


def test_a_tenant_is_made_limited_suspended_and_resumed(tmp_path: Path) -> None:
    store = tmp_path / "s.db"
    (made,) = told(run(store, "create", "acme", "--label", "Acme Ltd.", "--rows", "10", "--user-rows", "5"))
    assert [(one["per"], one["rows"]) for one in made["quotas"]] == [("tenant", 10), ("user", 5)]
    (limited,) = told(run(store, "limit", "acme", "--bytes", "2000", "--soft", "0.5"))
    assert limited["quotas"] == [
        {"per": "tenant", "rows": 10, "bytes": 2000, "soft": 0.5, "on_full": "refuse"},
        {"per": "user", "rows": 5, "soft": 0.8, "on_full": "refuse"},
    ]
    assert told(run(store, "suspend", "acme"))[0]["suspended_at"] is not None
    assert told(run(store, "resume", "acme"))[0]["suspended_at"] is None
    assert told(run(store, "limit", "acme", "--as-settings"))[0]["quotas"] is None
    assert [(one["tenant"], one["label"]) for one in told(run(store, "list"))] == [("acme", "Acme Ltd.")]


def test_what_is_not_named_stays_and_one_limit_can_be_taken_away(tmp_path: Path) -> None:
    store = tmp_path / "s.db"

    def quotas(*words: str) -> dict[tuple[str, str | None], dict[str, Any]]:
        (tenant,) = told(run(store, *words))
        return {(one["per"], one.get("kind")): one for one in tenant["quotas"]}

    quotas("create", "acme", "--rows", "10", "--user-rows", "5", "--user-bytes", "100")
    kept = quotas("limit", "acme", "--kind", "episodic", "--user-rows", "2")
    assert (kept["user", None]["rows"], kept["user", "episodic"]["rows"], kept["tenant", None]["rows"]) == (5, 2, 10)
    kept = quotas("limit", "acme", "--user-rows", "6", "--unlimited", "user-bytes")
    assert kept["user", None] == {"per": "user", "rows": 6, "soft": 0.8, "on_full": "refuse"}
    assert kept.keys() == {("tenant", None), ("user", None), ("user", "episodic")}
    kept = quotas("limit", "acme", "--unlimited", "user-rows", "--unlimited", "rows")
    assert kept.keys() == {("user", "episodic")}
    assert quotas("limit", "acme", "--kind", "episodic", "--unlimited", "user-rows") == {}
    words = ["--store", str(store), "tenants", "list"]
    assert "no limit" in CliRunner().invoke(cli, words, prog_name="mnemic").stdout


@pytest.mark.parametrize(
    ("words", "code"),
    [
        (("suspend", "nobody"), 1),
        (("create", "a b"), 3),
        (("create",), 2),
        (("limit", "acme"), 2),
        (("limit", "acme", "--rows", "1", "--as-settings"), 2),
        (("limit", "acme", "--rows", "1", "--unlimited", "rows"), 2),
        (("limit", "acme", "--rows", "1", "--kind", "dreams"), 3),
    ],
)
def test_what_cannot_be_done_says_why(tmp_path: Path, words: tuple[str, ...], code: int) -> None:
    store = tmp_path / "s.db"
    told(run(store, "create", "acme"))
    assert run(store, *words).exit_code == code


def test_a_tenants_limits_hold_on_the_command_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("mnemic.bootstrap.build_embedder", lambda settings, clock: WordEmbedder())
    store = tmp_path / "s.db"
    told(run(store, "create", "small", "--user-rows", "1"))

    def written(text: str, tenant: str) -> str:
        words = ["--store", str(store), "--user", "ana", "--tenant", tenant, "--json", "add", text]
        receipt = json.loads(CliRunner().invoke(cli, words, prog_name="mnemic").stdout)
        return str(receipt["reason"] or receipt["outcome"])

    assert [written(text, "small") for text in ("I like tea.", "I ski.")] == ["created", "quota_exceeded:user.rows"]
    assert [written(text, "large") for text in ("I like tea.", "I ski.")] == ["created", "created"]
    assert [one["tenant"] for one in told(run(store, "list"))] == ["small"]
