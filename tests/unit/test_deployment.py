"""The files an installation begins with: parsed, checked by the tools that are here, and held to the settings."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml

from mnemic.cli import COMMANDS
from mnemic.stores.postgres import PostgresStore
from mnemic.testing.record_store import EMBEDDER, memory, remember
from tests.architecture.sources import ROOT
from tests.e2e.settings_page import MARK, PAGE, rendered, variables
from tests.processes import running
from tests.servers import INSTALLED, PostgresServer
from tests.supply_chain import locked

DEPLOY = ROOT / "deploy"
SYSTEMD = shutil.which("systemd-analyze")
KNOWN = variables()


def test_the_reference_of_the_settings_is_made_of_them() -> None:
    said = PAGE.read_text(encoding="utf-8").partition(MARK)[2].strip()
    assert said == rendered().strip(), "python -m tests.e2e.settings_page writes it anew"


@pytest.mark.parametrize("path", sorted(p for p in DEPLOY.rglob("*") if p.is_file()), ids=lambda p: p.name)
def test_every_variable_is_a_setting(path: Path) -> None:
    named = set(re.findall(r"\bMNEMIC_[A-Z_]+[A-Z]\b", path.read_text(encoding="utf-8")))
    assert named - KNOWN == set()


def test_compose_starts_what_there_is_and_waits_for_it() -> None:
    compose: dict[str, Any] = yaml.safe_load((DEPLOY / "compose.yaml").read_text(encoding="utf-8"))
    services = compose["services"]
    assert set(services) == {"schema", "api", "worker", "postgres", "redis", "neo4j"}
    for name in ("schema", "api", "worker"):
        assert services[name]["command"][0] in COMMANDS
        assert set(services[name]["depends_on"]) <= set(services)
        assert services[name]["read_only"] is True
        assert (DEPLOY / services[name]["build"]["context"] / services[name]["build"]["dockerfile"]).exists()
    waited = [name for name, how in services["api"]["depends_on"].items() if how["condition"] == "service_healthy"]
    assert all("healthcheck" in services[name] for name in waited)
    mounted = {entry.partition(":")[0] for service in services.values() for entry in service.get("volumes", ())}
    assert {name for name in mounted if not name.startswith("./")} == set(compose["volumes"])
    assert all((DEPLOY / name).is_file() for name in mounted if name.startswith("./"))
    tested = re.findall(
        r"<version>(\d+\.\d+)\.\d+</version>", (ROOT / "tests" / "neo4j-pom.xml").read_text(encoding="utf-8")
    )
    assert {services["neo4j"]["image"].partition(":")[2]} == {f"{version}-community" for version in tested}
    assert not re.search(r"PASSWORD: [a-z]", (DEPLOY / "compose.yaml").read_text(encoding="utf-8"))


def test_one_container_serves_one_file_at_the_port_that_the_pages_name() -> None:
    compose: dict[str, Any] = yaml.safe_load((DEPLOY / "compose.sqlite.yaml").read_text(encoding="utf-8"))
    (one,) = compose["services"].values()
    assert one["command"][0] in COMMANDS
    assert (DEPLOY / one["build"]["context"] / one["build"]["dockerfile"]).exists()
    assert one["read_only"] is True
    kept = one["volumes"][0].partition(":")[2]
    assert Path(one["environment"]["MNEMIC_STORE"]).is_relative_to(kept)
    assert set(compose["volumes"]) == {one["volumes"][0].partition(":")[0]}


@pytest.mark.parametrize("name", ["compose.yaml", "compose.sqlite.yaml"])
def test_every_port_is_published_where_the_pages_say(name: str) -> None:
    """`127.0.0.1::8377` would be a random port of the host, `8377:8377` every address of it."""
    compose: dict[str, Any] = yaml.safe_load((DEPLOY / name).read_text(encoding="utf-8"))
    published = [port for service in compose["services"].values() for port in service.get("ports", ())]
    assert published
    assert [port for port in published if not re.fullmatch(r"127\.0\.0\.1:8377(-8386)?:8377", port)] == []


def test_nothing_logs_in_as_the_servers_superuser() -> None:
    services = yaml.safe_load((DEPLOY / "compose.yaml").read_text(encoding="utf-8"))["services"]
    logins = {name: str(one["environment"].get("MNEMIC_STORE")) for name, one in services.items() if "build" in one}
    assert {name: login.partition("//")[2].partition(":")[0] for name, login in logins.items()} == {
        "schema": "mnemic_owner",
        "api": "memories",
        "worker": "memories",
    }
    assert "POSTGRES_PASSWORD" not in "".join(logins.values())
    assert services["postgres"]["environment"]["POSTGRES_USER"] not in {"mnemic_owner", "memories"}
    passwords = {re.findall(r"\$\{(\w+):", login)[0] for login in logins.values()}
    assert passwords == {"OWNER_PASSWORD", "MEMORIES_PASSWORD"}


def _made_logins(server: PostgresServer) -> None:
    psql = [str(INSTALLED / "bin" / "psql"), "-v", "ON_ERROR_STOP=1", "-h", str(server.folder), "-U", "postgres"]
    script = ["-f", str(DEPLOY / "postgres" / "logins.sql")]
    given = {**os.environ, "MEMORIES_PASSWORD": "m'1", "OWNER_PASSWORD": "o 2"}
    made = subprocess.run([*psql, *script], capture_output=True, env=given, text=True, check=False)
    assert made.returncode == 0, made.stderr


async def test_the_logins_of_the_compose_file_are_enough_and_no_superusers() -> None:
    with running(PostgresServer("fsync=off")) as server:
        _made_logins(server)
        owner, app = (server.dsn().replace("//postgres@", f"//{name}@") for name in ("mnemic_owner", "memories"))
        for dsn in (owner, app):
            store = PostgresStore(dsn)
            await store.open(EMBEDDER.space)
            await remember(store, memory(f"tea for {dsn}"))
            await store.close()
        told = server.sql("SELECT rolname FROM pg_roles WHERE rolcanlogin AND rolsuper")
        assert [row["rolname"] for row in told] == ["postgres"]


IN_THE_IMAGE = ("client", "server", "travel")
"""The packages of this repository that the service needs beside the library."""


def test_the_image_runs_as_nobody_special_and_copies_what_there_is() -> None:
    text = (DEPLOY / "Containerfile").read_text(encoding="utf-8").replace("\\\n", "")
    lines = [line.split(maxsplit=1) for line in text.splitlines() if line and not line.startswith("#")]
    last = max(at for at, line in enumerate(lines) if line[0] == "FROM")
    assert ["USER", "10001"] in lines[last:]
    assert {line[0] for line in lines} <= {
        "FROM", "WORKDIR", "COPY", "RUN", "ENV", "USER", "VOLUME", "EXPOSE", "HEALTHCHECK", "STOPSIGNAL",
        "ENTRYPOINT", "CMD",
    }  # fmt: skip
    copied = [name for line in lines[:last] if line[0] == "COPY" for name in line[1].split()[:-1]]
    assert [name for name in copied if not (ROOT / name).exists()] == []
    installed = [" ".join(words.split()) for words in re.findall(r"pip install ([^&\n]+)", text)]
    assert installed == [
        "--no-cache-dir --require-hashes --no-deps --requirement requirements-service.lock",
        "--no-cache-dir --no-deps --no-build-isolation . "
        + " ".join(f"./packages/mnemic-{name}" for name in IN_THE_IMAGE),
    ]


def test_the_lock_of_the_service_holds_what_it_needs_in_the_versions_that_are_tested() -> None:
    service, tested = (_locked(ROOT / name) for name in ("requirements-service.lock", "requirements.lock"))
    assert service.items() <= tested.items()
    needed = {"fastapi", "uvicorn", "asyncpg", "redis", "neo4j", "mcp", "hatchling", "opentelemetry-sdk"}
    assert needed <= service.keys()
    assert service.keys().isdisjoint({"pytest", "ruff", "mypy"})


def _locked(path: Path) -> dict[str, str]:
    return {one.name: one.version for one in locked(path)}


def test_both_units_are_the_same_user_on_the_same_folder() -> None:
    for word in ("User", "DynamicUser", "StateDirectory"):
        said = {
            tuple(re.findall(rf"^{word}=.+$", unit.read_text(encoding="utf-8"), re.MULTILINE))
            for unit in (DEPLOY / "systemd").glob("*.service")
        }
        assert len(said) == 1
        assert len(said.pop()) == 1, word


@pytest.mark.skipif(SYSTEMD is None, reason="NOT RUN: there is no systemd-analyze")
@pytest.mark.parametrize("unit", sorted((DEPLOY / "systemd").glob("*.service")), ids=lambda unit: unit.name)
def test_systemd_takes_the_unit(unit: Path, tmp_path: Path) -> None:
    text = unit.read_text(encoding="utf-8")
    command = re.search(r"^ExecStart=\S+/mnemic (\w+)", text, re.MULTILINE)
    assert command is not None
    assert command[1] in COMMANDS
    (tmp_path / unit.name).write_text(text.replace("/opt/mnemic/bin/mnemic", "/bin/true"), encoding="utf-8")
    verified = subprocess.run(
        [str(SYSTEMD), "verify", "--recursive-errors=no", "--man=no", str(tmp_path / unit.name)],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert (verified.returncode, verified.stderr.strip()) == (0, "")
