"""The contracts of [tool.importlinter]: imports go down the house, drivers stay in their rooms."""

from __future__ import annotations

import subprocess
import sys
import tomllib

from tests.architecture.sources import PACKAGE, ROOT

LAYERS = "layers"


def contracts() -> list[dict[str, object]]:
    config = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    return list(config["tool"]["importlinter"]["contracts"])


def test_every_contract_is_kept() -> None:
    script = (
        "import sys; from importlinter.cli import lint_imports; sys.exit(lint_imports(no_cache=True, no_logo=True))"
    )
    run = subprocess.run([sys.executable, "-c", script], cwd=ROOT, capture_output=True, text=True, timeout=300)

    assert run.returncode == 0, run.stdout + run.stderr
    assert f"{len(contracts())} kept, 0 broken" in run.stdout


def test_the_layers_name_every_room_and_allow_no_exception() -> None:
    house = next(contract for contract in contracts() if contract["id"] == LAYERS)

    assert house["exhaustive"] is True
    assert "ignore_imports" not in house
    named = {name.strip(" ()") for layer in house["layers"] for name in layer.split("|")}  # type: ignore[attr-defined]
    rooms = {path.stem for path in PACKAGE.iterdir() if path.suffix == ".py" or (path / "__init__.py").exists()}
    assert rooms - {"__init__"} <= named


def test_the_top_of_the_core_is_seen_at_a_glance() -> None:
    top = {path.stem for path in PACKAGE.iterdir() if path.suffix == ".py" or (path / "__init__.py").exists()}

    assert len(top) <= 32  # docs/adr/0078-rooms-of-the-core.md: a new module has a room
