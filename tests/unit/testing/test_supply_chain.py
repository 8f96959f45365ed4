"""What an installation is made of is pinned, listed and looked up."""

from __future__ import annotations

import json
import re
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any

import pytest

from tests.architecture.sources import ROOT
from tests.supply_chain import Locked, audit, known_against, locked, main, sbom

LOCKS = sorted(ROOT.glob("requirements*.lock"))


class Database(BaseHTTPRequestHandler):
    """Knows something against one package; of `short` it answers for none."""

    short = False

    def do_POST(self) -> None:
        asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))["queries"]
        bad = [{"vulns": [{"id": "X-2"}, {"id": "X-1"}]} if "/bad@" in one["package"]["purl"] else {} for one in asked]
        said = json.dumps({"results": [] if self.short else bad}).encode()
        self.send_response(200)
        self.end_headers()
        self.wfile.write(said)

    def log_message(self, *_: Any) -> None:
        """Say nothing."""


@pytest.fixture
def database(monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    with HTTPServer(("127.0.0.1", 0), Database) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()
        thread.join()


@pytest.mark.parametrize("lock", LOCKS, ids=lambda lock: lock.name)
def test_every_package_of_a_lock_has_its_hashes(lock: Path) -> None:
    packages = locked(lock)
    text = lock.read_text(encoding="utf-8")
    assert len(packages) == len(re.findall(r"^[a-z0-9._-]+(?:\[.+\])?==", text, re.MULTILINE)) > 10
    assert all(one.hashes for one in packages)


def test_the_bill_of_materials_lists_the_lock_of_the_service(capsys: pytest.CaptureFixture[str]) -> None:
    lock = ROOT / "requirements-service.lock"
    assert main("sbom", str(lock)) == 0
    told = json.loads(capsys.readouterr().out)
    assert told == sbom(lock)
    assert {one["purl"] for one in told["components"]} == {one.purl for one in locked(lock)}
    assert {"bomFormat", "specVersion", "metadata", "components"} <= told.keys()


def test_what_is_known_against_a_package_fails_the_audit(
    database: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    good, bad = tmp_path / "good.lock", tmp_path / "bad.lock"
    good.write_text(f"fine==1.0 \\\n    --hash=sha256:{'0' * 64}\n", encoding="utf-8")
    bad.write_text(f"bad==2.0 \\\n    --hash=sha256:{'1' * 64} \\\n    --hash=sha256:{'2' * 64}\n", encoding="utf-8")
    assert audit([good], url=database) == 0
    assert audit([good, bad], url=database) == 1
    assert "pkg:pypi/bad@2.0: X-1, X-2" in capsys.readouterr().out


def test_who_could_not_be_asked_has_found_nothing_good(
    database: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(Database, "short", True)
    with pytest.raises(ValueError, match="every package"):
        known_against([Locked("fine", "1", ())], url=database)
    lock = tmp_path / "a.lock"
    lock.write_text(f"fine==1.0 \\\n    --hash=sha256:{'0' * 64}\n", encoding="utf-8")
    assert audit([lock], url="http://127.0.0.1:1") == 2
    assert "NOT AUDITED" in capsys.readouterr().err


def test_every_action_is_pinned_by_its_commit() -> None:
    text = (ROOT / ".github" / "workflows" / "ci.yml").read_text(encoding="utf-8")
    used = re.findall(r"uses: (\S+)(.*)", text)
    assert used
    assert all(re.fullmatch(r"actions/[a-z-]+@[0-9a-f]{40}", one) and "# v" in said for one, said in used)


def test_what_is_installed_by_the_makefile_is_checked_by_hash() -> None:
    files = [ROOT / "Makefile", *(ROOT / "tests" / "make").glob("*.mk")]
    text = "\n".join(file.read_text(encoding="utf-8") for file in files).replace("\\\n", " ")
    unchecked = [
        line.strip() for line in text.splitlines() if re.search(r"pip\)? install|pip install", line)
        if "--require-hashes" not in line and "--no-deps" not in line and "uv>=" not in line
    ]  # fmt: skip
    assert unchecked == []
