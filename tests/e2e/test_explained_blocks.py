"""Blocks of the pages that explain: each runs as it stands, or the page says what it needs that is not here."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

from tests.e2e.test_guides import clean
from tests.e2e.test_pages_run import ROOT

PAGES = ["howto", "governance", "keys", "plugins", "concepts", "moving-from", "truth"]
BLOCK = re.compile(r"([^\n]*)\n\n?```(\w+)\n(.*?)^```", re.MULTILINE | re.DOTALL)
NEEDS = re.compile(r"[Tt]his needs [^.:]+[.:]$")
"""The end of a paragraph before a block that cannot run here."""
STORE = "mnemic.db"
MANAGER = "from mnemic import MemoryManager\nmemory = MemoryManager('ana', store='mnemic.db').__enter__()\n"
WAITING = """
from mnemic import MemoryManager
with MemoryManager("ana", store="mnemic.db", policy="waiting.toml") as memory:
    ids = []
    for number in range(5):
        active = memory.add("50 euros", key=f"limit_{number}")
        ids.append(memory.add("500 euros", key=f"limit_{number}").memory_id)
        if number == 2:
            ids.append(active.memory_id)
print(*ids)
"""
CHANGED = """
from mnemic import MemoryManager
with MemoryManager("ana", store="mnemic.db") as memory:
    kept = memory.add("The car is red.").memory_id
    for colour in ("green", "blue"):
        memory.update(kept, f"The car is {colour}.")
print(kept, kept)
"""
TOKENISED = """
from mnemic import MemoryManager
with MemoryManager("ben", store="mnemic.db", policy="policy.toml") as memory:
    print(memory.add("Write to me at ben@example.org.").memory_id)
"""
ANA = """
from mnemic import MemoryManager
with MemoryManager("ana", store="mnemic.db") as memory:
    memory.add("I live in Oslo.")
"""
CHAT = (
    "[12/03/2024, 21:15:42] Ana: I am vegetarian and I live in Oslo.\n"
    "[12/03/2024, 21:16:42] Ben King: I prefer aisle seats.\n"
    "[12/03/2024, 21:16:50] Ben King: \u200eimage omitted\n"
    "[12/03/2024, 21:19:42] Ana: See you tomorrow at five.\n"
)
"""The file `_chat.txt` of a reader."""
BEFORE = {
    ("governance", "mnemic review list"): WAITING,
    ("governance", "mnemic history MEMORY_ID"): CHANGED,
    ("governance", "mnemic export --all"): ANA.replace("I live in Oslo", "My sister lives in Bergen"),
    ("keys", "mnemic reveal"): TOKENISED,
}
"""Memories in the store when a reader comes to the block that begins so. Prints the identifiers of the block."""
GIVEN = {
    ("concepts", 'memory.add("The flight'): MANAGER,
    ("truth", 'memory.add("I'): MANAGER,
}
"""Names that a block goes on with."""
AWAITING = """
import asyncio
from mnemic import Actor, Settings, build_engine
message, confirmed = "Forget what I told you about the flat.", lambda request: True
async def main():
    actor = Actor(user="ana", session="s1")
    async with build_engine(Settings.load(store="mnemic.db")) as engine:
        await engine.add("The flat is in Oslo.", actor=actor)
{block}
asyncio.run(main())
"""


def run(words: list[str], folder: Path) -> str:
    settings = {"MNEMIC_STORE": STORE, "MNEMIC_USER": "ana", "PYTHONPATH": str(folder / "installed")}
    if (folder / "policy.toml").exists():
        settings |= {"MNEMIC_POLICY": "policy.toml"}
    if (folder / "with-keys").exists():
        settings |= {"MNEMIC_KEY_FILE": str(folder / "master.key")}
    done = subprocess.run(
        words,
        cwd=folder,
        env={**clean(), **settings},
        capture_output=True,
        text=True,
        timeout=180,
        check=False,
        input="y\n",
    )
    assert done.returncode == 0, f"{words[-1]}\n{done.stdout}\n{done.stderr}"
    return done.stdout


def shell(block: str, folder: Path, identifiers: list[str]) -> None:
    """Run commands; a package is installed into the folder, and an identifier takes the place of its name."""
    lines = [line for line in block.splitlines() if not re.match(r"pip install [^.]*$|pip install '?\"?mnemic", line)]
    text = "\n".join(lines).replace("/etc/mnemic/master.key", str(folder / "master.key"))
    install = f"{sys.executable} -m pip install -q --no-deps --no-build-isolation --target installed ./"
    text = re.sub(r"^pip install '\./([\w-]+)\[test\]'", rf"{install}\1", text, flags=re.MULTILINE)
    waiting = iter(identifiers)
    text = re.sub(r"\b(MEMORY|OTHER)_ID\b", lambda _: next(waiting), text)
    text = re.sub(r"^(mnemic erase ana)", r"\1 --yes", text, flags=re.MULTILINE)
    run(["bash", "-euo", "pipefail", "-c", text], folder)


def python(page: str, block: str, folder: Path) -> None:
    given = [names for (where, start), names in GIVEN.items() if where == page and block.startswith(start)]
    if re.search(r"^ *await ", block, re.MULTILINE):
        block = AWAITING.format(block=textwrap.indent(block, " " * 8))
    run([sys.executable, "-c", "".join(given) + block], folder)


def afresh(folder: Path, *, with_keys: bool) -> None:
    """Put the first store back: answers do not build on each other."""
    for old in folder.glob(f"{STORE}*"):
        old.unlink()
    shutil.copy(folder / "seed.db", folder / STORE)
    (folder / "with-keys").unlink(missing_ok=True)
    if with_keys:
        (folder / "with-keys").touch()
        run(["mnemic", "keys", "init"], folder)


@pytest.mark.parametrize("page", PAGES)
def test_each_block_runs_or_says_what_it_needs(page: str, tmp_path: Path) -> None:
    ran = 0
    run([sys.executable, "-c", ANA], tmp_path)
    shutil.copy(tmp_path / STORE, tmp_path / "seed.db")
    keys = "".join(f"[keys.limit_{number}]\non_change = 'review'\nsensitive = false\n" for number in range(5))
    (tmp_path / "waiting.toml").write_text(f"open_keys = true\nkeyless = true\n{keys}", encoding="utf-8")
    (tmp_path / "_chat.txt").write_text(CHAT, encoding="utf-8")
    if page == "keys":
        (tmp_path / "with-keys").touch()
    for before, kind, block in BLOCK.findall((ROOT / "docs" / f"{page}.md").read_text(encoding="utf-8")):
        if NEEDS.search(before):
            continue
        if page == "howto":
            afresh(tmp_path, with_keys="mnemic keys" in block)
        if kind == "toml" and "[redaction]" in block:
            (tmp_path / "policy.toml").write_text(f"open_keys = true\nkeyless = true\n{block}", encoding="utf-8")
        prepared = [code for (where, start), code in BEFORE.items() if where == page and block.startswith(start)]
        identifiers = [word for code in prepared for word in run([sys.executable, "-c", code], tmp_path).split()]
        if kind == "sh":
            shell(block, tmp_path, identifiers)
        elif kind == "python":
            python(page, block, tmp_path)
        elif block.startswith("$ "):
            command, _, output = block.removeprefix("$ ").partition("\n")
            assert run(["bash", "-euo", "pipefail", "-c", command], tmp_path) == output
        else:
            assert kind == "toml", "a block that no program reads"
        ran += 1
    assert ran
