"""Small ONNX models in folders, as an exporter would write them: a vector for each word, or a score for each pair."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors

import onnx
from mnemic.onnx.command_line import pairs_of
from onnx import TensorProto, helper, numpy_helper

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


def write_cross_encoder(folder: Path, *, outputs: int = 1, scale: float = 2.0) -> Path:
    """Write a model whose logit for a pair grows with the words that both texts have; with two outputs the first says
    no. `scale` is what a word counts.
    """
    folder.mkdir(parents=True, exist_ok=True)
    vocabulary = ["[UNK]", "[PAD]", "[CLS]", "[SEP]", *words()[1:], "boat", "freya", "harbour", "oslo"]
    node, tensor = helper.make_node, numpy_helper.from_array
    graph = helper.make_graph(
        [
            node("Cast", ["token_type_ids"], ["second"], to=TensorProto.BOOL),
            node("Not", ["second"], ["first"]),
            node("Cast", ["attention_mask"], ["read"], to=TensorProto.BOOL),
            node("And", ["first", "read"], ["asked"]),
            node("And", ["second", "read"], ["told"]),
            node("Unsqueeze", ["input_ids", "last"], ["down"]),
            node("Unsqueeze", ["input_ids", "middle"], ["across"]),
            node("Equal", ["down", "across"], ["same"]),
            node("Unsqueeze", ["asked", "last"], ["asked_down"]),
            node("Unsqueeze", ["told", "middle"], ["told_across"]),
            node("And", ["asked_down", "told_across"], ["both"]),
            node("And", ["same", "both"], ["shared"]),
            node("Cast", ["shared"], ["counted"], to=TensorProto.FLOAT),
            node("ReduceSum", ["counted", "last_two"], ["count"], keepdims=0),
            node("Unsqueeze", ["count", "last_of_one"], ["column"]),
            node("Mul", ["column", "scale"], ["logits"]),
        ],
        "pairs",
        [
            helper.make_tensor_value_info(name, TensorProto.INT64, ["texts", "tokens"])
            for name in ("input_ids", "attention_mask", "token_type_ids")
        ],
        [helper.make_tensor_value_info("logits", TensorProto.FLOAT, ["texts", outputs])],
        [
            tensor(np.array([2]), "last"),
            tensor(np.array([1]), "middle"),
            tensor(np.array([1, 2]), "last_two"),
            tensor(np.array([1]), "last_of_one"),
            tensor(np.linspace(-scale if outputs > 1 else scale, scale, outputs, dtype=np.float32), "scale"),
        ],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9)
    onnx.save(model, str(folder / "model.onnx"))
    tokeniser = Tokenizer(models.WordLevel({word: at for at, word in enumerate(vocabulary)}, unk_token="[UNK]"))
    tokeniser.normalizer = normalizers.Lowercase()
    tokeniser.pre_tokenizer = pre_tokenizers.Whitespace()
    tokeniser.post_processor = processors.TemplateProcessing(
        single="[CLS] $A", pair="[CLS] $A $B:1 [SEP]:1", special_tokens=[("[CLS]", 2), ("[SEP]", 3)]
    )
    tokeniser.save(str(folder / "tokenizer.json"))
    return folder
