"""The names that `import mnemic` offers, and the cost of it."""

from __future__ import annotations

import subprocess
import sys
from importlib import metadata

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name as named

import mnemic
from tests.architecture.sources import ROOT

PINNED = ROOT / "tests" / "architecture" / "public_surface.txt"
HEAVY = ("apsw", "httpx", "httpx2", "numpy", "onnxruntime", "openai", "pydantic", "pydantic_settings")
STARTS = ("import mnemic", "import sys; sys.argv = ['mnemic', '--help']; from mnemic.cli import main; main()")


def test_public_names_are_the_pinned_ones_and_documented() -> None:
    """A name that comes or goes is a decision: change the file with it, and add a line to the changelog."""
    assert sorted(mnemic.__all__) == PINNED.read_text(encoding="utf-8").split()
    assert [name for name in mnemic.__all__ if not getattr(getattr(mnemic, name), "__doc__", None)] == []
    assert set(mnemic.__all__) <= set(dir(mnemic))
    assert mnemic.__version__ == metadata.version("mnemic")


def test_start_up_loads_nothing_heavy() -> None:
    for statement in STARTS:
        script = (
            f"import atexit, sys; heavy = {HEAVY!r}\n"
            "atexit.register(lambda: print('loaded:', *[m for m in heavy if m in sys.modules], file=sys.stderr))\n"
            f"{statement}"
        )
        run = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=60)
        assert (run.returncode, run.stderr.strip()) == (0, "loaded:"), statement


def installed_by(distribution: str) -> set[str]:
    """Names of the distributions that one brings without any of its extras, itself among them."""
    seen: set[str] = set()
    waiting: set[str] = {distribution}
    while waiting:
        name = waiting.pop()
        seen.add(name)
        wanted = map(Requirement, metadata.requires(name) or ())
        waiting |= {named(one.name) for one in wanted if not one.marker or one.marker.evaluate({"extra": ""})} - seen
    return seen


WITHOUT_EXTRAS = """
import sys

class Refused:
    @staticmethod
    def find_spec(name, path=None, target=None):
        if name.partition(".")[0] in absent:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)

sys.meta_path.insert(0, Refused)
import mnemic

with mnemic.MemoryManager("ana", store=":memory:") as memory:
    memory.capture("I am vegetarian.")
    assert memory.search("do I eat meat?").hits
    assert memory.run(goal="Find me a restaurant.").answer

import click
from mnemic.cli import cli

for name in ("add", "capture", "chat", "demo", "doctor", "import", "list", "search"):
    assert cli.get_command(click.Context(cli), name), name
"""


def test_a_plain_install_remembers_and_has_its_commands() -> None:
    """What a first `pip install mnemic` brings, in an environment where every other package is as if absent."""
    brought = installed_by("mnemic")
    homes = metadata.packages_distributions()
    absent = {module for module, by in homes.items() if not brought & set(map(named, by))}
    absent |= {folder.name for folder in ROOT.glob("packages/*/src/*")}
    assert {"tiktoken", "httpx", "mnemic_server"} <= absent
    script = f"absent = {absent!r}\n{WITHOUT_EXTRAS}"
    run = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=120)
    assert run.returncode == 0, run.stderr
