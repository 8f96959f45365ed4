"""Defences that are taken out on purpose, one at a time: the tests of a row must notice each.

`python -m tests.scorecard.plants` copies the sources aside, takes out a defence in the copy and runs the tests that are
to fail there. `--only` names rows. Exit code 1 unless every one was noticed.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from tests.scorecard.row import ROOT

COPIED = ("src", "packages", "bench", "tests", "docs", "deploy", "clients", "examples")
SECONDS = 600
"""A run that takes longer says nothing: the tests that look for a hang have a limit each."""
_FAILED = 1
"""The exit code of pytest where tests ran and some failed; any other says nothing about the defence."""

Outcome = Literal["noticed", "survived", "did not run"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Plant:
    """A defect: in `file`, `was` becomes `now`. At least one of `tests` must fail of it."""

    row: str
    defect: str
    file: str
    was: str
    now: str
    tests: tuple[str, ...]

    @contextmanager
    def planted(self, root: Path) -> Iterator[None]:
        """The defect is there until the end."""
        file = root / self.file
        text = file.read_text(encoding="utf-8")
        file.write_text(text.replace(self.was, self.now), encoding="utf-8")
        try:
            yield
        finally:
            file.write_text(text, encoding="utf-8")


REST = "tests/unit/server"
FRONT = "packages/mnemic-server/src/mnemic_server"
SQLITE = "src/mnemic/stores/sqlite"
OPERATIONS = "src/mnemic/operations"

PLANTS = (
    Plant(
        row="S1",
        defect="a write is acknowledged that is not committed",
        file=f"{SQLITE}/failures.py",
        was='        connection.execute("COMMIT")\n',
        now='        connection.execute("ROLLBACK")\n',
        tests=("tests/faults/test_kills.py",),
    ),
    Plant(
        row="S28",
        defect="a large body is read before its sender is known",
        file=f"{FRONT}/request_limits.py",
        was="if known or size <= self._bounds.stranger_bytes:",
        now="if True:",
        tests=(f"{REST}/test_concurrency_shares.py",),
    ),
    Plant(
        row="S28",
        defect="a connection too many is taken in, and none goes for it",
        file=f"{FRONT}/connections.py",
        was="if len(self._open) >= self.most and not self._cut_one(None):",
        now="if False:",
        tests=(f"{REST}/test_connections.py",),
    ),
    Plant(
        row="S29",
        defect="an operator manages the keys of admins",
        file=f"{FRONT}/access.py",
        was="if (foreign or Role.ADMIN in roles) and Role.ADMIN not in principal.roles:",
        now="if foreign and Role.ADMIN not in principal.roles:",
        tests=(f"{REST}/test_key_rights.py",),
    ),
    Plant(
        row="S29",
        defect="an admin of one tenant manages the keys of another",
        file=f"{FRONT}/access.py",
        was="if foreign and not is_service_admin(principal, service):\n        return Refusal(",
        now="if False:\n        return Refusal(",
        tests=(f"{REST}/test_key_rights.py",),
    ),
    Plant(
        row="S29",
        defect="a token outlives the secret that signed it",
        file=f"{FRONT}/bearer_tokens.py",
        was="for shown in key.live(now) if shown in key.signing]",
        now="for shown in key.signing]",
        tests=(f"{REST}/test_credentials.py",),
    ),
    Plant(
        row="S30",
        defect="a row's checksum is not compared",
        file="src/mnemic/stores/encryption.py",
        was="if checksum != body_check(scope.tenant, scope.level.value, scope.owner, body):",
        now="if False:",
        tests=("tests/faults/test_damage.py",),
    ),
    Plant(
        row="S31",
        defect="a backup is not synced",
        file=f"{OPERATIONS}/sqlite/backup.py",
        was="    sync_to_disk(target)\n",
        now="",
        tests=("tests/faults/test_recovery.py",),
    ),
    Plant(
        row="S31",
        defect="the folder is not synced after the rename",
        file="src/mnemic/stores/atomic_files.py",
        was="    part.replace(target)\n    sync_to_disk(target.parent)\n",
        now="    part.replace(target)\n",
        tests=("tests/faults/test_recovery.py",),
    ),
    Plant(
        row="S31",
        defect="a restore says verified over a file that the log of an earlier one destroys",
        file="src/mnemic/stores/atomic_files.py",
        was="    for name in _BESIDE:\n",
        now="    for name in ():\n",
        tests=("tests/faults/test_recovery.py",),
    ),
    Plant(
        row="S31",
        defect="a restore says verified over a copy that is destroyed",
        file=f"{OPERATIONS}/sqlite/backup.py",
        was="    manifest = check_backup(folder)\n    if target.exists():",
        now='    manifest = manifest_in(folder, "sqlite")\n    if target.exists():',
        tests=("tests/e2e/test_cli_backup.py",),
    ),
    Plant(
        row="S31",
        defect="an erasure that ends after the copy was made counts as one before it",
        file=f"{OPERATIONS}/erasures_since_backup.py",
        was="done = ended - later if known else set()",
        now="done = ended",
        tests=("tests/faults/test_recovery.py",),
    ),
    Plant(
        row="S31",
        defect="a memory that was refreshed meanwhile expires",
        file="src/mnemic/maintenance/expiry_job.py",
        was="if present is not None and present.version == memory.version:",
        now="if present is not None:",
        tests=("tests/maintenance/test_expiry_job.py::test_a_memory_that_is_refreshed_meanwhile_stays",),
    ),
    Plant(
        row="S32",
        defect="what holds after a request is not compared with the policy",
        file="src/mnemic/dispatch/__init__.py",
        was="candidate = check_candidate(one.candidate, call.rules.policy, call.rules.budget)",
        now="candidate = one.candidate",
        tests=("tests/security/test_dispatch.py",),
    ),
    Plant(
        row="S33",
        defect="an old process writes on under a newer schema",
        file=f"{SQLITE}/failures.py",
        was="        check_schema(connection)\n        yield\n",
        now="        yield\n",
        tests=("tests/migration/test_migrations.py",),
    ),
    Plant(
        row="S33",
        defect="a write goes into a file that is gone",
        file=f"{SQLITE}/open_file.py",
        was="if _identity(self._path) != self._identity:",
        now="if False:",
        tests=("tests/faults/test_replaced_files.py",),
    ),
    Plant(
        row="S33",
        defect="what was opened before a fork is used after it",
        file="src/mnemic/runtime/fork_check.py",
        was="        if os.getpid() != self._process:\n",
        now="        if False:\n",
        tests=("tests/faults/test_forks.py::test_documents_say_so",),
    ),
    Plant(
        row="S34",
        defect="a set from a snapshot is believed",
        file="src/mnemic/stores/redis/hot_set.py",
        was="string.match(redis.call('INFO', 'server'), 'run_id:(%w+)')",
        now="'always'",
        tests=("tests/faults/test_redis_snapshots.py",),
    ),
    Plant(
        row="S35",
        defect="what waits for a model takes the places of plain requests",
        file=f"{FRONT}/request_limits.py",
        was="shares = self._models if _may_wait_for_model(scope) else self._requests",
        now="shares = self._requests",
        tests=(f"{REST}/test_concurrency_shares.py",),
    ),
    Plant(
        row="S35",
        defect="a model that does not answer is asked again and again",
        file="src/mnemic/providers/model_breakers.py",
        was="        circuit.count_timeout(opens=opens)\n",
        now="        circuit.close_circuit()\n",
        tests=("tests/unit/providers/test_circuit_breakers.py",),
    ),
    Plant(
        row="S36",
        defect="a regular expression takes quadratic time",
        file="src/mnemic/language/text/analyse.py",
        was='_HUMPED = re.compile(r"[a-z][A-Z]|[A-Z]{2}[a-z]")',
        now='_HUMPED = re.compile(r"[a-z][A-Z]|[A-Z]{2}[a-z]|\\s+x")',
        tests=("tests/security/test_linear_patterns.py",),
    ),
    Plant(
        row="S36",
        defect="a text is read on the event loop",
        file="src/mnemic/structured/structured_memory.py",
        was="await asyncio.to_thread(lambda: [reader.read(text, sent_on=sent_on) for reader in readers])",
        now="[reader.read(text, sent_on=sent_on) for reader in readers]",
        tests=(f"{REST}/test_kinds.py",),
    ),
    Plant(
        row="S38",
        defect="a signature of an audit line is not checked",
        file="src/mnemic/stores/audit_chain.py",
        was="hmac.compare_digest(signature.encode(), sign(digest).encode())",
        now="True",
        tests=("tests/stores/sqlite/test_signed_audit.py",),
    ),
    Plant(
        row="S39",
        defect="OpenAI's key goes to any address",
        file="src/mnemic/config/settings.py",
        was="if self.api_key is None or (theirs and elsewhere) else",
        now="if self.api_key is None else",
        tests=("tests/unit/test_config_parsing.py",),
    ),
    Plant(
        row="S39",
        defect="the session's cookie is sent in clear",
        file=f"{FRONT}/routes/console.py",
        was='path="/", httponly=True, samesite="strict", secure=secure)\n\n\ndef end_session',
        now='path="/", httponly=True, samesite="strict", secure=False)\n\n\ndef end_session',
        tests=(f"{REST}/test_sessions.py",),
    ),
    Plant(
        row="S40",
        defect="what is known against a package does not fail the audit",
        file="tests/supply_chain.py",
        was="    return 1 if found else 0\n",
        now="    return 0\n",
        tests=("tests/unit/testing/test_supply_chain.py",),
    ),
)


def noticed(plant: Plant, root: Path) -> tuple[Outcome, str]:
    """What the tests said of the defect in the copy at `root`, and the end of their report."""
    sources = [root, root / "src", *sorted(root.glob("packages/*/src")), root / "bench/eval/src"]
    command = [sys.executable, "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider", *plant.tests]
    environment = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join(map(str, sources)),
        "MNEMIC_FAULT_SCALE": "small",
        "CI": "",
    }
    with plant.planted(root):
        try:
            done = subprocess.run(
                command, cwd=root, env=environment, capture_output=True, text=True, timeout=SECONDS, check=False
            )
        except subprocess.TimeoutExpired:
            return "did not run", f"not to its end in {SECONDS} seconds"
    last = done.stdout.strip().splitlines()[-1:]
    outcome: Outcome = "noticed" if done.returncode == _FAILED else "did not run" if done.returncode else "survived"
    return outcome, "".join(last)


def copied(target: Path) -> Path:
    """A copy of the sources and tests."""
    for name in COPIED:
        if (ROOT / name).is_dir():
            shutil.copytree(ROOT / name, target / name, ignore=shutil.ignore_patterns("__pycache__", "node_modules"))
    for file in ROOT.iterdir():
        if file.is_file():
            shutil.copy2(file, target)
    return target


def main(words: Sequence[str] | None = None) -> int:
    """Plant the chosen defects, one after the other, and print what became of each."""
    parser = argparse.ArgumentParser(prog="plants", description="Are the defences missed when they are taken out?")
    parser.add_argument("--only", nargs="*", metavar="ROW", help="these rows alone, for instance S29")
    chosen = parser.parse_args(words).only
    plants = [one for one in PLANTS if not chosen or one.row in chosen]
    found = 0
    with tempfile.TemporaryDirectory(prefix="mnemic-plants-") as folder:
        root = copied(Path(folder))
        for plant in plants:
            outcome, said = noticed(plant, root)
            found += outcome == "noticed"
            print(f"{plant.row:>4}  {outcome:<11} {plant.defect}: {said}", flush=True)
    print(f"\n{found} of {len(plants)} defects noticed")
    return 0 if found == len(plants) else 1


if __name__ == "__main__":
    sys.exit(main())
