"""A small ONNX model in a folder: a vector for each of its words, as an exporter would write it."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers

from mnemic_onnx.calibration import pairs_of

DIMENSION = 16


def words() -> list[str]:
    """Return the words of the pairs that calibrate."""
    found = {word for pair in pairs_of() for text in pair for word in re.findall(r"\w+|[^\w\s]+", text.lower())}
    return ["[UNK]", *sorted(found | {"query", ":"})]


def write_model(folder: Path, *, drift: float = 0.5, inputs: tuple[str, ...] = ("input_ids", "attention_mask")) -> Path:
    """Write a model whose vectors share a direction, `drift` times as long as what tells them apart."""
    folder.mkdir(parents=True, exist_ok=True)
    vocabulary = words()
    vectors = np.random.default_rng(7).normal(size=(len(vocabulary), DIMENSION)).astype(np.float32)
    vectors[:, 0] += drift * DIMENSION**0.5
    graph = helper.make_graph(
        [helper.make_node("Gather", ["vectors", "input_ids"], ["last_hidden_state"])],
        "words",
        [helper.make_tensor_value_info(name, TensorProto.INT64, ["texts", "tokens"]) for name in inputs],
        [helper.make_tensor_value_info("last_hidden_state", TensorProto.FLOAT, ["texts", "tokens", DIMENSION])],
        [numpy_helper.from_array(vectors, "vectors")],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9)
    onnx.save(model, str(folder / "model.onnx"))
    tokeniser = Tokenizer(models.WordLevel({word: at for at, word in enumerate(vocabulary)}, unk_token="[UNK]"))
    tokeniser.normalizer = normalizers.Lowercase()
    tokeniser.pre_tokenizer = pre_tokenizers.Whitespace()
    tokeniser.save(str(folder / "tokenizer.json"))
    return folder
